#include "model/report/json_leaves.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

namespace tbdsim {
namespace {

using Json = nlohmann::ordered_json;

class Collector {
 public:
  void visit(const Json& json, const std::string& path) {
    if (json.is_array()) {
      for (const Json& element : json) visit(element, path);
      return;
    }
    if (json.is_object()) {
      if (json.contains("value") && !path.empty()) add(path, json["value"]);
      for (const auto& [key, value] : json.items()) visit(value, path.empty() ? key : fmt::format("{}.{}", path, key));
      return;
    }
    add(path, json);
  }

  std::vector<JsonLeaf> leaves;

 private:
  std::map<std::string, std::size_t, std::less<>> by_path_;

  void add(const std::string& path, const Json& value) {
    const auto [found, fresh] = by_path_.emplace(path, leaves.size());
    if (fresh) leaves.push_back({path, {}, true});
    JsonLeaf& leaf = leaves[found->second];
    // Null is what is not known, or no number at all: a list that has one is not known as a whole.
    leaf.known = leaf.known && !value.is_null();
    if (value.is_null()) return;
    if (value.is_string())
      leaf.values.texts.push_back(value.get<std::string>());
    else
      leaf.values.numbers.push_back(value.is_boolean() ? (value.get<bool>() ? 1.0 : 0.0) : value.get<double>());
  }
};

bool ends_with_key(const std::string& path, const std::string& name) {
  return path.size() > name.size() && path[path.size() - name.size() - 1] == '.' &&
         path.compare(path.size() - name.size(), name.size(), name) == 0;
}

}  // namespace

std::vector<JsonLeaf> json_leaves(std::string_view json) {
  const Json document = Json::parse(json, nullptr, false);
  if (!document.is_object()) return {};
  Collector collector;
  collector.visit(document, "");
  return std::move(collector.leaves);
}

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
    paths.reserve(found.size());
    for (const JsonLeaf* leaf : found) paths.push_back(leaf->path);
    return fail(fmt::format("{} is the end of {} leaves: {}", name, found.size(), fmt::join(paths, ", ")));
  }
  if (!found.front()->known) return fail(fmt::format("{} is not known here", name));
  return std::optional<LeafValues>(found.front()->values);
}

}  // namespace tbdsim
