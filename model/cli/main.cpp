#include <cstring>

#include "model/cli/catalogue_location.hpp"
#include "model/cli/command.hpp"
#include "model/cli/output.hpp"

int main(int argc, char** argv) {
  using namespace tbdsim;
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
