#pragma once
#include <string>

#include "model/workload/graph_builder.hpp"

namespace tbdsim {

/// Self-attention over the patches of an image, all of them or those of each window, as timm and torchvision write it: one
/// product makes queries, keys and values.
struct ImageAttention {
  std::int64_t width = 768, heads = 12;
  std::int64_t windows = 1;       ///< the rows of a sample fall into so many, which do not see each other
  std::int64_t distances = 0;     ///< rows of a learned table that adds a number for the distance of two patches; 0: none
  bool bias = true;               ///< of the product that makes queries, keys and values
  bool query_value_bias = false;  ///< instead: joined of a learned part for queries, zeros for keys, a learned part for values
  bool masked = false;            ///< windows that join distant parts of the image hide them from each other
  bool scales_queries = false;    ///< by the root of the head width, rather than the products of queries and keys
  bool fused = false;             ///< one operator of the framework, which adds no table
};

/// `x`: rows x width, windows one after the other. Ends with the output projection.
[[nodiscard]] TensorId image_attention(GraphBuilder& g, TensorId x, const ImageAttention& a, const std::string& prefix);

/// Two products with GELU between them.
[[nodiscard]] TensorId image_mlp(GraphBuilder& g, TensorId x, std::int64_t hidden, const std::string& prefix);

}  // namespace tbdsim
