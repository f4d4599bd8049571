#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbdsim {

/// An axis along which training is divided over GPUs, innermost first: neighbouring GPUs share a layer, far ones a copy.
enum class Axis {
  tensor,    ///< each layer's products by columns and rows
  context,   ///< each sequence by positions
  expert,    ///< the experts of a layer; within the data-parallel axis
  data,      ///< samples
  pipeline,  ///< layers
};
struct AxisInfo {
  Axis kind;
  std::string_view name;    ///< "tensor"
  std::string_view option;  ///< "--tensor-parallel"; empty: what is left of the GPUs
};
[[nodiscard]] std::span<const AxisInfo> axes();
[[nodiscard]] const AxisInfo& info(Axis axis);
[[nodiscard]] inline std::string_view name(Axis axis) { return info(axis).name; }

/// How training is divided over GPUs: ranks along each axis. Every GPU is on all of them; experts are divided over ranks that
/// are data or context parallel for the rest of the network.
/// Sources: Megatron-LM, arXiv:1909.08053 and 2104.04473; sequence parallelism, 2205.05198; experts, 2006.16668.
struct Layout {
  int tensor = 1, context = 1, expert = 1, pipeline = 1, data = 1;
  int expert_tensor = 1;            ///< GPUs that share one expert
  int virtual_stages = 1;           ///< parts of the network on each rank of a pipeline
  bool sequence = false;            ///< what tensor parallelism leaves whole is divided by positions over its ranks
  bool regathers = true;            ///< what sequence parallelism gathers is not kept for backward but gathered again
  bool by_heads = false;            ///< within attention a rank of the context axis has all positions of a share of the heads
  std::vector<int> stage_layers{};  ///< of each stage of a pipeline, in the order of the network; empty: divided evenly

  [[nodiscard]] int along(Axis axis) const;
  [[nodiscard]] int gpus() const { return tensor * context * pipeline * data; }
  [[nodiscard]] int chunks() const { return pipeline * virtual_stages; }
  /// Whether ranks compute different parts of one network.
  [[nodiscard]] bool divides_network() const { return tensor > 1 || context > 1 || expert > 1 || pipeline > 1; }
  /// Copies of each expert.
  [[nodiscard]] int expert_data() const { return tensor * context * data / (expert * expert_tensor); }
};

/// The ranks of one group along an axis: `size` of them, each `stride` after the one before, in the order of GPUs.
struct AxisGroup {
  int size = 1, stride = 1;
  bool operator==(const AxisGroup&) const = default;
};
/// The mesh's order is that of `Axis`: tensor, context, (expert,) data, pipeline. Experts are divided over ranks next to each
/// other beyond those that share one.
[[nodiscard]] AxisGroup group_of(const Layout& layout, Axis axis);

/// "2 x 4 x 8": the axes above 1, as tables print them: "tensor 4, pipeline 8, data 2"; empty: none.
[[nodiscard]] std::string to_text(const Layout& layout);

}  // namespace tbdsim
