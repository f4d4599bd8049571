// Kernel times of training-step nodes on an invented board, where every expectation is the cost model's own formula.
#include "model/cost/kernel_model.hpp"

#include <algorithm>
#include <array>

#include "tests/architectures.hpp"
#include "tests/cost/invented_board.hpp"

using namespace tbdsim;
using namespace tbdsim::invented;

TEST_CASE("a precision needs its unit, to the letter") {
  CHECK(refusal(board(), Precision::tf32) == "precision tf32: board has no tf32 tensor cores; it has fp32, fp16, amp\n");
  CHECK(refusal(board(), Precision::bf16) == "precision bf16: board has no bf16 tensor cores; it has fp32, fp16, amp\n");
  CHECK(refusal(board(), Precision::fp32).empty());
  CHECK(refusal(board(), Precision::fp16).empty());
  CHECK(refusal(board(), Precision::amp).empty());
  Device ampere = board();
  ampere.peak.tf32_tensor = FlopPerSecond(156e12);
  ampere.peak.bf16_tensor = FlopPerSecond(312e12);
  CHECK(refusal(ampere, Precision::tf32).empty());
  CHECK(refusal(ampere, Precision::bf16).empty());
}

TEST_CASE("constants that a stack's library lacks, to the letter") {
  const Stack other = changed([](Stack& s) { s.convolution.generation = "cudnn99"; });
  CHECK(refusal(board(), Precision::fp32, other) ==
        "stack.toml: convolution.generation \"cudnn99\" has no constants in kernels.toml\n");
  CHECK(refusal(board(), Precision::fp16, other) ==
        "stack.toml: convolution.generation \"cudnn99\" has no constants in kernels.toml\n");
  KernelConstants none = constants();
  none.gemm.erase("fp32");
  CHECK(refusal(board(), Precision::fp32, stack(), none) == "kernels.toml: gemm constants missing\n");
  CHECK(refusal(board(), Precision::fp16, stack(), none).empty());
}

TEST_CASE("the peak that utilisation is measured against") {
  CHECK(model().peak() == FlopPerSecond(12.8e12));
  CHECK(model(stack(), Precision::amp).peak() == FlopPerSecond(100e12));
  Device without = board();
  without.peak.fp16_tensor.reset();
  // 16-bit storage, fp32 arithmetic.
  const auto half = KernelModel::make(without, Precision::fp16, stack(), constants());
  REQUIRE(half);
  CHECK(half->peak() == FlopPerSecond(12.8e12));
  CHECK_FALSE(cost(*half, "conv", Pass::forward).tensor_core);
  CHECK(cost(*half, "norm", Pass::forward).kernel.bytes == Bytes(3 * kMap / 2));
  CHECK(cost(model(stack(), Precision::fp16), "conv", Pass::forward).tensor_core);
}

TEST_CASE("a convolution's passes are those of the convolution model, with the algorithm told") {
  const Stack plain = changed([](Stack& s) { s.operators.fusion.separate_bias = false; });
  const ConvolutionShape shape{32, 64, 28, 28, 64, 3, 3, 28, 28, 1, 1, 1};
  const KernelRates rates{FlopPerSecond(12.8e12), BytesPerSecond(600e9), Seconds(5e-6), 80};
  for (const auto& [pass, which] : {std::pair{Pass::forward, ConvolutionPass::forward},
                                    std::pair{Pass::backward_weights, ConvolutionPass::backward_weights}}) {
    const auto& offered = pass == Pass::forward ? plain.convolution.forward : plain.convolution.backward_weights;
    const ConvolutionTime expected = fastest_convolution(shape, which, offered, {}, Bytes(4.0), ConvolutionConstants{}, rates);
    const NodeCost node = cost(model(plain), "conv", pass);
    CHECK(node.kernel.time == expected.kernel.time);
    CHECK(node.algorithm == expected.algorithm);
    CHECK(node.family == KernelFamily::convolution);
    CHECK(node.kernel.flop == Flop(2.0 * 32 * 64 * 64 * 28 * 28 * 9));
  }
}

TEST_CASE("Kepler is not offered the fused Winograd kernel") {
  const Stack only = changed([](Stack& s) { s.convolution.forward = {ConvolutionAlgorithm::winograd_fused}; });
  CHECK(cost(model(only), "conv", Pass::forward).algorithm == ConvolutionAlgorithm::winograd_fused);
  Device kepler = board();
  name_architecture(kepler, "Kepler 2.0");
  const auto made = KernelModel::make(kepler, Precision::fp32, only, constants());
  REQUIRE(made);
  CHECK(cost(*made, "conv", Pass::forward).algorithm == ConvolutionAlgorithm::implicit_gemm);
}

TEST_CASE("a convolution's bias: two passes over the output forward, one for its gradient, none with the fused call") {
  const Stack fused = changed([](Stack& s) { s.operators.fusion.separate_bias = false; });
  const auto extra = [&](Pass pass) {
    return (cost(model(), "conv", pass).kernel.time - cost(model(fused), "conv", pass).kernel.time).base();
  };
  CHECK_THAT(extra(Pass::forward), WithinRel(5e-6 + 2 * kMap / 600e9, 1e-9));
  CHECK_THAT(extra(Pass::backward_weights), WithinRel(5e-6 + kMap / 600e9, 1e-9));
  CHECK(cost(model(), "conv", Pass::forward).kernel.kernels == cost(model(fused), "conv", Pass::forward).kernel.kernels + 1);
}

TEST_CASE("a bias gradient by the library waits for its loads, with channels first and backward alone") {
  const Stack library = changed([](Stack& s) { s.operators.fusion.library_bias = true; });
  const Seconds waits = cost(model(library), "conv", Pass::backward_weights).kernel.time;
  const Seconds moves = cost(model(), "conv", Pass::backward_weights).kernel.time;
  // 32 samples of 28 x 28: 7 loads of 128 numbers each, at the 1.4 GHz of the board.
  CHECK_THAT((waits - moves).base(), WithinRel(32 * 7 * 400 / 1.4e9 - kMap / 600e9, 1e-6));
  CHECK(cost(model(library), "conv", Pass::forward).kernel.time == cost(model(), "conv", Pass::forward).kernel.time);
  const Stack turned = changed([](Stack& s) { s.operators.order.channels_last = true; });
  Stack both = turned;
  both.operators.fusion.library_bias = true;
  CHECK(cost(model(both), "conv", Pass::backward_weights).kernel.time ==
        cost(model(turned), "conv", Pass::backward_weights).kernel.time);
}

TEST_CASE("filters that lie channels last are turned around for every pass") {
  const Stack turning = changed([](Stack& s) { s.operators.order.turns_filters = true; });
  const double filter = 64 * 64 * 3 * 3 * 4;
  for (const Pass pass : {Pass::forward, Pass::backward_weights}) {
    const Seconds extra = cost(model(turning), "conv", pass).kernel.time - cost(model(), "conv", pass).kernel.time;
    CHECK_THAT(extra.base(), WithinRel(5e-6 + 2 * filter / (0.5 * 600e9), 1e-6));
  }
  CHECK(cost(model(turning), "fc", Pass::forward).kernel.time == cost(model(), "fc", Pass::forward).kernel.time);
}

TEST_CASE("gradients that stay: the new gradient added for every array of the operator, zeros written once a step") {
  const Stack keeping = changed([](Stack& s) {
    s.update.gradient_passes = 4;
    s.update.gradient_kernels = 2;
  });
  const auto extra = [&](const char* name, Pass pass) {
    return (cost(model(keeping), name, pass).kernel.time - cost(model(), name, pass).kernel.time).base();
  };
  // Filter and bias: two arrays, a kernel each; zeros are part of the update.
  CHECK_THAT(extra("conv", Pass::backward_weights), WithinRel(2 * 5e-6 + 3 * (64 * 64 * 9 + 64) * 4 / 600e9, 1e-6));
  CHECK(cost(model(keeping), "conv", Pass::backward_weights).host_operators ==
        cost(model(), "conv", Pass::backward_weights).host_operators + 2);
  const NodeCost zeroing = model(keeping).update_cost(25e6), plain = model().update_cost(25e6);
  CHECK_THAT((zeroing.kernel.time - plain.kernel.time).base(), WithinRel(5e-6 + 25e6 * 4 / 600e9, 1e-9));
  CHECK(zeroing.host_operators == plain.host_operators + 1);
  // Such gradients are sums already; others are added to those of the micro-batches before.
  CHECK(model(keeping).accumulation_cost(Bytes(1e8)).kernel.time == Seconds(0.0));
  CHECK_THAT(model().accumulation_cost(Bytes(1e8)).kernel.time.base(), WithinRel(5e-6 + 3e8 / 600e9, 1e-9));
  CHECK(model().accumulation_cost(Bytes(1e8)).host_operators == 1.0);
  CHECK(extra("fc", Pass::backward_data) == 0.0);
  CHECK(extra("relu", Pass::backward) == 0.0);
  CHECK(extra("conv", Pass::forward) == 0.0);
}

TEST_CASE("a linear layer's three products and its bias") {
  const KernelRates rates{FlopPerSecond(12.8e12), BytesPerSecond(600e9), Seconds(5e-6), 80};
  const double in = 64 * 28 * 28;
  const auto gemm = [&](GemmShape shape) { return gemm_time(shape, Bytes(4.0), TileConstants{}, rates).time.base(); };
  const auto bias = [&](double passes) { return 5e-6 + passes * 32 * 10 * 4 / 600e9; };
  CHECK_THAT(cost(model(), "fc", Pass::forward).kernel.time.base(), WithinRel(gemm({32, 10, in, 1}) + bias(2), 1e-9));
  CHECK_THAT(cost(model(), "fc", Pass::backward_data).kernel.time.base(), WithinRel(gemm({32, in, 10, 1}), 1e-9));
  CHECK_THAT(cost(model(), "fc", Pass::backward_weights).kernel.time.base(), WithinRel(gemm({10, in, 32, 1}) + bias(1), 1e-9));
  for (const Pass pass : {Pass::forward, Pass::backward_data, Pass::backward_weights})
    CHECK(cost(model(), "fc", pass).kernel.flop == Flop(2.0 * 32 * 10 * in));
}

TEST_CASE("memory-bound operators move their passes, an addition's backward moves nothing") {
  const auto seconds = [](const char* name, Pass pass) { return cost(model(), name, pass).kernel.time.base(); };
  CHECK_THAT(seconds("norm", Pass::forward), WithinRel(5e-6 + 3 * kMap / 600e9, 1e-12));
  CHECK_THAT(seconds("norm", Pass::backward), WithinRel(5e-6 + 5 * kMap / 600e9, 1e-12));
  CHECK_THAT(seconds("relu", Pass::forward), WithinRel(5e-6 + 2 * kMap / 600e9, 1e-12));
  CHECK_THAT(seconds("relu", Pass::backward), WithinRel(5e-6 + 3 * kMap / 600e9, 1e-12));
  CHECK_THAT(seconds("sum", Pass::forward), WithinRel(5e-6 + 3 * kMap / 600e9, 1e-12));  // two read, one written
  CHECK(seconds("sum", Pass::backward) == 0.0);
  CHECK(seconds("flat", Pass::forward) == 0.0);
  // The convolution's output has two consumers: two gradients read, one written.
  CHECK_THAT(seconds("conv", Pass::gradient_sum), WithinRel(5e-6 + 3 * kMap / 600e9, 1e-12));
}

TEST_CASE("updates: passes over fp32 parameters, one launch per kernel and array, or few for all") {
  const double count = 25e6;
  const auto update = [&](void (*change)(Stack&)) { return model(changed(change)).update_cost(count); };
  const auto base = update([](Stack&) {});
  CHECK_THAT(base.kernel.time.base(), WithinRel(5e-6 + 5 * count * 4 / 600e9, 1e-12));
  CHECK(base.host_operators == 1.0);
  const auto chain = update([](Stack& s) { s.update.kernels_per_array = 3; });
  CHECK_THAT(chain.kernel.time.base(), WithinRel(15e-6 + 5 * count * 4 / 600e9, 1e-12));
  CHECK(chain.kernel.kernels == 3);
  const auto copies = update([](Stack& s) { s.update.extra_passes = 2; });
  CHECK_THAT(copies.kernel.time.base(), WithinRel(5e-6 + 7 * count * 4 / 600e9, 1e-12));
  const auto multi = update([](Stack& s) { s.update.kind = UpdateKind::multi_tensor; });
  CHECK(multi.kernel.time < base.kernel.time);
  CHECK_THAT(multi.kernel.time.base(), WithinRel(5e-6 / 30 + 5 * count * 4 / 600e9, 1e-12));
  CHECK(multi.host_operators < 0.1);
  // Mixed precision unscales fp32 gradients (8 B); PyTorch does so over lists of arrays.
  const auto mixed = [&](void (*change)(Stack&)) { return model(changed(change), Precision::amp).update_cost(count); };
  CHECK_THAT(mixed([](Stack&) {}).kernel.time.base(), WithinRel(2 * 5e-6 + (5 * 4 + 8) * count / 600e9, 1e-12));
  const NodeCost eager = mixed([](Stack& s) { s.host.eager = true; });
  CHECK_THAT(eager.kernel.time.base(), WithinRel((1 + 1 / 30.0) * 5e-6 + (5 * 4 + 8) * count / 600e9, 1e-12));
  CHECK_THAT(eager.host_operators, WithinRel(1 + 1 / 30.0, 1e-12));
  // Weights held in 16 bits (apex O2): gradients are widened and unscaled at once (6 B), the copy is the weights' (6 B).
  const NodeCost o2 = mixed([](Stack& s) { s.host.eager = s.operators.amp.all_16_bit = true; });
  CHECK_THAT(o2.kernel.time.base(), WithinRel((1 + 2 / 30.0) * 5e-6 + (5 * 4 + 12) * count / 600e9, 1e-12));
  // MXNet's update does both itself: 2 + 4 + 4 B read, 4 + 4 + 2 written.
  const Stack held = changed([](Stack& s) { s.operators.amp.all_16_bit = true; });
  CHECK(model(held, Precision::amp).update_cost(count).kernel.time == base.kernel.time);
  CHECK(model(held).update_cost(count).kernel.time == base.kernel.time);
  // A network that is 16 bit throughout updates 16-bit weights.
  CHECK_THAT(model(stack(), Precision::fp16).update_cost(count).kernel.time.base(),
             WithinRel(5e-6 + 5 * count * 2 / 600e9, 1e-12));
}

TEST_CASE("a sparse gradient updates the rows read, whatever the table's size; mixed precision unscales them first") {
  const auto update = [](std::int64_t rows, bool sparse, const KernelModel& kernels) {
    GraphBuilder g("table", "file", "record", {26}, 4);
    const TensorId x = g.add(OpKind::embedding, {g.input()}, EmbeddingAttributes{rows, 128, false, 1, sparse});
    g.add(OpKind::element_loss, {x}, {}, "loss");
    const OpGraph graph = std::move(g).finish().value();
    return kernels.cost(graph, training_step(graph).update.front(), 1000).kernel.time.base();
  };
  // 26,000 rows: the gradient read, the table's read and written.
  const double bytes = 3.0 * 26000 * 128 * 4;
  for (const std::int64_t rows : {1000, 10'000'000})
    CHECK_THAT(update(rows, true, model()), WithinRel(5e-6 + bytes / 600e9, 1e-12));
  CHECK(update(10'000'000, false, model()) > 10 * update(10'000'000, true, model()));
  CHECK_THAT(update(1000, true, model(stack(), Precision::amp)), WithinRel(2 * 5e-6 + bytes / 3.0 * 5.0 / 600e9, 1e-12));
}

TEST_CASE("products of pairs hide behind the bytes of few vectors, and take their arithmetic where there are many") {
  const auto forward = [](std::int64_t vectors) {
    GraphBuilder g("pairs", "file", "record", {vectors, 64}, 4);
    const TensorId all = g.add(OpKind::learned_bias, {g.input()}, LearnedBiasAttributes{});
    const TensorId one = g.another_input({64}, "vector");
    g.add(OpKind::element_loss, {g.add(OpKind::pair_products, {all, one}, PairProductsAttributes{}, "pairs")}, {}, "loss");
    const OpGraph graph = std::move(g).finish().value();
    for (const StepNode& node : training_step(graph).forward)
      if (graph.op(node.op).name == "pairs") return model().cost(graph, node, 100).kernel;
    return KernelTimeModel{};
  };
  const KernelTimeModel few = forward(8), many = forward(4096);
  CHECK(few.flop == Flop(100 * 2.0 * 28 * 64));
  CHECK(few.bound != Bound::compute);
  CHECK_THAT(many.flop.base(), WithinRel(100 * 4096.0 * 4095 * 64, 1e-12));
  CHECK(many.bound == Bound::compute);
  CHECK(many.time - many.launch >= many.flop / board().peak.fp32);
}

TEST_CASE("an attention layer: one kernel where the stack fuses it, else products, softmax and copies of their own") {
  GraphBuilder g("attention", "file", "sentence", {256}, 4);
  const TensorId x = g.add(OpKind::embedding, {g.input()}, EmbeddingAttributes{1000, 512});
  (void)g.add(OpKind::attention, {x, x, x}, AttentionAttributes{8, false}, "attention");
  const OpGraph graph = std::move(g).finish().value();
  const TrainingStep step = training_step(graph);
  const auto attention = [&](const KernelModel& kernels, Pass pass) {
    for (const auto* part : {&step.forward, &step.backward})
      for (const StepNode& node : *part)
        if (node.pass == pass && graph.op(node.op).name == "attention") return kernels.cost(graph, node, 4);
    return NodeCost{};
  };
  const Stack fused = changed([](Stack& s) { s.operators.attention.fused = true; });
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const NodeCost apart = attention(model(), pass), one = attention(model(fused), pass);
    // 4 sentences of 8 heads, 256 x 256 scores of width 64: two products forward, four useful ones backward.
    const double flop = (pass == Pass::forward ? 2 : 4) * 2.0 * 32 * 256 * 256 * 64;
    CHECK_THAT(apart.kernel.flop.base(), WithinRel(flop, 1e-12));
    CHECK_THAT(one.kernel.flop.base(), WithinRel(flop, 1e-12));
    CHECK(one.kernel.bytes < apart.kernel.bytes);  // scores never leave the chip
    CHECK(one.kernel.kernels == 1);
    CHECK(one.host_operators == 1.0);
    CHECK(apart.host_operators >= 8.0);
  }
}

TEST_CASE("useful FLOP of causal attention are those of unmasked scores; separate kernels execute the masked ones, too") {
  GraphBuilder g("attention", "file", "sentence", {256}, 4);
  const TensorId x = g.add(OpKind::embedding, {g.input()}, EmbeddingAttributes{1000, 512});
  (void)g.add(OpKind::attention, {x, x, x}, AttentionAttributes{8, true}, "causal");
  (void)g.add(OpKind::attention, {x, x, x}, AttentionAttributes{8, false}, "all");
  const OpGraph graph = std::move(g).finish().value();
  const TrainingStep step = training_step(graph);
  const auto attention = [&](const KernelModel& kernels, Pass pass, const char* name) {
    for (const auto* part : {&step.forward, &step.backward})
      for (const StepNode& node : *part)
        if (node.pass == pass && graph.op(node.op).name == name) return kernels.cost(graph, node, 4).kernel;
    return KernelTimeModel{};
  };
  const Stack fused = changed([](Stack& s) { s.operators.attention.fused = true; });
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const KernelTimeModel apart = attention(model(), pass, "causal"), one = attention(model(fused), pass, "causal");
    // 4 sentences of 8 heads, half of 256 x 256 scores of width 64.
    const double flop = (pass == Pass::forward ? 2 : 4) * 2.0 * 32 * 256 * 128 * 64;
    CHECK_THAT(apart.flop.base(), WithinRel(flop, 1e-12));
    CHECK_THAT(one.flop.base(), WithinRel(flop, 1e-12));
    CHECK(apart.executing == attention(model(), pass, "all").executing);
  }
}

TEST_CASE("a stack's attention kernel runs in 16 bits on devices that have it, unmeasured it runs like the general one") {
  GraphBuilder g("attention", "file", "sentence", {2048}, 4);
  const TensorId x = g.add(OpKind::embedding, {g.input()}, EmbeddingAttributes{1000, 512});
  (void)g.add(OpKind::attention, {x, x, x}, AttentionAttributes{8, true}, "attention");
  const OpGraph graph = std::move(g).finish().value();
  const TrainingStep step = training_step(graph);
  KernelConstants measured = constants();
  measured.attention["flash-2"].forward.share = 0.5;
  const auto time = [&](const char* capability, Precision precision, AttentionKernel kernel, const KernelConstants& from) {
    Device device = board();
    device.compute_capability = capability;
    Stack s = stack();
    s.operators.attention.fused = true;
    s.operators.attention.kernel = kernel;
    const KernelModel kernels = KernelModel::make(device, precision, s, from).value();
    for (const StepNode& node : step.forward)
      if (graph.op(node.op).name == "attention") return kernels.cost(graph, node, 4).kernel.time;
    return Seconds(0.0);
  };
  const auto general = [&](const char* capability, Precision precision) {
    return time(capability, precision, AttentionKernel::general, measured);
  };
  const AttentionKernel flash = AttentionKernel::flash_2;
  CHECK(time("8.0", Precision::fp16, flash, measured) > general("8.0", Precision::fp16));
  CHECK(time("7.0", Precision::fp16, flash, measured) == general("7.0", Precision::fp16));
  CHECK(time("8.0", Precision::fp32, flash, measured) == general("8.0", Precision::fp32));
  CHECK(time("8.0", Precision::fp16, flash, constants()) == general("8.0", Precision::fp16));
  // A library with a kernel for Hopper runs FlashAttention 2 before it.
  const AttentionKernel cudnn = AttentionKernel::cudnn_9;
  measured.attention["cudnn-9"].forward.share = 0.9;
  CHECK(time("8.0", Precision::fp16, cudnn, measured) == time("8.0", Precision::fp16, flash, measured));
  CHECK(time("9.0", Precision::fp16, cudnn, measured) < time("9.0", Precision::fp16, flash, measured));
  CHECK(time("7.0", Precision::fp16, cudnn, measured) == general("7.0", Precision::fp16));
}

TEST_CASE("a linear bias inside the product costs nothing forward, its gradient stays a sum") {
  const Stack fused = changed([](Stack& s) { s.operators.fusion.linear_bias = true; });
  const auto extra = [&](Pass pass) {
    return (cost(model(), "fc", pass).kernel.time - cost(model(fused), "fc", pass).kernel.time).base();
  };
  CHECK_THAT(extra(Pass::forward), WithinRel(5e-6 + 2 * 32 * 10 * 4 / 600e9, 1e-9));
  CHECK(extra(Pass::backward_weights) == 0.0);
}

TEST_CASE("a batch norm with channels last adds a summand and takes the ReLU of the sum") {
  const Stack fused = changed([](Stack& s) { s.operators.fusion.batch_norm_relu = s.operators.order.channels_last = true; });
  // Joined to the ReLU, not to the batch norm: nothing changes.
  CHECK(cost(model(fused), "sum", Pass::forward).kernel.time == cost(model(), "sum", Pass::forward).kernel.time);
  GraphBuilder g("joined", "torchvision", "image", {64, 28, 28}, 4);
  const TensorId c = g.convolution(g.input(), {64, 3, 3, 1, 1, 1, 1, 1, 1, false}, "conv");
  const TensorId sum = g.plus(g.batch_norm(g.convolution(c, {64, 3, 3, 1, 1, 1, 1, 1, 1, false}, "conv2"), "norm"), c, "sum");
  g.softmax_loss(g.linear(g.flatten(g.relu(sum, "relu"), "flat"), 10, "fc"), "loss");
  const OpGraph graph = std::move(g).finish().value();
  const auto seconds = [&](const Stack& s, const char* name) {
    for (const StepNode& node : training_step(graph).forward)
      if (graph.op(node.op).name == name) return model(s).cost(graph, node, 32).kernel.time.base();
    return -1.0;
  };
  CHECK_THAT(seconds(fused, "sum"), WithinRel(5e-6 + kMap / 600e9, 1e-12));
  CHECK(seconds(fused, "relu") == 0.0);
  const Stack first = changed([](Stack& s) { s.operators.fusion.batch_norm_relu = true; });
  CHECK_THAT(seconds(first, "sum"), WithinRel(5e-6 + 3 * kMap / 600e9, 1e-12));
  CHECK(seconds(first, "relu") > 0.0);
}

TEST_CASE("libraries of the first releases that know a board: 0.8 of the rate of tensor-core products, both sides") {
  const auto seconds = [](const char* capability, const char* cuda, Precision precision) {
    Device d = board();
    d.compute_capability = capability;
    d.chip = chip("", capability);
    Stack s = stack();
    s.cuda = cuda;
    return cost(KernelModel::make(d, precision, s, constants()).value(), "conv", Pass::forward).kernel.time;
  };
  using Row = std::array<const char*, 3>;
  for (const auto& [capability, young, old] : {Row{"7.0", "9.1", "10.0"}, Row{"8.0", "11.1", "11.2"}, Row{"8.6", "11.2", "11.3"},
                                               Row{"9.0", "12.0", "12.1"}, Row{"12.0", "12.9", "13.0"}}) {
    CHECK(seconds(capability, young, Precision::fp16) > seconds(capability, old, Precision::fp16));
    CHECK(seconds(capability, young, Precision::fp32) == seconds(capability, old, Precision::fp32));
  }
  CHECK(seconds("7.5", "10.0", Precision::fp16) == seconds("7.5", "11.2", Precision::fp16));
  CHECK(seconds("8.0", "", Precision::fp16) == seconds("8.0", "11.2", Precision::fp16));  // a stack that names no CUDA
}

TEST_CASE("a loop that reads a norm back at every array: two more operators of the host, and parts that overlap the device") {
  const Stack loop = changed([](Stack& s) {
    s.host.eager = true;
    s.update.kernels_per_array = 14;
  });
  const Stack waits = changed([](Stack& s) {
    s.host.eager = true;
    s.update.kernels_per_array = 14;
    s.update.wait = UpdateWait::each_array;
  });
  const NodeCost one = model(loop).update_cost(1e6), read = model(waits).update_cost(1e6);
  CHECK(one.host_operators == 14.0);
  CHECK(read.host_operators == 16.0);
  CHECK(read.pieces == 4);
  CHECK(read.kernel.time == one.kernel.time);
}

TEST_CASE("the two gradients of one layer are one operator of the host") {
  CHECK(cost(model(), "fc", Pass::forward).host_operators == 1.0);
  CHECK(cost(model(), "fc", Pass::backward_data).host_operators == 0.5);
  CHECK(cost(model(), "fc", Pass::backward_weights).host_operators == 0.5);
  // The first convolution has one gradient only.
  CHECK(cost(model(), "conv", Pass::backward_weights).host_operators == 1.0);
}

TEST_CASE("classes of operators: products cost the host more than elementwise operators, a loop over arrays every kernel") {
  const Stack eager = changed([](Stack& s) {
    s.host.eager = true;
    s.update.kernels_per_array = 4;
    IssueSettings issue;
    issue.kernel = Seconds(10e-6);
    issue.product = Seconds(25e-6);
    issue.batch_norm = Seconds(15e-6);
    s.host.issue = issue;
  });
  CHECK(cost(model(eager), "fc", Pass::forward).host_operators == 2.5);
  CHECK(cost(model(eager), "norm", Pass::forward).host_operators == 2.5);  // and its counter
  CHECK(cost(model(eager), "relu", Pass::forward).host_operators == 1.0);
  CHECK(cost(model(eager), "fc", Pass::backward_data).host_operators == 2.5);
  CHECK(cost(model(eager), "flat", Pass::forward).host_operators == 0.0);  // a view
  CHECK(model(eager).update_cost(1e6).host_operators == 4.0);
}

TEST_CASE("no optimiser: nothing is updated, and gradients that stay are still set to zero") {
  const Stack none = changed([](Stack& s) {
    s.host.eager = true;
    s.update.kernels_per_array = 0;
    s.update.passes_sgd_momentum = 0.0;
  });
  CHECK(model(none).update_cost(1e6).kernel.time == Seconds(0.0));
  CHECK(model(none).update_cost(1e6).host_operators == 0.0);
  Stack keeps = none;
  keeps.update.gradient_passes = 4;
  keeps.update.gradient_kernels = 2;
  CHECK_THAT(model(keeps).update_cost(1e6).kernel.time.base(), WithinRel(5e-6 + 4e6 / 600e9, 1e-12));
  CHECK(model(keeps).update_cost(1e6).host_operators == 1.0);
}

TEST_CASE("which parameters stand behind a family") {
  const KernelModel own = model();
  CHECK_FALSE(own.transferred());
  for (const KernelFamily family : {KernelFamily::convolution, KernelFamily::gemm, KernelFamily::memory_bound})
    CHECK(own.parameters_of(family).parameters.family == name(family));
  Device bare = board();
  bare.calibration.families.clear();
  const auto borrowed = KernelModel::make(bare, Precision::fp32, stack(), constants());
  REQUIRE(borrowed);
  CHECK(borrowed->transferred());
}
