#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/configuration/option_table.hpp"

namespace CLI {
class App;
}

namespace tbdsim {

/// Takes an option's text; returns what was expected instead, or nothing if it is fine.
using Setter = std::function<std::string(const std::string&)>;
/// The same; returns what is wrong, in full.
using Reader = std::function<std::string(const std::string&)>;

/// Declares options of one verb, with the help that the table has for it. Hides the library that reads the command line. Targets
/// outlive the parse.
class VerbOptions {
 public:
  /// `words`: only the options among them are declared, and none with its help, since most of the time that reading a command
  /// line takes would go into the dozens of options that it does not hold. Absent: all options with their help.
  VerbOptions(CLI::App& app, Verb verb, std::optional<std::span<char* const>> words) : app_(app), verb_(verb), words_(words) {}

  /// Whether the option is to be declared.
  [[nodiscard]] bool wanted(const OptionRow& row) const;

  void option(const OptionRow& row, Setter set);
  void checked_option(const OptionRow& row, Reader read);
  /// May be given several times; `read` sees each.
  void repeated_option(const OptionRow& row, Reader read);
  /// An option that takes `least` to `most` words.
  void words_option(const OptionRow& row, std::vector<std::string>& target, int least, int most);
  void flag(const OptionRow& row, bool& target);
  void flag(const OptionRow& row, const std::function<void()>& act);
  /// A word without an option.
  void word(const OptionRow& row, std::string& target);
  void words(const OptionRow& row, std::vector<std::string>& target);

 private:
  CLI::App& app_;
  Verb verb_;
  std::optional<std::span<char* const>> words_;

  [[nodiscard]] std::string help(const OptionRow& row) const;
};

}  // namespace tbdsim
