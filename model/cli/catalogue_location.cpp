#include "model/cli/catalogue_location.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

namespace tbdsim {
namespace {

namespace fs = std::filesystem;

bool holds_catalogue(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "hardware" / "gpus", ignored);
}

}  // namespace

std::string program_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? std::string() : program.parent_path().string();
}

Result<Catalogue> find_catalogue() {
  if (const char* named = std::getenv("TBDSIM_CATALOGUE"); named != nullptr && *named != '\0') {
    if (holds_catalogue(named)) return Catalogue{named};
    return fail(fmt::format("TBDSIM_CATALOGUE is \"{}\", which holds no hardware/gpus", named));
  }
  for (fs::path folder = program_folder(); !folder.empty(); folder = folder.parent_path()) {
    if (holds_catalogue(folder)) return Catalogue{folder.string()};
    if (const fs::path installed = folder / "share" / "tbdsim"; holds_catalogue(installed)) return Catalogue{installed.string()};
    if (folder == folder.root_path()) break;
  }
#ifdef TBDSIM_SOURCE_DIR
  if (holds_catalogue(TBDSIM_SOURCE_DIR)) return Catalogue{TBDSIM_SOURCE_DIR};
#endif
  return fail("cannot find the hardware catalogue; set TBDSIM_CATALOGUE to the folder that holds hardware/");
}

}  // namespace tbdsim
