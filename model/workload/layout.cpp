#include "model/workload/layout.hpp"

#include <fmt/format.h>

#include <array>

#include "model/support/enum_table.hpp"

namespace tbdsim {
namespace {

constexpr std::array<AxisInfo, 5> kAxes{{{Axis::tensor, "tensor", "--tensor-parallel"},
                                         {Axis::context, "context", "--context-parallel"},
                                         {Axis::expert, "expert", "--expert-parallel"},
                                         {Axis::data, "data", ""},
                                         {Axis::pipeline, "pipeline", "--pipeline-parallel"}}};
static_assert(rows_in_order(kAxes));

}  // namespace

std::span<const AxisInfo> axes() { return kAxes; }
const AxisInfo& info(Axis axis) { return kAxes[static_cast<std::size_t>(axis)]; }

int Layout::along(Axis axis) const {
  switch (axis) {
    case Axis::tensor:
      return tensor;
    case Axis::context:
      return context;
    case Axis::expert:
      return expert;
    case Axis::data:
      return data;
    case Axis::pipeline:
      return pipeline;
  }
  return 1;
}

AxisGroup group_of(const Layout& layout, Axis axis) {
  switch (axis) {
    case Axis::tensor:
      return {layout.tensor, 1};
    case Axis::context:
      return {layout.context, layout.tensor};
    case Axis::expert:
      return {layout.expert, layout.expert_tensor};
    case Axis::data:
      // Gradients of what context parallelism shares are added over its ranks, too.
      return {layout.data * layout.context, layout.tensor};
    case Axis::pipeline:
      return {layout.pipeline, layout.tensor * layout.context * layout.data};
  }
  return {};
}

std::string to_text(const Layout& layout) {
  std::string text;
  for (const AxisInfo& axis : axes())
    if (layout.along(axis.kind) > 1) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis.name, layout.along(axis.kind));
  return text;
}

}  // namespace tbdsim
