#include <cstdio>
#include <cstring>
#include <exception>
#include <vector>

#include "model/cli/catalogue_location.hpp"
#include "model/cli/command.hpp"
#include "model/cli/output.hpp"
#include "model/cli/parse_arguments.hpp"
#include "model/configuration/threads.hpp"
#include "model/input/output_file.hpp"
#include "model/support/out_of_memory.hpp"

namespace tbdsim {
namespace {

/// `help` alone is `--help`, `help VERB` is `VERB --help`; what follows tells nothing.
std::vector<char*> without_help_verb(int argc, char** argv) {
  static char asked[] = "--help";
  std::vector<char*> words(argv, argv + argc);
  if (argc > 1 && std::strcmp(argv[1], "help") == 0) {
    if (argc == 2)
      words[1] = asked;
    else if (argc > 3 && std::strcmp(argv[2], "calibrate") == 0)  // its verbs have help of their own
      words = {argv[0], argv[2], argv[3], asked};
    else
      words = {argv[0], argv[2], asked};
  }
  words.push_back(nullptr);
  return words;
}

int dispatch(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "calibrate") == 0) return run_calibrate(argv);
  const auto arguments = parse_arguments(argc, argv);
  if (!arguments) {
    if (arguments.error().exit_code == kDone) return write_result(arguments.error().text);
    return report({Error{arguments.error().text}});
  }
  const auto catalogue = find_catalogue();
  if (!catalogue) return report(catalogue.error());
  return std::visit([&](const auto& of_verb) { return run(of_verb, *catalogue); }, *arguments);
}

}  // namespace
}  // namespace tbdsim

int main(int argc, char** argv) {
  tbdsim::report_file_size_limit();
  tbdsim::report_exhausted_threads();
  tbdsim::bound_threads();
  try {
    std::vector<char*> words = tbdsim::without_help_verb(argc, argv);
    return tbdsim::dispatch(static_cast<int>(words.size()) - 1, words.data());
  } catch (const std::exception& exception) {
    // What no user causes, such as memory that is exhausted: still a message and an exit code, not an abort.
    std::fprintf(stderr, "tbdsim: %s\n", tbdsim::words_of(exception));
    return tbdsim::kBadInput;
  }
}
