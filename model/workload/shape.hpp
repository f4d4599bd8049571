#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tbdsim {

/// Dimensions of one sample of a tensor, batch left out: C,H,W of an image; C of a vector; T,H of a sequence.
using Shape = std::vector<std::int64_t>;
[[nodiscard]] std::int64_t elements(const Shape& shape);  ///< product; 1 for an empty shape
[[nodiscard]] std::string to_text(const Shape& shape);    ///< "64x56x56"

}  // namespace tbdsim
