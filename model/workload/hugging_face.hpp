#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/result.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

struct ConfiguredNetwork {
  OpGraph graph;
  std::vector<std::string> notices;  ///< what the file has beside the network that is predicted
  std::string stored_type{};         ///< of its weights, as it says it: "bfloat16"; empty: it does not
};

/// Families whose configuration is understood, by their `model_type`: "llama".
[[nodiscard]] std::vector<std::string_view> hugging_face_families();

/// A language model from the config.json that Hugging Face's transformers keeps beside its weights; of one that sees images, the
/// text part (`text_config`). Fields that are missing hold what transformers 4.57 takes; those that every file of a family has
/// must be there. `name` is what the network is called, `length` the tokens of a sequence; without it at most 4,096. Notices:
/// fields that are not known and might change the network, parts left out. Errors, with their place: not JSON; an unknown family,
/// with those that are known; a field of the wrong type, out of range, or missing; numbers that do not divide; what no operator
/// models.
[[nodiscard]] Result<ConfiguredNetwork> read_hugging_face(std::string_view text, const std::string& file, const std::string& name,
                                                          std::optional<std::int64_t> length, bool fused_attention);

}  // namespace tbdsim
