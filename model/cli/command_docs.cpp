#include "model/cli/command.hpp"
#include "model/cli/documentation.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

#include <fmt/format.h>

namespace tbdsim {

int run(const DocsArguments& arguments, const Catalogue&) {
  using Writer = std::string (*)(const std::vector<VerbHelp>&);
  const std::pair<const char*, Writer> kinds[] = {{"man", manual_page}, {"bash", bash_completion}, {"zsh", zsh_completion}};
  std::vector<std::string> names;
  for (const auto& [name, write] : kinds) {
    if (arguments.kind == name) return write_result(write(verb_help()));
    names.emplace_back(name);
  }
  const auto near = nearest(arguments.kind, names);
  return report({Error{fmt::format("docs: expected {}, got {}{}", fmt::join(names, ", "), tbdsim::quoted(arguments.kind),
                                   near ? fmt::format(", did you mean \"{}\"?", *near) : "")}});
}

}  // namespace tbdsim
