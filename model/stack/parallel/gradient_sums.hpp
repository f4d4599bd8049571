#pragma once
#include "model/input/toml_reader.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// How gradients of a divided network are summed, over micro-batches and over ranks.
struct GradientSums {
  bool wide = true;  ///< they are summed over ranks in fp32, else as they are
  Bytes sum{0.0};    ///< moved for each parameter when a micro-batch's gradient joins the sum; 0: a kernel adds all but the first
  bool fuses_sum = false;           ///< by the product that makes the gradient, beside its arithmetic
  bool overlap = true;              ///< they leave while the last backward still runs
  bool reduced_everywhere = false;  ///< every copy gets all gradients, though some divide the state
  Bytes bucket{0.0};                ///< of gradients that leave together
  Bytes bucket_per_rank{0.0};       ///< at least so much for each copy of the network
  Bytes bucket_copies{0.0};         ///< moved for each gradient on its way into a bucket and out of it, beside no other kernel
};

/// Its keys of a [parallel] table.
[[nodiscard]] GradientSums read_gradient_sums(TomlTable& table);

}  // namespace tbdsim
