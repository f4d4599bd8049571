#pragma once
#include <string>
#include <string_view>

#include "model/prediction/prediction.hpp"

namespace tbdsim {

/// What every such file holds near its beginning.
inline constexpr std::string_view kChakraMark = "tbdsim-step";

/// Whether a file of this name is meant to be a Chakra execution trace: it ends in .et.
[[nodiscard]] bool names_chakra(const std::string& path);

/// One step of one rank as a Chakra execution trace, which ASTRA-sim reads: kernels with the time that they take, their FLOP and
/// bytes, and all-reduces with the bytes that a rank hands over. Kernels follow each other, an all-reduce follows the kernel that
/// ended last before it began, updates also follow the all-reduces before them. The form counts whole microseconds: starts and
/// ends are rounded, so that sums are right to one. Expects a prediction made with `detail` whose gradients, if any, are
/// exchanged by all-reduce. Source: mlcommons/chakra, schema/protobuf/et_def.proto; astra-sim, attributes of its feeder.
[[nodiscard]] std::string chakra_trace(const Prediction& prediction);

}  // namespace tbdsim
