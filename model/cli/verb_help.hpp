#pragma once
#include <string>
#include <vector>

namespace tbdsim {

/// What the option table says of one option or word of a verb.
struct OptionHelp {
  std::string name;   ///< "--gpus", or a bare word such as "FILE"
  std::string value;  ///< "N"; empty: a flag, or a bare word
  std::string text;
  std::string words;  ///< values between blanks; empty: others
  std::string kinds;  ///< kinds of the catalogue whose entries it names, between blanks
  [[nodiscard]] bool bare() const { return name.empty() || name.front() != '-'; }
};

struct VerbHelp {
  std::string name, text;
  std::vector<OptionHelp> options;
};

/// Every verb in the order of `--help`.
[[nodiscard]] std::vector<VerbHelp> verb_help();

/// A question and the command line that answers it.
struct Example {
  std::string question, command;  ///< without "tbdsim"
};
/// Examples of a verb; a test runs them all.
[[nodiscard]] std::vector<Example> examples(const std::string& verb);

}  // namespace tbdsim
