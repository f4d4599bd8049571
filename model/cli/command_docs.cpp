#include "model/cli/command.hpp"
#include "model/cli/documentation.hpp"
#include "model/cli/glossary.hpp"
#include "model/configuration/framework_arguments/framework_format.hpp"
#include "model/hardware/hardware_formats.hpp"
#include "model/schedule/pipeline/schedule_file.hpp"
#include "model/stack/stack_format.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"
#include "model/validation/study_formats.hpp"
#include "model/workload/network_format.hpp"

#include <fmt/format.h>

namespace tbdsim {
namespace {

/// The keys of every file that a user may write, from the tables beside their readers.
std::string file_formats(const std::vector<VerbHelp>&) {
  return "# File formats of tbdsim\n\n"
         "Keys in bold must be there; an unknown key is an error. A quantity is a string with its unit (`\"25 GB/s\"`, `\"16 "
         "GiB\"`,\n"
         "`\"1530 MHz\"`, `\"15.7 TFLOP/s\"`, `\"9.6 us\"`, `\"300 W\"`, `\"3.06 USD/h\"`); GB is 10^9 bytes, GiB 2^30; a bare "
         "number is\n"
         "refused. Every `source` begins with `datasheet:`, `paper:`, `measured:`, `fitted:`, `transferred:` or `assumed:`. "
         "Every TOML\n"
         "file begins with `schema = 1`. Kernel samples and plans of measurements: `tbdsim calibrate formats`.\n\n" +
         formats_markdown(hardware_formats()) + formats_markdown(stack_format()) + formats_markdown(network_format()) +
         formats_markdown(framework_format()) + formats_markdown(pipeline::schedule_format()) + formats_markdown(study_formats());
}

std::string words(const std::vector<VerbHelp>&) { return glossary_markdown(); }

}  // namespace

int run(const DocsArguments& arguments, const Catalogue&) {
  struct Page {
    std::string_view name, text;
    std::string (*write)(const std::vector<VerbHelp>&);
  };
  constexpr Page kPages[] = {{"man", "Manual page: every verb and option, with examples", manual_page},
                             {"formats", "Keys and columns of every file that you may write", file_formats},
                             {"glossary", "Words that results use", words},
                             {"bash", "Completion for bash", bash_completion},
                             {"zsh", "Completion for zsh", zsh_completion},
                             {"fish", "Completion for fish", fish_completion}};
  std::string list;
  std::vector<std::string> names;
  for (const Page& page : kPages) {
    if (arguments.kind == page.name) return write_result(page.write(verb_help()));
    list += fmt::format("{:<10}{}\n", page.name, page.text);
    names.emplace_back(page.name);
  }
  if (arguments.kind.empty()) return write_result(list);
  const auto near = nearest(arguments.kind, names);
  return report({Error{fmt::format("docs: expected {}, got {}{}", fmt::join(names, ", "), tbdsim::quoted(arguments.kind),
                                   near ? fmt::format(", did you mean \"{}\"?", *near) : "")}});
}

}  // namespace tbdsim
