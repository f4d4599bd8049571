#include "model/prediction/eight_bit_notice.hpp"

#include <fmt/format.h>

#include <algorithm>

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
  const std::string stay = convolutions > 0 ? fmt::format("; its {} convolutions stay in bf16", convolutions) : "";
  if (narrow == 0)
    return fmt::format(
        "{}: no layer of {} runs in 8 bits: linear layers do, but for the head, whose rows and features are "
        "multiples of 16{}",
        name(configuration.precision), graph.name, stay);
  const Fp8Recipe used = configuration.precision == Precision::mxfp8 ? Fp8Recipe::mxfp8 : *recipe;
  return fmt::format("{}: {} of {} linear layers run in 8 bits, scaled {}; all else is bf16{}", name(configuration.precision),
                     narrow, linear, info(used).name, stay);
}

}  // namespace tbdsim
