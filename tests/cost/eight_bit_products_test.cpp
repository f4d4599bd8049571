// Products in 8 bits: which run so, what casts beside them move, and what they gain.
#include "model/cost/eight_bit_products.hpp"

#include "model/cost/gemm.hpp"
#include "tests/cost/invented_board.hpp"

using namespace tbdsim;
using namespace tbdsim::invented;

namespace {

constexpr double kRows = 4096, kIn = 4096, kOut = 8192;

/// linear -> relu -> linear -> head -> loss, of rows of 4096 numbers.
OpGraph layers() {
  GraphBuilder g("layers", "torchvision", "token", {4096}, 4);
  const TensorId first = g.linear(g.input(), 4096, "first", false);
  const TensorId middle = g.linear(g.relu(first, "relu"), 8192, "middle", false);
  const TensorId odd = g.linear(middle, 1000, "odd", false);
  g.softmax_loss(g.linear(odd, 1600, "head", false), "loss");
  return std::move(g).finish().value();
}

const Op& op_called(const OpGraph& graph, std::string_view name) {
  for (const Op& op : graph.ops)
    if (op.name == name) return op;
  FAIL("no such operator");
  return graph.ops.front();
}

Device hopper() {
  Device d = board();
  d.peak.bf16_tensor = FlopPerSecond(100e12);
  d.peak.fp8_tensor = FlopPerSecond(200e12);
  d.calibration.families.push_back(ideal("gemm", "bf16"));
  d.calibration.families.push_back(ideal("gemm", "fp8"));
  return d;
}

Stack recipe(Fp8Recipe which, bool compiled = true) {
  Stack s = stack();
  s.operators.fp8.recipe = which;
  s.operators.fp8.compiles_casts = compiled;
  return s;
}

KernelModel kernels(const Stack& s, Precision precision = Precision::fp8, const Device& device = hopper()) {
  return KernelModel::make(device, precision, s, constants()).value();
}

NodeCost cost_of(const KernelModel& model, const OpGraph& graph, const char* name, Pass pass, double batch = kRows) {
  const TrainingStep step = training_step(graph);
  for (const auto* part : {&step.forward, &step.backward})
    for (const StepNode& node : *part)
      if (node.pass == pass && graph.op(node.op).name == name) return model.cost(graph, node, batch);
  FAIL("no such node");
  return {};
}

OperandCasts casts(const OpGraph& graph, const char* name, Pass pass, Fp8Recipe which, bool compiled = true,
                   bool either = false) {
  Architecture chip;
  chip.either_order_8_bit = either;
  return operand_casts(graph, op_called(graph, name), pass, kRows, info(which), compiled, chip);
}

}  // namespace

TEST_CASE("8 bits: linear layers but the head, where rows and features are multiples of 16") {
  const OpGraph graph = layers();
  CHECK(runs_in_8_bits(graph, op_called(graph, "first"), 16));
  CHECK(runs_in_8_bits(graph, op_called(graph, "middle"), 4096));
  CHECK_FALSE(runs_in_8_bits(graph, op_called(graph, "middle"), 15));
  CHECK_FALSE(runs_in_8_bits(graph, op_called(graph, "middle"), 24));
  CHECK_FALSE(runs_in_8_bits(graph, op_called(graph, "odd"), 4096));
  CHECK_FALSE(runs_in_8_bits(graph, op_called(graph, "head"), 4096));
  CHECK_FALSE(runs_in_8_bits(graph, op_called(graph, "relu"), 4096));
  const OpGraph small = network();
  CHECK_FALSE(runs_in_8_bits(small, op_called(small, "conv"), 32));
  CHECK_FALSE(runs_in_8_bits(small, op_called(small, "fc"), 32));
}

TEST_CASE("8 bits, one scale for a tensor: a maximum and a cast of each operand, and both orders backward") {
  const OpGraph graph = layers();
  const double x = kRows * kIn, w = kIn * kOut, y = kRows * kOut;
  const OperandCasts forward = casts(graph, "middle", Pass::forward, Fp8Recipe::tensorwise);
  CHECK(forward.moved == Bytes(5 * (x + w)));
  CHECK(forward.turned == Bytes(0.0));
  CHECK(forward.kernels == 6);
  CHECK(forward.scratch == Bytes(x + w));
  // The gradient in both orders; weights and inputs, cast again, in the other one alone.
  const OperandCasts data = casts(graph, "middle", Pass::backward_data, Fp8Recipe::tensorwise);
  CHECK(data.moved == Bytes(5 * y + 4 * w));
  CHECK(data.turned == Bytes(y + w));
  CHECK(data.kernels == 6);
  const OperandCasts weights = casts(graph, "middle", Pass::backward_weights, Fp8Recipe::tensorwise);
  CHECK(weights.moved == Bytes(4 * x));
  CHECK(weights.turned == Bytes(x));
  CHECK(weights.kernels == 3);
  // Of the first layer no pass but this one casts the gradient.
  CHECK(casts(graph, "first", Pass::backward_weights, Fp8Recipe::tensorwise).moved == Bytes(4 * (x + kRows * 4096)));
  // Tensor cores that read either order change nothing of what torchao does.
  CHECK(casts(graph, "middle", Pass::backward_data, Fp8Recipe::tensorwise, true, true).turned == data.turned);
  const OperandCasts eager = casts(graph, "middle", Pass::forward, Fp8Recipe::tensorwise, false);
  CHECK(eager.moved == Bytes(33 * (x + w)));
  CHECK(eager.kernels == 20);
  const OperandCasts copied = casts(graph, "middle", Pass::backward_data, Fp8Recipe::tensorwise, false);
  CHECK(copied.moved == Bytes(33 * (y + w)));
  CHECK(copied.turned == Bytes(2 * w));
  CHECK(copied.kernels == 21);
}

TEST_CASE("8 bits: recipes differ in passes, copies and what they keep") {
  const OpGraph graph = layers();
  const double x = kRows * kIn, w = kIn * kOut, y = kRows * kOut;
  CHECK(casts(graph, "middle", Pass::forward, Fp8Recipe::rowwise).moved == Bytes(3 * (x + w)));
  CHECK(casts(graph, "middle", Pass::backward_weights, Fp8Recipe::rowwise).turned == Bytes(5 * (x + y)));
  CHECK(casts(graph, "middle", Pass::forward, Fp8Recipe::blockwise).moved == Bytes((3 + 4.0 / 128) * (x + w)));
  CHECK(casts(graph, "middle", Pass::forward, Fp8Recipe::mxfp8).moved == Bytes((3 + 1.0 / 32) * (x + w)));
  // One kernel writes both orders, where the tensor cores want one; backward then casts the gradient alone.
  const OperandCasts both = casts(graph, "middle", Pass::forward, Fp8Recipe::delayed);
  CHECK(both.moved == Bytes(3 * (x + w)));
  CHECK(both.turned == Bytes(x + w));
  CHECK(both.kernels == 2);
  CHECK(casts(graph, "middle", Pass::forward, Fp8Recipe::delayed, true, true).turned == Bytes(0.0));
  CHECK(casts(graph, "middle", Pass::backward_data, Fp8Recipe::delayed).moved == Bytes(3 * y));
  CHECK(casts(graph, "middle", Pass::backward_weights, Fp8Recipe::delayed).kernels == 0);
  const Op& middle = op_called(graph, "middle");
  CHECK(kept_operands(graph, middle, kRows, info(Fp8Recipe::delayed)) == Bytes(x + w));
  CHECK(kept_operands(graph, middle, kRows, info(Fp8Recipe::tensorwise)) == Bytes(0.0));
}

TEST_CASE("8 bits: casts take their starts, their bytes, and those of the other order twice") {
  const KernelRates rates{FlopPerSecond(1e12), BytesPerSecond(600e9), Seconds(5e-6), 80};
  const KernelTimeModel time = cast_time({Bytes(3e6), Bytes(1e6), 4, Bytes(1e6)}, rates);
  CHECK_THAT(time.time.base(), WithinRel(4 * 5e-6 + (3e6 + 2 * 1e6) / 600e9, 1e-12));
  CHECK(time.bytes == Bytes(4e6));
  CHECK(time.kernels == 4);
  CHECK(time.launch == Seconds(4 * 5e-6));
}

TEST_CASE("8 bits: a compiler casts once what several layers read") {
  GraphBuilder g("siblings", "torchvision", "token", {4096}, 4);
  const TensorId x = g.relu(g.linear(g.input(), 4096, "before", false), "relu");
  const TensorId left = g.linear(x, 8192, "left", false);
  const TensorId sum = g.plus(left, g.linear(x, 8192, "right", false), "sum");
  g.softmax_loss(g.linear(sum, 1600, "head", false), "loss");
  const OpGraph graph = std::move(g).finish().value();
  const double input = kRows * kIn, w = kIn * kOut;
  CHECK(casts(graph, "left", Pass::forward, Fp8Recipe::tensorwise).moved == Bytes(5 * (input + w)));
  CHECK(casts(graph, "right", Pass::forward, Fp8Recipe::tensorwise).moved == Bytes(5 * w));
  CHECK(casts(graph, "right", Pass::backward_weights, Fp8Recipe::tensorwise).kernels == 0);
  CHECK(casts(graph, "right", Pass::forward, Fp8Recipe::tensorwise, false).moved == Bytes(33 * (input + w)));
  // Transformer Engine makes one layer of them.
  CHECK(casts(graph, "right", Pass::forward, Fp8Recipe::delayed, false).moved == Bytes(3 * w));
  CHECK(kept_operands(graph, op_called(graph, "right"), kRows, info(Fp8Recipe::delayed)) == Bytes(w));
}

TEST_CASE("8 bits: a layer's pass is its product at the 8-bit rate and its casts") {
  const OpGraph graph = layers();
  const KernelModel model = kernels(recipe(Fp8Recipe::tensorwise));
  const NodeCost cost = cost_of(model, graph, "middle", Pass::forward);
  const double moved = 5 * (kRows * kIn + kIn * kOut);
  CHECK(cost.kernel.kernels == 7);
  CHECK(cost.tensor_core);
  CHECK_THAT(cost.kernel.flop.base(), WithinRel(2 * kRows * kIn * kOut, 1e-12));
  // At least the arithmetic at the peak and the casts; at most half as much again for what tiles cost.
  const double least = 2 * kRows * kIn * kOut / 200e12 + moved / 600e9 + 7 * 5e-6;
  CHECK(cost.kernel.time.base() > least);
  CHECK(cost.kernel.time.base() < 1.5 * least);
  CHECK(model.peak() == FlopPerSecond(200e12));
  // All else is as in bf16.
  const KernelModel plain = kernels(recipe(Fp8Recipe::tensorwise), Precision::bf16);
  for (const char* name : {"relu", "odd", "head", "loss"}) {
    CHECK(cost_of(model, graph, name, Pass::forward).kernel.time == cost_of(plain, graph, name, Pass::forward).kernel.time);
  }
}

TEST_CASE("8 bits gain on large products and lose on small ones, without casts they would not lose") {
  const OpGraph graph = layers();
  Device fast = hopper();
  fast.memory_bandwidth = BytesPerSecond(3000e9);
  const auto time = [&](Fp8Recipe which, Precision precision, double rows, bool compiled = true) {
    return cost_of(kernels(recipe(which, compiled), precision, fast), graph, "middle", Pass::forward, rows).kernel.time;
  };
  constexpr auto kTensor = Fp8Recipe::tensorwise;
  CHECK(time(kTensor, Precision::fp8, 16384) < time(kTensor, Precision::bf16, 16384));
  CHECK(time(kTensor, Precision::fp8, 16) > time(kTensor, Precision::bf16, 16));
  // Operators that run one by one move six times as much.
  CHECK(time(kTensor, Precision::fp8, 16384, false) > time(kTensor, Precision::fp8, 16384));
  // One pass in the place of two.
  CHECK(time(Fp8Recipe::blockwise, Precision::fp8, 16384) < time(kTensor, Precision::fp8, 16384));
  // The negative control: the product alone, without what casts it, is faster than with casts and than in 16 bits.
  const KernelModel model = kernels(recipe(kTensor), Precision::fp8, fast);
  const OperandCasts beside = operand_casts(graph, op_called(graph, "middle"), Pass::forward, 16, info(kTensor), true, fast.chip);
  const Seconds of_casts = beside.moved / BytesPerSecond(3000e9) + beside.kernels * Seconds(5e-6);
  const Seconds alone = cost_of(model, graph, "middle", Pass::forward, 16).kernel.time - of_casts;
  CHECK(alone < time(kTensor, Precision::bf16, 16));
}

TEST_CASE("8 bits need the units and a recipe, to the letter") {
  const Stack tensorwise = recipe(Fp8Recipe::tensorwise);
  CHECK(refusal(board(), Precision::fp8, tensorwise) == "precision fp8: board has no fp8 tensor cores; it has fp32, fp16, amp\n");
  Device ampere = board();
  ampere.peak.tf32_tensor = ampere.peak.bf16_tensor = FlopPerSecond(100e12);
  CHECK(refusal(ampere, Precision::fp8, tensorwise) ==
        "precision fp8: board has no fp8 tensor cores; it has fp32, tf32, fp16, bf16, amp\n");
  CHECK(refusal(hopper(), Precision::fp8, tensorwise).empty());
  CHECK(refusal(hopper(), Precision::mxfp8, tensorwise) ==
        "precision mxfp8: board has no mxfp8 tensor cores; it has fp32, fp16, bf16, amp, fp8\n");
  CHECK(refusal(hopper(), Precision::fp8, recipe(Fp8Recipe::mxfp8)) ==
        "precision fp8: the recipe mxfp8 of stack stack needs tensor cores that scale blocks, which board lacks\n");
  CHECK(refusal(hopper(), Precision::fp8) ==
        "precision fp8: stack stack trains without products in 8 bits (no operators.fp8_recipe in stack.toml)\n");
  Device blackwell = hopper();
  blackwell.chip.scales_blocks = true;
  CHECK(refusal(blackwell, Precision::mxfp8, tensorwise).empty());
}

TEST_CASE("8 bits: every recipe moves at least a read and a write") {
  for (const Fp8RecipeInfo& row : fp8_recipes()) {
    CHECK(row.compiled.bytes >= 3.0);
    CHECK(row.eager.bytes >= row.compiled.bytes);
    CHECK(row.eager.kernels >= row.compiled.kernels);
    CHECK((row.turned == Turned::cast) == (row.cast_turned.kernels > 0));
    CHECK((row.turned == Turned::together) == row.keeps_narrow);
  }
}
