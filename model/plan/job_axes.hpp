#pragma once
#include <span>
#include <string_view>

#include "model/configuration/predict_options.hpp"

namespace tbdsim::plan {

/// Options of a job that a plan searches, by name: "tensor-parallel", "batch".
[[nodiscard]] std::span<const std::string_view> axis_names();
[[nodiscard]] bool is_axis(std::string_view option);

/// `job` with its axes as in `axes`.
[[nodiscard]] PredictOptions with_axes_of(const PredictOptions& axes, PredictOptions job);

}  // namespace tbdsim::plan
