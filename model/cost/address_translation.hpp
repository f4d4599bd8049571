#pragma once
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Translations that miss while one row of `row` contiguous bytes is read piece by piece, in step with many rows of an array of
/// `footprint` bytes.
///
/// Each piece of 32 B needs one. Rows side by side in a page share it, longer ones have pages of their own; what the buffers
/// reach hits. Reach (128 MB) and page (128 KiB) fitted, with the rate that Pascal's device files state: linear layers of
/// PyTorch 2.1 (NeuSight) on a Tesla P100 and a Tesla P4, which agree. Their products fall from 7 TFLOP/s at 8,192 inputs to 2.5
/// at 65,536. The same shapes on Volta, Turing and Ampere show no such limit. Maxwell and Kepler: no samples of such lengths.
[[nodiscard]] double missed_translations(Bytes row, Bytes footprint);

}  // namespace tbdsim
