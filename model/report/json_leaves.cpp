#include "model/report/json_leaves.hpp"

#include <fmt/format.h>

namespace tbdsim {
namespace {

bool ends_with_key(const std::string& path, const std::string& name) {
  return path.size() > name.size() && path[path.size() - name.size() - 1] == '.' &&
         path.compare(path.size() - name.size(), name.size(), name) == 0;
}

}  // namespace

Result<std::optional<LeafValues>> pick_leaf(const std::vector<JsonLeaf>& leaves, const std::string& name) {
  std::vector<const JsonLeaf*> found;
  for (const JsonLeaf& leaf : leaves) {
    if (leaf.path == name) {
      found.assign(1, &leaf);
      break;
    }
    if (ends_with_key(leaf.path, name)) found.push_back(&leaf);
  }
  if (found.empty()) return std::optional<LeafValues>();
  if (found.size() > 1) {
    std::vector<std::string> paths;
    for (const JsonLeaf* leaf : found) paths.push_back(leaf->path);
    return fail(fmt::format("{} is the end of {} leaves: {}", name, found.size(), fmt::join(paths, ", ")));
  }
  if (!found.front()->known) return fail(fmt::format("{} is not known here", name));
  return std::optional<LeafValues>(found.front()->values);
}

}  // namespace tbdsim
