#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/report/json.hpp"

namespace tbdsim {

/// What bounds a kernel on one GPU, as listed.
struct Roofs {
  FlopPerSecond fp32;
  std::optional<FlopPerSecond> tensor;  ///< of the tensor cores, in the precision of the job
  BytesPerSecond memory;
};

/// What the page of a prediction draws: the answer with its layers and kernels, its timeline, and the same job on fewer GPUs
/// (`scaling`, which may be empty) with what a million samples cost there. Expects predictions made with `detail`.
[[nodiscard]] std::string predict_page_data(const Prediction& prediction, const PredictParts& parts,
                                            const std::vector<Prediction>& scaling, const Roofs& roofs);

}  // namespace tbdsim
