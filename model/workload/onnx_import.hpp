#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/result.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// Sizes for symbolic dimensions other than the batch: `image` for the sides of images, `seq_len` for lengths.
struct OnnxSizes {
  std::optional<std::int64_t> image, seq_len;
};

struct ImportedNetwork {
  OpGraph graph;
  std::vector<std::string> notices;  ///< what was guessed
  double extra_spread = 0.0;         ///< added to the range for operators taken by their bytes
  std::string sha256;                ///< of the file without the weights inside it
};

/// A network from the bytes of an ONNX file of any operator set that its rules cover (rules.cpp); weights are never read.
///
/// The first symbolic dimension of the inputs is the batch. Shape arithmetic is folded; what only rearranges parameters
/// costs nothing; layer norm, group norm, GELU, SiLU, hard swish, biases and stacked recurrent layers become one operator
/// each. Every output that nothing else reads ends in a loss. An operator without rule moves its inputs and outputs, with
/// a notice and a wider range. `name` is what the network is called.
/// Errors, with the node and its position: not ONNX, cut short, a cycle, control flow, no batch, a shape that cannot be
/// derived or does not fit, too large.
[[nodiscard]] Result<ImportedNetwork> import_onnx(std::string_view bytes, const std::string& file, const std::string& name,
                                                  const OnnxSizes& sizes);

}  // namespace tbdsim
