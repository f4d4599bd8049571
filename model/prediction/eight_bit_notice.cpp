#include "model/prediction/eight_bit_notice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "model/cost/eight_bit_products.hpp"

namespace tbdsim {

std::string eight_bit_notice(const Configuration& configuration) {
  const auto recipe = configuration.stack.operators.fp8.recipe;
  if (!has_8_bit_products(configuration.precision) || !recipe) return "";
  const OpGraph& graph = configuration.network_graph().graph;
  const auto count = [&](auto which) { return std::count_if(graph.ops.begin(), graph.ops.end(), which); };
  const auto linear = count([](const Op& op) { return op.kind == OpKind::linear; });
  const auto narrow = count([&](const Op& op) { return runs_in_8_bits(graph, op, static_cast<double>(configuration.batch)); });
  const auto convolutions = count([](const Op& op) { return info(op.kind).family == OpFamily::convolution; });
  const auto experts = count([](const Op& op) { return op.kind == OpKind::grouped_linear; });
  const std::string stay = convolutions > 0 ? fmt::format("; its {} convolutions stay in bf16", convolutions)
                           : experts > 0    ? fmt::format(
                                                  "; its {} products of experts stay in bf16, though libraries have them in 8 bits: "
                                                     "such kernels are not modelled",
                                                  experts)
                                         : "";
  if (narrow == 0)
    return fmt::format(
        "{}: no layer of {} runs in 8 bits: linear layers do, but for the head, whose rows and features are "
        "multiples of 16{}",
        name(configuration.precision), graph.name, stay);
  const Fp8Recipe used = configuration.precision == Precision::mxfp8 ? Fp8Recipe::mxfp8 : *recipe;
  return fmt::format("{}: {} of {} linear layers run in 8 bits, scaled {}; all else is bf16{}", name(configuration.precision),
                     narrow, linear, info(used).name, stay);
}

std::string slower_in_8_bits(const Configuration& configuration, const KernelModel& kernels) {
  if (!has_8_bit_products(configuration.precision) || configuration.divided()) return "";
  const auto wide =
      KernelModel::make(configuration.hardware().device, Precision::bf16, configuration.stack, **configuration.constants);
  if (!wide) return "";
  const OpGraph& graph = configuration.network_graph().graph;
  const auto batch = static_cast<double>(configuration.batch);
  struct Both {
    Seconds narrow, wide;
  };
  // Layers of one shape cost the same; of those that read one tensor the first may pay for its cast.
  std::map<std::tuple<Pass, std::int64_t, std::int64_t, double, bool>, Both> known;
  Both sum;
  const TrainingStep step = training_step(graph);
  for (const auto* part : {&step.forward, &step.backward}) {
    for (const StepNode& node : *part) {
      if (node.pass == Pass::gradient_sum) continue;
      const Op& op = graph.op(node.op);
      if (!runs_in_8_bits(graph, op, batch)) continue;
      const Shape &in = graph.input_shape(op), &out = graph.output_shape(op);
      const auto& readers = graph.tensor(op.inputs.front()).consumers;
      const bool first = std::find_if(readers.begin(), readers.end(), [&](OpId id) {
                           return runs_in_8_bits(graph, graph.op(id), batch);
                         })->value == node.op.value;
      const auto [place, is_new] =
          known.try_emplace({node.pass, in.back(), out.back(), static_cast<double>(elements(in)), first});
      if (is_new) place->second = {kernels.cost(graph, node, batch).kernel.time, wide->cost(graph, node, batch).kernel.time};
      sum.narrow += place->second.narrow;
      sum.wide += place->second.wide;
    }
  }
  constexpr double kTold = 1.01;  // a whole percent
  if (sum.narrow < kTold * sum.wide || sum.wide <= Seconds(0.0)) return "";
  return fmt::format(
      "{}: kernels of the layers in 8 bits take {:.0f} % longer than in bf16, casts included: --precision bf16 is faster",
      name(configuration.precision), 100.0 * (sum.narrow / sum.wide - 1.0));
}

}  // namespace tbdsim
