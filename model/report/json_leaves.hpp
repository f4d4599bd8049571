#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/validation/claim_evaluate.hpp"

namespace tbdsim {

/// One value of a JSON document with the keys that lead to it; elements of arrays share a path. An object with a `value`,
/// as ranges are written, is a leaf as well as what it holds.
struct JsonLeaf {
  std::string path;  ///< "memory.gpus.peak_bytes"
  LeafValues values;
  bool known = true;  ///< false: null, or a list of which one is
};

/// Every leaf of a document, paths in their order. Empty for a text that is no JSON object.
[[nodiscard]] std::vector<JsonLeaf> json_leaves(std::string_view json);

/// The leaf whose path is `name`, else the one whose path ends so; empty if there is none.
/// Errors: several leaves end so; its value is not known (null).
[[nodiscard]] Result<std::optional<LeafValues>> pick_leaf(const std::vector<JsonLeaf>& leaves, const std::string& name);

}  // namespace tbdsim
