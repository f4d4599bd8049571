#pragma once
#include <string>
#include <vector>

namespace tbdsim {

/// What the argument table says of one option or word of a verb.
struct OptionHelp {
  std::string name;   ///< "--gpus", or a bare word such as "FILE"
  std::string value;  ///< "N"; empty: a flag, or a bare word
  std::string text;   ///< may hold line breaks
  [[nodiscard]] bool bare() const { return name.empty() || name.front() != '-'; }
};

struct VerbHelp {
  std::string name, text;
  std::vector<OptionHelp> options;
};

/// Every verb in the order of `--help`, from the same table that reads the command line.
[[nodiscard]] std::vector<VerbHelp> verb_help();

/// A question and the command line that answers it.
struct Example {
  std::string question, command;  ///< without "tbdsim"
};
/// Examples of a verb; a test runs them all.
[[nodiscard]] std::vector<Example> examples(const std::string& verb);

}  // namespace tbdsim
