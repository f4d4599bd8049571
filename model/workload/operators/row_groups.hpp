#pragma once
#include <span>

#include "model/workload/operators/operator_row.hpp"

namespace tbdsim {

// The rows of each file of this folder; table.cpp joins them.
[[nodiscard]] std::span<const OperatorRow> arranging_rows();
[[nodiscard]] std::span<const OperatorRow> attention_rows();
[[nodiscard]] std::span<const OperatorRow> convolution_rows();
[[nodiscard]] std::span<const OperatorRow> detection_rows();
[[nodiscard]] std::span<const OperatorRow> elementwise_rows();
[[nodiscard]] std::span<const OperatorRow> expert_rows();
[[nodiscard]] std::span<const OperatorRow> image_rows();
[[nodiscard]] std::span<const OperatorRow> loss_rows();
[[nodiscard]] std::span<const OperatorRow> norm_rows();
[[nodiscard]] std::span<const OperatorRow> product_rows();
[[nodiscard]] std::span<const OperatorRow> recurrent_rows();

}  // namespace tbdsim
