#include <cstdio>
#include <cstring>
#include <exception>

#include "model/cli/catalogue_location.hpp"
#include "model/cli/command.hpp"
#include "model/cli/output.hpp"
#include "model/cli/parse_arguments.hpp"
#include "model/configuration/threads.hpp"
#include "model/input/output_file.hpp"

namespace tbdsim {
namespace {

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
  tbdsim::bound_threads();
  try {
    return tbdsim::dispatch(argc, argv);
  } catch (const std::exception& exception) {
    // What no user causes, such as memory that is exhausted: still a message and an exit code, not an abort.
    std::fprintf(stderr, "tbdsim: %s\n", exception.what());
    return tbdsim::kBadInput;
  }
}
