#include "model/stack/framework.hpp"

#include <algorithm>
#include <array>

#include "model/support/edit_distance.hpp"
#include "model/support/enum_table.hpp"

namespace tbdsim {
namespace {

constexpr std::array<FrameworkInfo, 7> kRows{{
    {Framework::caffe2, "caffe2", "Caffe2"},
    {Framework::jax, "jax", "JAX"},
    {Framework::mxnet, "mxnet", "MXNet"},
    {Framework::pytorch, "pytorch", "PyTorch"},
    {Framework::rocm, "rocm", "ROCm"},
    {Framework::tensorflow, "tensorflow", "TensorFlow"},
    {Framework::torch7, "torch7", "Torch7"},
}};
static_assert(rows_in_order(kRows));

}  // namespace

std::span<const FrameworkInfo> frameworks() { return kRows; }

const FrameworkInfo& info(Framework framework) { return kRows[static_cast<std::size_t>(framework)]; }

std::optional<Framework> parse_framework(std::string_view word) {
  const auto* const row = std::find_if(kRows.begin(), kRows.end(),
                                       [&](const FrameworkInfo& each) { return fold_name(each.name) == fold_name(word); });
  return row == kRows.end() ? std::nullopt : std::optional(row->kind);
}

}  // namespace tbdsim
