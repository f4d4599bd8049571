#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "model/cli/catalogue_location.hpp"
#include "model/cli/command.hpp"
#include "model/cli/output.hpp"

namespace tbdsim {

int run_calibrate(char** argv) {
  const std::string program = program_folder() + "/tbdsim-calibrate";
  argv[1] = argv[0];
  // It finds the catalogue that this program would; without one it says so itself.
  if (const auto catalogue = find_catalogue()) setenv("TBDSIM_CATALOGUE", catalogue->root.c_str(), 1);
  execv(program.c_str(), argv + 1);
  if (errno == ENOENT)
    return report(
        {Error{"calibrate needs tbdsim-calibrate beside tbdsim; cmake --build FOLDER --target tbdsim-calibrate makes it"}});
  return report({Error{fmt::format("cannot start \"{}\": {}", program, std::strerror(errno))}});
}

}  // namespace tbdsim
