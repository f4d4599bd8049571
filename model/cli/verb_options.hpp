#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tbdsim {

/// Takes an option's text; returns what was expected instead, or nothing if it is fine.
using Setter = std::function<std::string(const std::string&)>;
/// The same; returns what is wrong, in full.
using Reader = std::function<std::string(const std::string&)>;

/// The options of one verb. Hides the library that reads the command line. Targets outlive the parse.
class VerbOptions {
 public:
  explicit VerbOptions(CLI::App& app) : app_(app) {}

  void option(const std::string& name, const std::string& value, const std::string& help, Setter set);
  void checked_option(const std::string& name, const std::string& value, const std::string& help, Reader read);
  /// May be given several times; `read` sees each.
  void repeated_option(const std::string& name, const std::string& value, const std::string& help, Reader read);
  /// At least one character.
  void name_option(const std::string& name, const std::string& value, const std::string& help, std::string& target);
  void number_option(const std::string& name, const std::string& help, std::optional<int>& target);
  /// An option that takes `least` to `most` words.
  void words_option(const std::string& name, const std::string& value, const std::string& help, std::vector<std::string>& target,
                    int least, int most);
  void flag(const std::string& name, bool& target, const std::string& help);
  void flag(const std::string& name, const std::function<void()>& act, const std::string& help);
  /// A word without an option.
  void word(const std::string& name, const std::string& help, std::string& target);
  void words(const std::string& name, const std::string& help, std::vector<std::string>& target);

 private:
  CLI::App& app_;
};

}  // namespace tbdsim
