#include "model/configuration/named_from.hpp"

#include <filesystem>

#include "model/configuration/session.hpp"
#include "model/hardware/lookup.hpp"

namespace tbdsim {

std::string named_from(const std::string& file, const std::string& name) {
  if (!looks_like_file(name) && !is_imported_file(name)) return name;
  const std::filesystem::path folder = std::filesystem::path(file).parent_path(), path(name);
  if (folder.empty() || path.is_absolute()) return name;
  const std::string beside = (folder / path).string();
  const bool bare = !path.has_parent_path() && !is_imported_file(name);
  std::error_code ignored;
  return bare && !std::filesystem::exists(beside, ignored) ? stem_of(name) : beside;
}

}  // namespace tbdsim
