// 16-bit numbers: what they move, who casts them, and where tensor cores take or lack them.
#include "model/cost/autocast.hpp"
#include "model/cost/board_rates.hpp"
#include "model/cost/kernel_model.hpp"

#include <algorithm>
#include <array>

#include "tests/cost/invented_board.hpp"

using namespace tbdsim;
using namespace tbdsim::invented;

TEST_CASE("16-bit feature maps halve what memory-bound operators move") {
  CHECK(cost(model(stack(), Precision::amp), "norm", Pass::forward).kernel.bytes == Bytes(3 * kMap / 2));
  CHECK(cost(model(), "norm", Pass::forward).kernel.bytes == Bytes(3 * kMap));
}

TEST_CASE("16-bit numbers that are handled one at a time cost more than several at once, and less than 32-bit ones") {
  const Stack plain = changed([](Stack& s) { s.operators.loads.vectorizes_16_bit = false; });
  const auto seconds = [](const Stack& s, Precision precision, const char* name, Pass pass) {
    return cost(model(s, precision), name, pass).kernel.time;
  };
  CHECK(seconds(plain, Precision::fp16, "relu2", Pass::forward) > seconds(stack(), Precision::fp16, "relu2", Pass::forward));
  CHECK(seconds(plain, Precision::fp16, "relu2", Pass::forward) < seconds(stack(), Precision::fp32, "relu2", Pass::forward));
  CHECK(seconds(plain, Precision::fp32, "relu2", Pass::forward) == seconds(stack(), Precision::fp32, "relu2", Pass::forward));
  // Batch norm is the library's, which moves several at once where channels are last.
  CHECK(seconds(plain, Precision::fp16, "norm", Pass::forward) == seconds(stack(), Precision::fp16, "norm", Pass::forward));
  const Stack last = changed([](Stack& s) { s.operators.order.channels_last = true; });
  CHECK(seconds(last, Precision::fp16, "norm", Pass::forward) < seconds(stack(), Precision::fp16, "norm", Pass::forward));
  CHECK(seconds(plain, Precision::fp16, "fc", Pass::backward_data) ==
        seconds(stack(), Precision::fp16, "fc", Pass::backward_data));
}

TEST_CASE("mixed precision runs the loss in fp32: PyTorch's softmax reads 16 bits itself, others cast the logits once") {
  // 10 classes at softmax's share of bandwidth (assumed where a board has no samples of it).
  constexpr double kShare = 0.8, kLogits = 320;
  const NodeCost half = cost(model(stack(), Precision::fp16), "loss", Pass::forward);
  CHECK_THAT(half.kernel.time.base(), WithinRel(5e-6 + 2 * kLogits * 2 / (kShare * 600e9), 1e-12));
  const auto mixed = [](const Stack& s, Pass pass) { return cost(model(s, Precision::amp), "loss", pass); };
  const Stack eager = changed([](Stack& s) { s.host.eager = true; });
  // Forward 2 B read and 4 written; backward the picked entries' gradient written and read, log-softmax read, 2 B written.
  CHECK_THAT(mixed(eager, Pass::forward).kernel.bytes.base(), WithinRel(6 * kLogits, 1e-12));
  CHECK_THAT(mixed(eager, Pass::backward).kernel.bytes.base(), WithinRel(14 * kLogits, 1e-12));
  CHECK(mixed(eager, Pass::forward).kernel.kernels == 1);
  // One cast of 6 B each way, none of the loss itself.
  CHECK_THAT(mixed(stack(), Pass::forward).kernel.time.base(),
             WithinRel(2 * 5e-6 + (2 * 4 / kShare + 6) * kLogits / 600e9, 1e-12));
  CHECK_THAT(mixed(stack(), Pass::backward).kernel.time.base(),
             WithinRel(2 * 5e-6 + (3 * 4 / kShare + 6) * kLogits / 600e9, 1e-12));
  // The loss stays in fp32 where all else is held in 16 bits.
  const Stack held = changed([](Stack& s) { s.host.eager = s.operators.amp.all_16_bit = true; });
  CHECK(mixed(held, Pass::forward).kernel.time == mixed(stack(), Pass::forward).kernel.time);
}

TEST_CASE("autocast casts weights forward and their gradients backward, array by array, where products read them") {
  const Stack eager = changed([](Stack& s) { s.host.eager = true; });
  const Stack held = changed([](Stack& s) { s.host.eager = s.operators.amp.all_16_bit = true; });
  const auto extra = [&](const char* name, Pass pass) {
    const NodeCost casts = cost(model(eager, Precision::amp), name, pass), none = cost(model(held, Precision::amp), name, pass);
    return std::pair{(casts.kernel.time - none.kernel.time).base(), casts.host_operators - none.host_operators};
  };
  const auto [forward, calls] = extra("fc", Pass::forward);
  const double weights = 10.0 * 64 * 28 * 28 + 10;
  CHECK_THAT(forward, WithinRel(2 * 5e-6 + 6 * weights / 600e9, 1e-9));
  CHECK(calls == 2.0);
  const auto [backward, back_calls] = extra("fc", Pass::backward_weights);
  CHECK_THAT(backward, WithinRel(2 * 5e-6 + 6 * weights / 600e9, 1e-9));
  CHECK(back_calls == 2.0);
  CHECK(extra("fc", Pass::backward_data).first == 0.0);
  CHECK(extra("conv", Pass::forward).first > 0.0);
  for (const Pass pass : {Pass::forward, Pass::backward}) CHECK(extra("norm", pass).first == 0.0);
  CHECK(cost(model(eager, Precision::fp16), "fc", Pass::forward).host_operators == 1.0);
}

TEST_CASE("autocast: a table of vectors is cast where words are scored with it, softmax leaves fp32 to what follows") {
  GraphBuilder g("words", "file", "sentence", {16}, 4);
  TensorId x = g.add(OpKind::embedding, {g.input()}, EmbeddingAttributes{1000, 64}, "table");
  x = g.add(OpKind::softmax, {x}, {}, "weights");
  x = g.add(OpKind::dropout, {x}, DropoutAttributes{0.1}, "dropped");
  g.softmax_loss(g.add(OpKind::linear, {x}, LinearAttributes{1000, false, true}, "scores"), "loss");
  const OpGraph graph = std::move(g).finish().value();
  const Stack eager = changed([](Stack& s) {
    s.host.eager = true;
    s.operators.passes.dropout_forward = s.operators.passes.dropout_backward = 2.25;
  });
  const auto forward = [&](const char* name, Precision precision) {
    for (const StepNode& node : training_step(graph).forward)
      if (graph.op(node.op).name == name) return model(eager, precision).cost(graph, node, 4).kernel;
    return KernelTimeModel{};
  };
  constexpr double kNumbers = 4 * 16 * 64;
  CHECK(forward("table", Precision::amp).bytes == Bytes(2 * kNumbers * 4));
  CHECK(forward("weights", Precision::amp).bytes == Bytes(8 * kNumbers));  // rows of the table are fp32
  // fp32 in and out and a byte of mask; the product casts.
  CHECK(forward("dropped", Precision::amp).bytes == Bytes((4 + 4 + 1) * kNumbers));
  CHECK(forward("dropped", Precision::fp16).bytes == Bytes((2 + 2 + 1) * kNumbers));
  const double table = 1000 * 64;
  CHECK_THAT((forward("scores", Precision::amp).bytes - forward("scores", Precision::fp16).bytes).base(),
             WithinRel(6 * (table + kNumbers), 1e-12));
}

TEST_CASE("autocast: what a frozen batch norm scales is fp32, and the next convolution casts it back") {
  GraphBuilder g("block", "file", "image", {8, 4, 4}, 4);
  TensorId x = g.convolution(g.input(), ConvolutionAttributes{8, 1, 1}, "first");
  x = g.relu(g.add(OpKind::multiply, {x}, MultiplyAttributes{false, true}, "scale"), "relu");
  x = g.convolution(x, ConvolutionAttributes{8, 1, 1}, "second");
  g.softmax_loss(g.linear(g.flatten(g.add(OpKind::multiply, {x}, MultiplyAttributes{}, "halved")), 10, "fc"), "loss");
  const OpGraph graph = std::move(g).finish().value();
  const std::vector<Bytes> widths = autocast_widths(graph, Bytes(2.0));
  const auto op = [&](const char* name) -> const Op& {
    return *std::find_if(graph.ops.begin(), graph.ops.end(), [&](const Op& o) { return o.name == name; });
  };
  const auto width = [&](const char* name) { return widths[static_cast<std::size_t>(op(name).output.value)]; };
  for (const char* narrow : {"first", "second", "halved"}) CHECK(width(narrow) == Bytes(2.0));
  for (const char* wide : {"scale", "relu"}) CHECK(width(wide) == Bytes(4.0));
  CHECK(tensor_casts(graph, op("second"), Pass::forward, widths).numbers == 8 * 4 * 4);
  // Autocast's kernel reads 16 bits and the scale; apex casts the map first.
  CHECK(tensor_casts(graph, op("scale"), Pass::forward, widths).kernels == 0);
  CHECK(tensor_casts(graph, op("scale"), Pass::forward, widths, {.copies_promoted = true}).numbers == 8 * 4 * 4);
  CHECK(tensor_casts(graph, op("second"), Pass::forward, widths, {.copies_promoted = true}).numbers == 8 * 4 * 4);
}

TEST_CASE("casts of one element at a time cost more than of several at once, unless a compiler makes them") {
  const auto seconds = [](bool singly, bool compiled) {
    Stack s = stack();
    s.features.casts_weights = true;
    s.operators.loads.casts_singly = singly;
    s.operators.loads.compiles_kernels = compiled;
    return cost(model(s, Precision::amp), "fc", Pass::forward).kernel.time;
  };
  CHECK(seconds(true, false) > seconds(false, false));
  CHECK(seconds(true, true) == seconds(false, true));
}

TEST_CASE("autocast: tensors are as wide as operators leave them, and each product casts for itself") {
  GraphBuilder g("block", "file", "sentence", {16, 64}, 4);
  const TensorId x = g.linear(g.input(), 64, "first", false), y = g.add(OpKind::layer_norm, {x}, {}, "norm");
  const TensorId query = g.linear(y, 64, "query", false), key = g.linear(y, 64, "key", false);
  const TensorId product = g.add(OpKind::multiply, {query, key}, {}, "product");
  const TensorId cube = g.activation(product, ActivationKind::power, "cube");
  const TensorId shares = g.add(OpKind::softmax, {g.add(OpKind::mask, {product}, {}, "mask")}, {}, "softmax");
  const TensorId sum = g.plus(shares, g.plus(g.add(OpKind::mask, {product}, {}, "pass"), cube, "sum_before"), "sum");
  g.softmax_loss(g.linear(g.plus(g.add(OpKind::mask, {query}, MaskAttributes{true}, "select"), sum, "add"), 10, "fc", false),
                 "loss");
  const OpGraph graph = std::move(g).finish().value();
  const std::vector<Bytes> widths = autocast_widths(graph, Bytes(2.0));
  const auto op = [&](const char* name) -> const Op& {
    return *std::find_if(graph.ops.begin(), graph.ops.end(), [&](const Op& o) { return o.name == name; });
  };
  const auto width = [&](const char* name) { return widths[static_cast<std::size_t>(op(name).output.value)]; };
  for (const char* narrow : {"first", "query", "product", "pass", "select", "fc"}) CHECK(width(narrow) == Bytes(2.0));
  for (const char* wide : {"norm", "cube", "mask", "sum", "add", "loss"}) CHECK(width(wide) == Bytes(4.0));
  const auto casts = [&](const char* name, Pass pass) { return tensor_casts(graph, op(name), pass, widths); };
  constexpr double kNumbers = 16 * 64;
  for (const char* product_of_norm : {"query", "key"}) {
    CHECK(casts(product_of_norm, Pass::forward).numbers == kNumbers);
    CHECK(casts(product_of_norm, Pass::backward_data).numbers == kNumbers);
    CHECK(casts(product_of_norm, Pass::backward_weights).kernels == 0);
  }
  // A norm that narrows what it reads (apex's) writes 16 bits, which products read as they are.
  constexpr AutocastHabits kApex{.narrow_norms = true};
  const std::vector<Bytes> apex = autocast_widths(graph, Bytes(2.0), kApex);
  CHECK(apex[static_cast<std::size_t>(op("norm").output.value)] == Bytes(2.0));
  CHECK(tensor_casts(graph, op("norm"), Pass::forward, apex, kApex).kernels == 0);  // its input is narrow
  CHECK(tensor_casts(graph, op("query"), Pass::forward, apex, kApex).kernels == 0);
  CHECK(casts("norm", Pass::forward).kernels == 1);   // its input
  CHECK(casts("norm", Pass::backward).kernels == 1);  // the gradient of it
  CHECK(casts("cube", Pass::forward).kernels == 1);
  // Sums promote as they read; the gradient of a narrow summand is cast.
  CHECK(casts("add", Pass::forward).kernels == 0);
  CHECK(casts("add", Pass::backward).kernels == 1);
  CHECK(casts("sum", Pass::backward).kernels == 0);
  CHECK(casts("mask", Pass::backward).kernels == 1);
  CHECK(casts("select", Pass::backward).kernels == 0);
  CHECK(casts("loss", Pass::forward).kernels == 0);
  const Stack eager = changed([](Stack& s) { s.host.eager = true; });
  const auto bytes = [&](const char* name, Precision precision) {
    for (const StepNode& node : training_step(graph).forward)
      if (graph.op(node.op).name == name) return model(eager, precision).cost(graph, node, 4).kernel.bytes;
    return Bytes(0.0);
  };
  CHECK(bytes("add", Precision::amp) == Bytes(4 * kNumbers * (2 + 4 + 4)));
  CHECK(bytes("norm", Precision::amp) - bytes("norm", Precision::fp32) == Bytes(4 * kNumbers * 6));
}

TEST_CASE("16 bits: kernels that compute in fp32 where they are faster or tensor cores have none") {
  Device weak = board();
  weak.peak.fp16_tensor = FlopPerSecond(1e12);
  const auto slow = KernelModel::make(weak, Precision::fp16, stack(), constants());
  REQUIRE(slow);
  // Tensor cores slower than the lanes serve nothing, and nothing is turned around for them.
  for (const char* name : {"conv", "fc"}) {
    const NodeCost plain = cost(*slow, name, Pass::forward);
    CHECK_FALSE(plain.tensor_core);
    CHECK(plain.kernel.time < cost(model(), name, Pass::forward).kernel.time);
  }
  // Fused Winograd, FFT and direct kernels exist for vector lanes only.
  const Stack fused = changed([](Stack& s) { s.convolution.forward = {ConvolutionAlgorithm::winograd_fused}; });
  const NodeCost chosen = cost(model(fused, Precision::fp16), "conv", Pass::forward);
  CHECK(chosen.tensor_core == (chosen.algorithm == ConvolutionAlgorithm::implicit_gemm));
  GraphBuilder g("depthwise", "file", "image", {64, 28, 28}, 4);
  const TensorId x = g.convolution(g.convolution(g.input(), {64, 3, 3, 1, 1, 1, 1, 1, 64, false}, "thin"),
                                   {64, 3, 3, 1, 1, 1, 1, 1, 64, false}, "deep");
  g.softmax_loss(g.linear(g.flatten(x, "flat"), 10, "fc"), "loss");
  const OpGraph graph = std::move(g).finish().value();
  const TrainingStep step = training_step(graph);
  for (const auto* part : {&step.forward, &step.backward}) {
    for (const StepNode& node : *part) {
      if (node.op != OpId{2}) continue;
      const NodeCost half = model(stack(), Precision::fp16).cost(graph, node, 32), single = model().cost(graph, node, 32);
      CHECK(half.algorithm == ConvolutionAlgorithm::direct);
      CHECK_FALSE(half.tensor_core);
      CHECK(half.kernel.time < single.kernel.time);
      CHECK(half.kernel.kernels == 1);
    }
  }
}

TEST_CASE("cuDNN 7 runs convolutions of groups, dilated ones and, before 7.3, odd channels on vector lanes") {
  GraphBuilder g("kinds", "file", "image", {64, 28, 28}, 4);
  TensorId x = g.convolution(g.input(), {64, 3, 3, 1, 1, 1, 1, 1, 1, false}, "plain");
  x = g.convolution(x, {64, 3, 3, 1, 1, 1, 1, 1, 2, false}, "groups");
  x = g.convolution(x, {64, 3, 3, 1, 1, 2, 2, 2, 1, false}, "dilated");
  x = g.convolution(x, {60, 3, 3, 1, 1, 1, 1, 1, 1, false}, "odd");
  g.softmax_loss(g.linear(g.flatten(x, "flat"), 10, "fc"), "loss");
  const OpGraph graph = std::move(g).finish().value();
  const auto on_tensor_cores = [&](const char* library, const char* name) {
    Stack s = stack();
    s.convolution.name = library;
    s.convolution.generation = std::string(library).substr(0, 7) == "cudnn-7" ? "cudnn7" : "lib";
    KernelConstants known = constants();
    known.convolution["cudnn7"] = known.convolution["cudnn7-tensor"] = known.convolution["lib"];
    const KernelModel kernels = KernelModel::make(board(), Precision::fp16, s, known).value();
    const TrainingStep step = training_step(graph);
    int lanes = 0, cores = 0;
    for (const auto* part : {&step.forward, &step.backward})
      for (const StepNode& node : *part)
        if (graph.op(node.op).name == name) ++(kernels.cost(graph, node, 32).tensor_core ? cores : lanes);
    REQUIRE((lanes == 0 || cores == 0));
    return cores > 0;
  };
  for (const char* library : {"cudnn-7.0.5", "cudnn-7.1", "cudnn-7.3", "cudnn-7.6.5", "cudnn-8.0"}) {
    INFO(library);
    const bool eight = std::string(library) == "cudnn-8.0", pads = eight || std::string(library) >= "cudnn-7.3";
    CHECK(on_tensor_cores(library, "plain"));
    CHECK(on_tensor_cores(library, "groups") == eight);
    CHECK(on_tensor_cores(library, "dilated") == eight);
    CHECK(on_tensor_cores(library, "odd") == pads);
  }
}

TEST_CASE("convolutions on tensor cores turn around what they read unless its channels are last") {
  const Stack last = changed([](Stack& s) { s.operators.order.channels_last = true; });
  const auto extra = [&](Pass pass, Precision precision) {
    return (cost(model(stack(), precision), "conv", pass).kernel.time - cost(model(last, precision), "conv", pass).kernel.time)
        .base();
  };
  // 32 maps of 64 x 28 x 28 in and out, 2 B each, read and written one number at a time.
  const KernelRates rates = kernel_rates(board(), board().peak.fp32, ideal("memory_bound", "fp32"), "fp32");
  const auto turned = [&](double maps) { return single_access_time(Bytes(maps * kMap), Bytes(2.0), 1.0, rates).time.base(); };
  CHECK_THAT(extra(Pass::forward, Precision::fp16), WithinRel(turned(1), 1e-9));
  CHECK_THAT(extra(Pass::backward_weights, Precision::fp16), WithinRel(turned(2), 1e-9));
  CHECK(extra(Pass::forward, Precision::fp32) == 0.0);
}

TEST_CASE("PyTorch norms batches by kernels of its own where the weights have 16 bits") {
  const Stack torch = changed([](Stack& s) {
    s.framework = Framework::pytorch;
    s.host.eager = true;
  });
  const Stack other = changed([](Stack& s) {
    s.framework = Framework::mxnet;
    s.host.eager = true;
  });
  const auto norm = [](const Stack& s, Precision precision, Pass pass) { return cost(model(s, precision), "norm", pass).kernel; };
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const bool forward = pass == Pass::forward;
    const KernelTimeModel own = norm(torch, Precision::fp16, pass), library = norm(other, Precision::fp16, pass);
    // 32 x 64 x 28 x 28: 64 blocks, a thread in 32 x 2 turns of 400 cycles.
    const KernelRates rates = kernel_rates(board(), board().peak.fp32, ideal("memory_bound", "fp32"), "fp32");
    const double waits = 32.0 * 2.0 * 400.0 / rates.clock.base(), moving = (library.time - library.launch).base();
    const double expected = forward ? 5e-6 + std::max(moving / 3.0, waits) + 2.0 / 3.0 * moving
                                    : std::max(0.4 * moving, waits) + std::max(0.6 * moving, waits);
    CHECK_THAT((own.time - library.launch).base(), WithinRel(expected, 1e-9));
    CHECK(own.kernels == library.kernels + (forward ? 1 : 0));
    // Weights of 32 bits are the library's.
    CHECK(norm(torch, Precision::fp32, pass).time == norm(other, Precision::fp32, pass).time);
    CHECK(norm(torch, Precision::amp, pass).kernels == norm(other, Precision::amp, pass).kernels);
  }
}

TEST_CASE("gradients of an array that several operators share are summed use by use") {
  GraphBuilder g("shared", "file", "vector", {64}, 4);
  TensorId x = g.linear(g.input(), 64, "first");
  g.set_weights(GraphBuilder::Weights::shared);
  x = g.linear(x, 64, "second");
  g.set_weights(GraphBuilder::Weights::own);
  g.softmax_loss(g.linear(x, 10, "fc"), "loss");
  const OpGraph graph = std::move(g).finish().value();
  const Stack eager = changed([](Stack& s) { s.host.eager = true; });
  const auto weights = [&](const Stack& s, const char* name) {
    for (const StepNode& node : training_step(graph).backward)
      if (graph.op(node.op).name == name && node.pass == Pass::backward_weights) return model(s).cost(graph, node, 32).kernel;
    return KernelTimeModel{};
  };
  constexpr double kArray = 64.0 * 64.0 + 64.0;
  CHECK_THAT((weights(eager, "second").time - weights(stack(), "second").time).base(),
             WithinRel(2 * 5e-6 + 3 * 4 * kArray / 600e9, 1e-9));
  CHECK(weights(eager, "first").time == weights(stack(), "first").time);
}

TEST_CASE("a board's own samples of batch norm say how many instructions its 16-bit numbers take") {
  Device measured = board();
  measured.calibration.families.push_back(ideal("single_access", "fp16"));
  measured.calibration.families.back().compute_efficiency = kFewestInstructions / 60.0;
  KernelRates rates = kernel_rates(board(), board().peak.fp32, ideal("memory_bound", "fp32"), "fp32");
  const auto moved = [&](const Device& device) {
    return cost(KernelModel::make(device, Precision::fp16, stack(), constants()).value(), "norm", Pass::forward).kernel.time;
  };
  const Bytes bytes(stack().operators.passes.batch_norm_forward * kMap / 2.0);
  CHECK_THAT(moved(board()).base(), WithinRel(single_access_time(bytes, Bytes(2.0), 1.0, rates).time.base(), 1e-9));
  rates.issue_share = kFewestInstructions / 60.0;
  CHECK_THAT(moved(measured).base(), WithinRel(single_access_time(bytes, Bytes(2.0), 1.0, rates).time.base(), 1e-9));
  CHECK(moved(measured) > moved(board()));
}

namespace {

/// One linear layer over sentences of 197 tokens, as a ViT has them with its class token.
OpGraph tokens(std::int64_t inputs, std::int64_t outputs) {
  GraphBuilder g("tokens", "file", "sentence", {197, inputs}, 4);
  const TensorId x = g.linear(g.input(), inputs, "first", false);
  g.softmax_loss(g.linear(x, outputs, "layer", false), "loss");
  return std::move(g).finish().value();
}

NodeCost layer_cost(const OpGraph& graph, Pass pass, double batch, const char* cuda) {
  Device d = board();
  d.peak.fp16_tensor = FlopPerSecond(400e12);
  d.boost_clock = Hertz(1.25e9);
  d.memory_bandwidth = BytesPerSecond(60e12);
  Stack s = stack();
  s.cuda = cuda;
  const KernelModel kernels = KernelModel::make(d, Precision::fp16, s, constants()).value();
  const TrainingStep step = training_step(graph);
  for (const auto* part : {&step.forward, &step.backward})
    for (const StepNode& node : *part)
      if (node.pass == pass && graph.op(node.op).name == "layer") return kernels.cost(graph, node, batch);
  FAIL("no such node");
  return {};
}

double body(const NodeCost& cost) { return (cost.kernel.time - cost.kernel.launch).base(); }

}  // namespace

TEST_CASE("16-bit rows of odd length, from CUDA 11 on: odd features are slow in every pass, an odd number of tokens in none") {
  // The worked example of model/cost/README.md: 400 TFLOP/s against 1,024 FLOP x 80 multiprocessors x 1.25 GHz.
  const double ratio = body(layer_cost(tokens(4096, 4097), Pass::forward, 64, "12.1")) /
                       body(layer_cost(tokens(4096, 4100), Pass::forward, 64, "12.1"));
  CHECK_THAT(ratio, WithinRel(3.90625, 1e-3));
  const double pairs = body(layer_cost(tokens(4096, 4098), Pass::forward, 64, "12.1")) /
                       body(layer_cost(tokens(4096, 4100), Pass::forward, 64, "12.1"));
  CHECK_THAT(pairs, WithinRel(3.90625 / 2.0, 1e-3));
  const OpGraph even = tokens(1024, 4096), odd = tokens(1024, 4095);
  for (const Pass pass : {Pass::forward, Pass::backward_data, Pass::backward_weights}) {
    const double sample = body(layer_cost(even, pass, 64, "11.0")) / 64;
    for (const double batch : {63.0, 65.0})  // waves of tiles differ by a tenth at most
      CHECK_THAT(body(layer_cost(even, pass, batch, "11.0")) / batch, WithinRel(sample, 0.1));
    CHECK(body(layer_cost(odd, pass, 64, "11.0")) / 64 > 3.5 * sample);
    CHECK(layer_cost(odd, pass, 64, "11.0").tensor_core);
  }
}

TEST_CASE("before CUDA 11 all three dimensions of a product on tensor cores are multiples of eight, tokens too") {
  const OpGraph even = tokens(1024, 4096);
  for (const auto& [batch, whole] : {std::pair{63.0, false}, {64.0, true}, {68.0, false}, {72.0, true}}) {
    CHECK(layer_cost(even, Pass::backward_weights, batch, "10.2").tensor_core == whole);
    CHECK(layer_cost(even, Pass::forward, batch, "10.2").tensor_core);
    CHECK(layer_cost(even, Pass::backward_weights, batch, "11.0").tensor_core);
  }
  CHECK_FALSE(layer_cost(tokens(1024, 4092), Pass::forward, 64, "10.2").tensor_core);
}
