#include "model/cli/verb_help.hpp"

#include "model/configuration/option_table.hpp"

namespace tbdsim {

std::vector<VerbHelp> verb_help() {
  std::vector<VerbHelp> verbs;
  for (const VerbRow& verb : verb_table()) {
    VerbHelp help{std::string(verb.name), std::string(verb.text), {}};
    for (const OptionRow* const row : options_of(verb.verb))
      help.options.push_back({row->word ? std::string(row->value) : "--" + std::string(row->name),
                              row->word ? "" : shown_value(*row, verb.verb), shown_help(*row), std::string(row->words),
                              std::string(row->kinds)});
    verbs.push_back(std::move(help));
  }
  return verbs;
}

}  // namespace tbdsim
