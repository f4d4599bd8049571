#pragma once
#include <string>
#include <vector>

#include "model/cli/verb_help.hpp"

namespace tbdsim {

/// Manual page in the man macros of troff: verbs, options, examples, how to read a range, what is not known, glossary.
[[nodiscard]] std::string manual_page(const std::vector<VerbHelp>& verbs);
/// Completion scripts: verbs, options, formats; names of the catalogue are asked from `tbdsim list` as they are needed.
[[nodiscard]] std::string bash_completion(const std::vector<VerbHelp>& verbs);
[[nodiscard]] std::string zsh_completion(const std::vector<VerbHelp>& verbs);
[[nodiscard]] std::string fish_completion(const std::vector<VerbHelp>& verbs);

}  // namespace tbdsim
