// Divided networks against the formulas of the papers that divide them: what a layer keeps, what states take, what travels along
// each axis, what a pipeline idles. Long because each formula has its own layouts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/prediction/predict.hpp"
#include "model/workload/array_owners.hpp"
#include "tests/catch.hpp"
#include "tests/predicted.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

// A GPT of 1024 positions: s, h, a, f = 4h and V of the formulas; b samples a micro-batch.
constexpr double s = 1024, h = 2048, a = 16, b = 2, vocabulary = 50256;

PredictOptions gpt(int layers, int gpus = 8, const char* stack = "megatron-lm-2022") {
  PredictOptions options;
  options.hardware = "dgx-a100-80gb";
  options.model = fmt::format("{}/scenarios/layouts/networks/gpt-h2048-l{}-50256.toml", TBDSIM_SOURCE_DIR, layers);
  options.stack = stack;
  options.precision = "fp16";
  options.optimizer = "adam";
  options.gpus = gpus;
  options.nodes = (gpus + 7) / 8;
  options.batch = static_cast<int>(b);
  return options;
}

const AxisTraffic& along(const Prediction& p, Axis axis) {
  const auto found = std::find_if(p.division.communication.begin(), p.division.communication.end(),
                                  [&](const AxisTraffic& t) { return t.axis == axis; });
  REQUIRE(found != p.division.communication.end());
  return *found;
}

/// Bytes that a layer keeps for backward, over s b h.
template <class Change>
double kept_by_layer(Change change) {
  double bytes[2] = {};
  for (const int layers : {20, 24}) {
    PredictOptions options = gpt(layers);
    options.tensor_parallel = 8;
    change(options);
    bytes[layers == 24] = predicted(options).memory.gpus.front().parts[MemoryPart::feature_maps].base();
  }
  return (bytes[1] - bytes[0]) / 4.0 / (s * b * h);
}

/// fp32 mean and deviation of two norms for each position: the papers leave them out.
constexpr double kNorms = 16.0 / h;

}  // namespace

// Source: arXiv:2205.05198, table 2.
TEST_CASE("a layer keeps what Korthikanti et al. count: plain, sequence parallel, selective and full recomputation") {
  const double t = 8, scores = 5.0 * a * s / h;
  CHECK_THAT(kept_by_layer([](PredictOptions& o) { o.sequence_parallel = "off"; }),
             WithinAbs(10.0 + 24.0 / t + scores / t + kNorms, 1e-9));
  CHECK_THAT(kept_by_layer([](PredictOptions&) {}), WithinAbs((34.0 + scores + kNorms) / t, 1e-9));
  CHECK_THAT(kept_by_layer([](PredictOptions& o) { o.tensor_parallel = 4; }), WithinAbs((34.0 + scores + kNorms) / 4.0, 1e-9));
  CHECK_THAT(kept_by_layer([](PredictOptions& o) { o.recompute = "selective"; }), WithinAbs((34.0 + kNorms) / t, 1e-9));
  CHECK_THAT(kept_by_layer([](PredictOptions& o) {
               o.recompute = "selective";
               o.sequence_parallel = "off";
             }),
             WithinAbs(10.0 + 24.0 / t + kNorms, 1e-9));
  // Only each layer's input, and under sequence parallelism this rank's positions of it.
  CHECK_THAT(kept_by_layer([](PredictOptions& o) {
               o.recompute = "layer";
               o.sequence_parallel = "off";
             }),
             WithinAbs(2.0, 1e-9));
  CHECK_THAT(kept_by_layer([](PredictOptions& o) { o.recompute = "layer"; }), WithinAbs(2.0 / t, 1e-9));
  // One operator for attention keeps a row sum of 4 bytes for each head and position (arXiv:2205.14135); the context is kept as
  // it leaves the kernel and as it is packed for the next product, 2 bytes more than in Megatron's own layer.
  CHECK_THAT(kept_by_layer([](PredictOptions& o) { o.attention = "flash-2"; }),
             WithinAbs((34.0 + 2.0 + 4.0 * a / h + kNorms) / t, 1e-9));
}

// Sources: megatron/training/theoretical_memory_usage.py of NVIDIA/Megatron-LM; arXiv:1910.02054.
TEST_CASE("weights, gradients and states take 18 bytes a parameter, with sharding 6 + 12/d, 2 + 16/d and 18/d") {
  for (const int d : {8, 16}) {
    INFO(d);
    const auto bytes = [&](int zero) {
      PredictOptions options = gpt(24, d);
      options.recompute = "layer";
      options.zero = zero;
      const Prediction p = predicted(options);
      const MemoryParts& parts = p.memory.gpus.front().parts;
      return (parts[MemoryPart::weights] + parts[MemoryPart::gradients] + parts[MemoryPart::optimizer_state]).base() /
             static_cast<double>(p.work.parameters);
    };
    CHECK_THAT(bytes(0), WithinRel(18.0, 1e-3));
    CHECK_THAT(bytes(1), WithinRel(6.0 + 12.0 / d, 1e-3));
    CHECK_THAT(bytes(2), WithinRel(2.0 + 16.0 / d, 1e-3));
    // Above it what is gathered: the largest unit, here the table of words, and the next one (prefetch), 16 bits an element.
    const double unit = (vocabulary + s) * h, layer = 12.0 * h * h, parameters = 24.0 * layer + unit;
    CHECK(bytes(3) >= 18.0 / d);
    CHECK(bytes(3) <= 18.0 / d + 2.0 * (2.0 * unit + 2.0 * layer) / parameters);
  }
}

// Experts have d t c/(e t_e) copies, over which their states are divided; the states of all GPUs are those of the network once.
TEST_CASE("states of experts are divided over the copies of an expert, so that all ranks together hold 8 bytes a parameter") {
  constexpr double kParameters = 46702792704, kState = 8.0;
  PredictOptions options;
  options.hardware = "dgx-h100";
  options.model = "mixtral-8x7b";
  options.stack = "megatron-core-0.14";
  options.precision = "bf16";
  options.optimizer = "adam";
  options.seq_len = 2048;
  options.gpus = 8;
  options.zero = 1;
  Seconds update(0.0);
  for (const int e : {1, 2, 4, 8}) {
    INFO("expert parallel " << e);
    options.expert_parallel = e;
    const Prediction prediction = predicted(options);
    const Bytes states = prediction.memory.gpus.front().parts[MemoryPart::optimizer_state];
    CHECK_THAT(8.0 * states.base(), WithinRel(kState * kParameters, 1e-9));
    // As many elements are updated.
    const Seconds took = prediction.phases.weight_update;
    if (e > 1) CHECK_THAT(took.base(), WithinRel(update.base(), 0.01));
    update = took;
  }
  // Beside tensor parallelism the norms alone have more copies.
  options.tensor_parallel = 2;
  options.expert_tensor_parallel = 1;
  for (const int e : {2, 4, 8}) {
    INFO("tensor parallel 2, expert parallel " << e);
    options.expert_parallel = e;
    const Bytes states = predicted(options).memory.gpus.front().parts[MemoryPart::optimizer_state];
    CHECK_THAT(8.0 * states.base(), WithinRel(kState * kParameters, 1e-4));
  }
}

// Sources: deepspeed/runtime/zero/stage_1_and_2.py; InternLM hybrid_zero_optim.py; Megatron-Bridge: grad_reduce_in_fp32 = False.
TEST_CASE("gradients that are summed in 16 bits take 2 bytes a parameter, and a bucket beside them where they are copied") {
  PredictOptions options;
  options.hardware = "dgx-h100";
  options.model = "llama-3-8b";
  options.precision = "bf16";
  options.optimizer = "adam";
  options.gpus = 8;
  options.zero = 1;
  options.accumulate = 4;
  const auto part = [&](const char* stack, MemoryPart which) {
    options.stack = stack;
    return predicted(options).memory.gpus.front().parts[which].base();
  };
  constexpr double kParameters = 8030261248;
  for (const char* stack : {"deepspeed-0.14", "megatron-bridge-0.1", "megatron-deepspeed-2022", "internevo-0.2"}) {
    INFO(stack);
    CHECK_THAT(part(stack, MemoryPart::gradients), WithinRel(2.0 * kParameters, 1e-9));
  }
  CHECK_THAT(part("megatron-core-0.14", MemoryPart::gradients), WithinRel(4.0 * kParameters, 1e-9));
  CHECK_THAT(part("deepspeed-0.14", MemoryPart::exchange), WithinRel(1e9, 1e-9));
  CHECK_THAT(part("internevo-0.2", MemoryPart::exchange), WithinRel(1024.0 * 1024.0 * 1024.0, 1e-9));
}

// Sources: Megatron-LM, mpu/cross_entropy.py (in place); aten NLLLoss.cu (one array more); DeepSpeed, pipe/engine.py.
TEST_CASE("a loss holds the scores that it keeps, their gradient and what its framework makes besides") {
  PredictOptions options = gpt(24);
  options.tensor_parallel = 1;
  const auto held = [&](const char* arrays) {
    options.set = {std::string("stack.memory.loss_arrays=") + arrays};
    const GpuMemory gpu = predicted(options).memory.gpus.front();
    return (gpu.parts[MemoryPart::feature_maps] + gpu.parts[MemoryPart::dynamic]).base();
  };
  options.recompute = "layer";
  options.batch = 16;
  const double array = 4.0 * 16.0 * s * vocabulary;
  CHECK_THAT(held("4") - held("3"), WithinRel(array, 1e-9));
}

// FlashAttention 2 is around twice as fast as 1: arXiv:2307.08691, abstract.
TEST_CASE("FlashAttention 1 is never faster than FlashAttention 2, and takes about twice as long where products bound it") {
  PredictOptions options;
  options.hardware = "dgx-a100-80gb";
  options.model = "llama-2-7b";
  options.stack = "internevo-0.2";
  options.precision = "bf16";
  options.detail = true;
  const auto attention = [&](const char* kernel) {
    options.attention = kernel;
    Seconds time(0.0);
    for (const LayerTime& layer : predicted(options).detail.layers)
      if (layer.kind == "attention") time += layer.forward + layer.backward_data + layer.backward_weights;
    return time;
  };
  for (const int length : {128, 512, 2048, 8192, 32768}) {
    INFO(length);
    options.seq_len = length;
    const double ratio = attention("flash-1") / attention("flash-2");
    CHECK(ratio >= 1.0);
    CHECK(ratio <= 2.0);
    if (length >= 2048) CHECK(ratio >= 1.8);
  }
}

// Source: arXiv:2412.19437, section 3.2.1: a forward and a backward that run together hide each other's exchange of experts.
TEST_CASE("DualPipe hides the exchange of experts in joined pairs alone: of m passes, m - p - 1 on a middle rank") {
  PredictOptions options;
  options.hardware = "dgx-h100";
  options.model = "mixtral-8x7b";
  options.stack = "megatron-core-0.14";
  options.precision = "bf16";
  options.batch = 1;
  options.seq_len = 4096;
  options.gpus = 32;
  options.nodes = 4;
  options.expert_parallel = 8;
  options.pipeline_parallel = 4;
  options.schedule = "dualpipe";
  for (const int m : {8, 16, 64}) {
    INFO(m);
    options.accumulate = m;
    const Prediction prediction = predicted(options);
    const AxisTraffic& experts = along(prediction, Axis::expert);
    // The rank that is told is one of the outer or of the middle ones: m - 3p/2 + 1 or m - p - 1 pairs; kernels outlast its
    // calls.
    const double outer = (m - 1.5 * 4 + 1) / m, middle = (m - 4 - 1.0) / m, shown = experts.exposed / experts.time;
    CHECK((std::abs(shown - (1.0 - outer)) < 1e-6 || std::abs(shown - (1.0 - middle)) < 1e-6));
  }
}

// Source: InternLM, hybrid_zero_optim.py, _partition_param_list and broadcast_params.
TEST_CASE("owners of whole arrays: no more than arrays, and the largest of them decides update and states") {
  ArraySizes sizes;
  sizes.add(4.0, 3);
  sizes.add(10.0);
  CHECK(array_owners(sizes, 2) == std::vector<double>{12.0, 10.0});
  CHECK(array_owners(sizes, 3) == std::vector<double>{10.0, 8.0, 4.0});
  CHECK(array_owners(sizes, 64) == std::vector<double>{10.0, 4.0, 4.0, 4.0});
  PredictOptions options;
  options.hardware = std::string(TBDSIM_SOURCE_DIR) + "/scenarios/layouts/systems/a100-4x100g-roce.toml";
  options.model = std::string(TBDSIM_SOURCE_DIR) + "/scenarios/layouts/networks/internlm-7b.toml";
  options.stack = "internevo-0.2-all-ranks";
  options.precision = "bf16";
  options.optimizer = "adam";
  const auto states = [&](int gpus) {
    options.gpus = gpus;
    options.nodes = gpus / 8;
    return predicted(options).memory.gpus.front().parts[MemoryPart::optimizer_state];
  };
  // Two fp32 states of the table of words, its largest array; beyond there is nothing to divide.
  const Bytes table = 8.0 * Bytes(103168.0 * 4096.0);
  CHECK_THAT(states(256).base(), WithinRel(table.base(), 1e-9));
  CHECK_THAT(states(1024).base(), WithinRel(table.base(), 1e-9));
  CHECK(states(8) > 1.9 * table);
}

TEST_CASE("what travels along axes and the wait for the slowest GPU add up to the exposed exchange") {
  for (const char* stack : {"megatron-lm-2022", "fsdp2-2.6", "internevo-0.2", "deepspeed-0.14"}) {
    INFO(stack);
    PredictOptions options = gpt(24, 16, stack);
    if (std::string(stack) == "megatron-lm-2022") options.tensor_parallel = 4;
    const Prediction prediction = predicted(options);
    Seconds sum = prediction.division.wait;
    for (const AxisTraffic& traffic : prediction.division.communication) {
      sum += traffic.exposed;
      CHECK(traffic.exposed <= traffic.time * (1.0 + 1e-9));
    }
    CHECK(prediction.phases.exchange_exposed <= prediction.phases.exchange_total * (1.0 + 1e-9));
    CHECK(prediction.division.wait > Seconds(0.0));
    CHECK_THAT(sum.base(), WithinRel(prediction.phases.exchange_exposed.base(), 1e-9));
  }
}

// InternEvo copies gradients into buckets and back before anything else runs (stack file: bucket_copies).
TEST_CASE("copies of gradients into buckets are part of the exchange and of what is waited for of it") {
  for (const int gpus : {8, 16}) {
    INFO(gpus);
    PredictOptions options = gpt(24, gpus, "internevo-0.2");
    const AxisTraffic once = along(predicted(options), Axis::data);
    options.set = {"stack.parallel.bucket_copies=2x"};
    const AxisTraffic twice = along(predicted(options), Axis::data);
    CHECK(twice.exposed > once.exposed);
    CHECK(twice.exposed <= twice.time * (1.0 + 1e-9));
    CHECK_THAT((twice.time - once.time).base(), WithinRel((twice.exposed - once.exposed).base(), 1e-3));
  }
}

TEST_CASE("the collectives of the data axis are those that the stack calls") {
  const auto kind = [](const char* stack, int zero) {
    PredictOptions options = gpt(24, 8, stack);
    options.zero = zero;
    return along(predicted(options), Axis::data).kind;
  };
  CHECK(kind("internevo-0.2", 1) == "all-reduce, broadcast");
  CHECK(kind("megatron-lm-2022", 0) == "all-reduce");
  CHECK(kind("megatron-lm-2022", 1) == "all-gather, reduce-scatter");
  CHECK(kind("fsdp2-2.6", 2) == "all-gather, reduce-scatter");
  CHECK(kind("fsdp2-2.6", 3) == "all-gather, reduce-scatter");
}

TEST_CASE("frozen weights are gathered as others are, and have no gradient to scatter") {
  PredictOptions options = gpt(24, 8, "fsdp2-2.6");
  options.model = "gpt2";
  options.precision = "bf16";
  options.zero = 3;
  const Prediction trained = predicted(options);
  options.set = {"model.layer.3.feed_forward.linear1.weights=frozen"};
  const Prediction frozen = predicted(options);
  const double elements = 768.0 * 3072 + 3072, fp32 = 4.0, share = 7.0 / 8.0;
  CHECK(trained.work.parameters - frozen.work.parameters == static_cast<std::int64_t>(elements));
  CHECK_THAT((along(trained, Axis::data).bytes - along(frozen, Axis::data).bytes).base(),
             WithinRel(elements * fp32 * share, 1e-9));
}

// Source: arXiv:2205.05198, section 4.2.2; arXiv:1909.08053 without sequence parallelism.
TEST_CASE("tensor parallelism moves 4 all-reduces a layer, or as many gathers and scatters and what backward gathers again") {
  for (const int t : {2, 4, 8}) {
    INFO(t);
    PredictOptions options = gpt(20, t);
    options.tensor_parallel = t;
    const double message = 2.0 * s * b * h, share = (t - 1.0) / t;
    // A layer: forward 2 + 2, backward 2 + 2, and 2 gathers again. The table of words: a scatter, and a gather in backward. The
    // head: a gather, its scatter in backward, and a gather again.
    CHECK_THAT(along(predicted(options), Axis::tensor).bytes.base(),
               WithinRel(share * message * (20.0 * 10.0 + 2.0 + 3.0), 1e-9));
    options.accumulate = 3;
    CHECK_THAT(along(predicted(options), Axis::tensor).bytes.base(),
               WithinRel(3.0 * share * message * (20.0 * 10.0 + 2.0 + 3.0), 1e-9));
    options.accumulate.reset();
    // A layer: forward 2, backward 2; the table of words one, the head one in backward.
    options.sequence_parallel = "off";
    CHECK_THAT(along(predicted(options), Axis::tensor).bytes.base(), WithinRel(2.0 * share * message * (20.0 * 4.0 + 2.0), 1e-9));
  }
}

// Source: NVIDIA/TransformerEngine, pytorch/module: casts come before gathers; sums are of 16 bits.
TEST_CASE("products in 8 bits halve what the tensor axis gathers for them: 7 of 10 parts of a layer, 8 with scales of blocks") {
  PredictOptions options;
  options.hardware = "dgx-b200";
  options.model = "llama-3-8b";  // 32 layers
  options.stack = "megatron-core-0.14";
  options.gpus = 8;
  options.batch = 1;
  options.seq_len = 8192;
  options.tensor_parallel = 8;
  const auto bytes = [&](const char* precision) {
    options.precision = precision;
    return along(predicted(options), Axis::tensor).bytes.base();
  };
  // The table of words and the head stay in 16 bits: 2 and 3 parts.
  const double plain = 32.0 * 10.0 + 5.0, block = 1.0 + 1.0 / 32.0;
  CHECK_THAT(bytes("fp8") / bytes("bf16"), WithinRel((32.0 * 7.0 + 5.0) / plain, 1e-9));
  CHECK_THAT(bytes("mxfp8") / bytes("bf16"), WithinRel((32.0 * (4.0 + 4.0 * block / 2.0 + 2.0 * block) + 5.0) / plain, 1e-9));
  options.recompute = "layer";  // forward once more: 10 of 14
  CHECK(bytes("fp8") < 0.75 * bytes("bf16"));
  options.recompute.clear();
  options.set = {"stack.parallel.eight_bit_gathers=none"};
  CHECK_THAT(bytes("fp8") / bytes("bf16"), WithinRel(1.0, 1e-9));
  options.set.clear();
  // torchao gathers 8 bits of its own recipe alone. What is gathered is kept for backward: 8 parts of a layer, the head has 2.
  options.stack = "fsdp2-2.6-compile";
  CHECK_THAT(bytes("fp8") / bytes("bf16"), WithinRel((32.0 * 6.0 + 4.0) / (32.0 * 8.0 + 4.0), 1e-9));
  CHECK_THAT(bytes("mxfp8") / bytes("bf16"), WithinRel(1.0, 1e-9));
  options.stack = "megatron-core-0.14";
  // All-reduces are sums.
  options.sequence_parallel = "off";
  CHECK_THAT(bytes("fp8") / bytes("bf16"), WithinRel(1.0, 1e-9));
}

// Source: arXiv:2310.01889.
TEST_CASE("context parallelism passes keys and values round: once forward, and with their gradients twice backward") {
  PredictOptions options;
  options.hardware = "dgx-h100";
  options.model = "llama-3.2-1b";
  options.stack = "megatron-core-0.8";
  options.precision = "bf16";
  options.batch = 1;
  options.seq_len = 8192;
  constexpr double length = 8192, groups = 8, width = 64, layers = 16;
  for (const int c : {2, 4, 8})
    for (const int t : {1, 2}) {
      if (t * c > 8) continue;
      INFO(c << " x " << t);
      options.context_parallel = c;
      options.tensor_parallel = t;
      const double once = (c - 1.0) * 4.0 * length / c * groups * width / t;
      CHECK_THAT(along(predicted(options), Axis::context).bytes.base(), WithinRel(3.0 * layers * once, 1e-9));
    }
}

// Where positions follow samples in memory, each call of sequence parallelism has a kernel that reads and writes what is
// gathered, or what is divided: four forward and four backward for a layer.
TEST_CASE("the tensor axis copies what it gathers and what it divides once for each of a layer's eight calls") {
  const auto longer = [](int layers, int batch) {
    PredictOptions options = gpt(layers, 8, "fsdp2-2.6");
    options.precision = "bf16";
    options.tensor_parallel = 8;
    options.batch = batch;
    const Prediction copied = predicted(options);
    options.set = {"stack.parallel.copies_positions=false"};
    const Prediction plain = predicted(options);
    CHECK_THAT(along(copied, Axis::tensor).bytes.base(), WithinRel(along(plain, Axis::tensor).bytes.base(), 1e-12));
    return copied.step_time.value - plain.step_time.value;
  };
  const auto layer = [&](int batch) { return (longer(24, batch) - longer(20, batch)) / 4.0; };
  constexpr double kCalls = 8.0, kPasses = 2.0;
  const Bytes more = kCalls * kPasses * 8.0 * s * h * Bytes(2.0);  // 16 samples a rank instead of 8
  const double rate = (more / (layer(16) - layer(8))).base();
  CHECK(rate > 1.2e12);  // of 2.04 TB/s of the A100
  CHECK(rate < 2.04e12);
}

// A rank's calls are the same, however much of them products hide.
TEST_CASE("the tensor axis in pieces: its calls take no less time than whole ones, and are waited for less") {
  PredictOptions options;
  options.hardware = "dgx-h100";
  options.gpus = 64;
  options.model = "llama-3-70b";
  options.stack = "megatron-bridge-0.1";
  options.precision = "bf16";
  options.seq_len = 8192;
  options.batch = 1;
  options.accumulate = 4;
  options.tensor_parallel = 8;
  options.zero = 1;
  const AxisTraffic pieces = along(predicted(options), Axis::tensor);
  options.set = {"stack.parallel.tensor_overlap=none"};
  const AxisTraffic whole = along(predicted(options), Axis::tensor);
  CHECK_THAT(pieces.bytes.base(), WithinRel(whole.bytes.base(), 1e-12));
  CHECK(pieces.time.base() >= whole.time.base() * (1.0 - 1e-9));
  CHECK(pieces.exposed < whole.exposed);
  for (const TierTraffic& tier : pieces.tiers) CHECK(tier.bytes / tier.capacity < pieces.time);
}

// Sources: arXiv:2006.16668; arXiv:2401.04088 (Mixtral: 32 layers, 8 experts, 2 a token, width 4096).
TEST_CASE("expert parallelism sends each token's rows out and back, forward and backward") {
  PredictOptions options;
  options.hardware = "dgx-h100";
  options.model = "mixtral-8x7b";
  options.stack = "megatron-core-0.8";
  options.precision = "bf16";
  options.batch = 1;
  options.seq_len = 4096;
  for (const int e : {2, 4, 8}) {
    INFO(e);
    options.expert_parallel = e;
    const double once = 4096.0 * 2.0 * 4096.0 * (e - 1.0) / e * 2.0;
    CHECK_THAT(along(predicted(options), Axis::expert).bytes.base(), WithinRel(4.0 * 32.0 * once, 1e-9));
  }
}

// Source: arXiv:2412.19437, sections 2.1.2 and 3.2.2: 256 experts in 8 groups, 8 a token in 4 groups.
TEST_CASE("experts on several nodes: all rows cross, or a token once for each node") {
  PredictOptions options;
  options.hardware = "dgx-h100";
  options.model = "deepseek-v3";
  options.stack = "megatron-core-0.14";
  options.precision = "bf16";
  options.batch = 1;
  options.seq_len = 4096;
  options.recompute = "none";
  constexpr double layers = 58, k = 8, width = 7168;
  for (const int n : {2, 8}) {
    INFO(n << " nodes");
    options.gpus = 8 * n;
    options.nodes = n;
    options.expert_parallel = 8 * n;
    const auto bytes = [&](const char* dispatch) {
      options.set = {std::string("stack.parallel.dispatch=") + dispatch};
      return along(predicted(options), Axis::expert);
    };
    const double token = 4.0 * layers * 4096.0 * width * 2.0, e = 8.0 * n;
    const AxisTraffic rows = bytes("rows"), once = bytes("once-per-node");
    CHECK_THAT(rows.bytes.base(), WithinRel(token * k * (e - 1.0) / e, 1e-9));
    // None of 8 experts lies on a node that holds 256/n of 256.
    double none = 1.0;
    for (int i = 0; i < 8; ++i) none *= (256.0 - 256.0 / n - i) / (256.0 - i);
    const double reached = std::min(n * (1.0 - none), 4.0), network = token * reached * (n - 1.0) / n;
    CHECK_THAT(once.bytes.base(), WithinRel(network + token * k * 7.0 / 8.0, 1e-9));
    double outside = 0.0;
    for (const TierTraffic& tier : once.tiers) outside += tier.network ? tier.bytes.base() : 0.0;
    CHECK_THAT(outside, WithinRel(network, 1e-9));
    CHECK(once.time < rows.time);
  }
}

// An expert's copies lie a node apart, so all that is added of its arrays leaves the node; other arrays' ring of 64 leaves each
// node once. Mixtral: 32 layers of 8 experts of 3 x 4096 x 14336. Gradients of 4 bytes, weights of 2.
TEST_CASE("experts' gradients pass the tiers between the copies of an expert") {
  PredictOptions options;
  options.hardware = "dgx-h100";
  options.gpus = 64;
  options.model = "mixtral-8x7b";
  options.stack = "megatron-core-0.14";
  options.precision = "bf16";
  options.seq_len = 4096;
  options.batch = 1;
  options.accumulate = 4;
  options.expert_parallel = 8;
  options.zero = 1;
  const AxisTraffic data = along(predicted(options), Axis::data);
  const double experts = 32.0 * 3.0 * 4096.0 * 14336.0 * 6.0 * 7.0 / 8.0, others = data.bytes.base() - experts;
  CHECK_THAT(data.of_experts.base(), WithinRel(experts, 1e-9));
  REQUIRE(data.tiers.size() == 2);
  CHECK(data.tiers[0].tier == "node");
  CHECK_THAT(data.tiers[0].bytes.base(), WithinRel(others * 7.0 / 8.0, 1e-9));
  CHECK_THAT(data.tiers[0].bytes.base(), WithinRel(8.3e9, 0.01));
  CHECK(data.tiers[1].network);
  CHECK_THAT(data.tiers[1].bytes.base(), WithinRel(experts + others / 8.0, 1e-9));
  CHECK_THAT(data.tiers[1].bytes.base(), WithinRel(30.8e9, 0.01));
  CHECK(data.tiers[1].bytes / data.tiers[1].capacity < data.time);
}

// One copy of the rest, two of each expert: all of the data axis is theirs.
TEST_CASE("experts that have copies where the rest has none: their bytes pass the node's links") {
  PredictOptions options;
  options.hardware = "dgx-h100";
  options.model = "mixtral-8x7b";
  options.stack = "megatron-core-0.14";
  options.precision = "bf16";
  options.seq_len = 4096;
  options.batch = 1;
  options.tensor_parallel = 8;
  options.expert_parallel = 4;
  options.expert_tensor_parallel = 1;
  const AxisTraffic data = along(predicted(options), Axis::data);
  CHECK(data.of_experts == data.bytes);
  CHECK_FALSE(data.leaves_node);
  REQUIRE(data.tiers.size() == 1);
  CHECK(data.tiers[0].tier == "node");
  CHECK(data.tiers[0].bytes == data.bytes);
}

// Source: arXiv:2104.04473, section 4.1: without sequence parallelism each of t GPUs sends 1/t of b s h numbers of 2 bytes, and
// the next stage's GPUs gather them, of which each sends (t-1)/t.
TEST_CASE("stages send a share of the rows from each GPU of the tensor axis, and gather them behind") {
  constexpr double t = 4, m = 8;
  PredictOptions options = gpt(24, 8, "megatron-lm-2021");
  options.tensor_parallel = static_cast<int>(t);
  options.pipeline_parallel = 2;
  options.accumulate = static_cast<int>(m);
  const Prediction scattered = predicted(options);
  options.set = {"stack.parallel.scatters_hops=false"};
  const Prediction whole = predicted(options);
  const auto less = [&](Axis axis) { return (along(whole, axis).bytes - along(scattered, axis).bytes).base(); };
  const double rows = 2.0 * m * 2.0 * b * s * h;
  CHECK_THAT(less(Axis::pipeline), WithinRel(rows * (t - 1.0) / t, 1e-9));
  CHECK_THAT(-less(Axis::tensor), WithinRel(rows * (t - 1.0) / t, 1e-9));
  CHECK(along(scattered, Axis::pipeline).time < along(whole, Axis::pipeline).time);
  CHECK(along(scattered, Axis::tensor).kind == "all-gather, all-reduce");
  CHECK(along(whole, Axis::tensor).kind == "all-reduce");
  // Rows that sequence parallelism divides are sent as they are.
  options.stack = "megatron-lm-2022";
  const Prediction off = predicted(options);
  options.set = {"stack.parallel.scatters_hops=true"};
  const Prediction on = predicted(options);
  CHECK(along(off, Axis::pipeline).bytes == along(on, Axis::pipeline).bytes);
  CHECK(along(off, Axis::tensor).bytes == along(on, Axis::tensor).bytes);
}

// Rows of the fullest rank: 1 + sqrt(2 ln e / rows) of the mean, or the capacity where it is less.
TEST_CASE("experts take no more rows than their capacity") {
  PredictOptions options;
  options.hardware = "dgx-h100";
  options.model = "mixtral-8x7b";
  options.stack = "megatron-core-0.8";
  options.precision = "bf16";
  options.batch = 1;
  options.seq_len = 4096;
  options.expert_parallel = 8;
  options.detail = true;
  const auto products = [&](std::vector<std::string> set) {
    options.set = std::move(set);
    Seconds time(0.0);
    for (const LayerTime& layer : predicted(options).detail.layers)
      if (layer.name.find("experts.linear1") != std::string::npos) time += layer.forward;
    REQUIRE(time > Seconds(0.0));
    return time;
  };
  const std::string spread = "stack.parallel.expert_spread=", capacity = "stack.parallel.expert_capacity=";
  const Seconds even = products({spread + "0"}), unlike = products({spread + "20"});
  const double fullest = 1.0 + 20.0 * std::sqrt(2.0 * std::log(8.0) / (4096.0 * 2.0));
  CHECK_THAT(unlike / even, WithinRel(fullest, 0.02));  // the clock falls a little as products take longer
  CHECK_THAT(products({spread + "20", capacity + "1.1"}) / even, WithinRel(1.1, 0.02));
  CHECK_THAT(products({spread + "0", capacity + "1.1"}) / even, WithinRel(1.0, 1e-12));
  CHECK_THAT(products({spread + "20", capacity + "4"}) / unlike, WithinRel(1.0, 1e-12));
}

// Experts divide over e ranks, and d/e ranks hold copies of each. Source: Megatron-LM, expert data parallelism; arXiv:2006.16668.
TEST_CASE("gradients of experts are added over the ranks that hold copies of them alone") {
  PredictOptions options;
  options.hardware = "dgx-h100";
  options.model = "mixtral-8x7b";
  options.stack = "megatron-core-0.8";
  options.precision = "bf16";
  options.batch = 1;
  options.seq_len = 4096;
  options.gpus = 8;
  // 32 layers of 8 experts, 3 products of 4096 x 14336 each.
  constexpr double experts = 32.0 * 8.0 * 3.0 * 4096.0 * 14336.0, d = 8;
  for (const int e : {2, 4, 8})
    for (const int zero : {0, 1}) {
      INFO(e << " expert parallel, ZeRO " << zero);
      options.expert_parallel = e;
      options.zero = zero;
      const Prediction p = predicted(options);
      const double dense = static_cast<double>(p.work.parameters) - experts, copies = d / e;
      // Gradients are fp32, weights 16 bits: twice around, or scattered and gathered.
      const double each = zero == 0 ? 2.0 * 4.0 : 4.0 + 2.0;
      const double bytes = each * ((d - 1.0) / d * dense + (copies - 1.0) / copies * experts / e);
      CHECK_THAT(along(p, Axis::data).bytes.base(), WithinRel(bytes, 1e-3));
    }
}

// Source: arXiv:2309.14509, section 3.2: queries, keys and values go to the ranks of their heads, the result comes back; backward
// the same.
TEST_CASE("context parallelism by all-to-all moves queries, keys, values and results, and keeps the result twice") {
  PredictOptions options;
  options.hardware = "dgx-h100";
  options.model = "llama-3.2-1b";
  options.stack = "megatron-core-0.8";
  options.precision = "bf16";
  options.batch = 1;
  options.seq_len = 8192;
  constexpr double length = 8192, hidden = 2048, groups = 8, head = 64, layers = 16;
  for (const int c : {2, 4, 8})
    for (const int t : {1, 2}) {
      if (t * c > 8) continue;
      INFO(c << " x " << t);
      options.context_parallel = c;
      options.tensor_parallel = t;
      options.set = {"stack.parallel.context_exchange=gather"};
      const Prediction gathered = predicted(options);
      options.set = {"stack.parallel.context_exchange=all-to-all"};
      const Prediction exchanged = predicted(options);
      const double once = (c - 1.0) / c * length / c * (2.0 * hidden + 2.0 * groups * head) / t * 2.0;
      const AxisTraffic& traffic = along(exchanged, Axis::context);
      CHECK_THAT(traffic.bytes.base(), WithinRel(2.0 * layers * once, 1e-9));
      CHECK(traffic.kind == "all-to-all");
      // The kernel keeps its result for its backward pass, the projection what came back.
      const auto kept = [](const Prediction& p) { return p.memory.gpus.front().parts[MemoryPart::feature_maps]; };
      CHECK_THAT((kept(exchanged) - kept(gathered)).base(), WithinRel(layers * 2.0 * length / c * hidden / t, 1e-9));
      // As many products, for fewer heads of all positions.
      CHECK_THAT(exchanged.work.flop_per_gpu / gathered.work.flop_per_gpu, WithinRel(1.0, 1e-12));
    }
  options.context_parallel = 8;
  options.tensor_parallel = 2;
  options.gpus = 16;
  options.nodes = 2;
  CHECK(
      refusal(options) ==
      "--context-parallel 8: exchanges heads, and the 4 heads of keys and values of llama-3.2-1b on each GPU of the tensor axis "
      "do not divide over 8 GPUs; --set stack.parallel.context_exchange=gather or ring\n");
}

// Source: arXiv:1910.02054, section 7.
TEST_CASE("copies all-reduce gradients, scatter and gather states, or gather weights for each pass") {
  for (const int d : {2, 8, 16}) {
    INFO(d);
    PredictOptions options = gpt(20, d);
    const double share = (d - 1.0) / d;
    const auto bytes = [&](int zero) {
      options.zero = zero;
      const Prediction p = predicted(options);
      return along(p, Axis::data).bytes.base() / static_cast<double>(p.work.parameters);
    };
    // Gradients are fp32, weights 16 bits. A bias or norm that a rank does not divide evenly moves a little more.
    CHECK_THAT(bytes(0), WithinRel(2.0 * share * 4.0, 1e-3));
    CHECK_THAT(bytes(1), WithinRel(share * (4.0 + 2.0), 1e-3));
    CHECK_THAT(bytes(2), WithinRel(share * (4.0 + 2.0), 1e-3));
    // Gathered for forward and again for backward, but for the last layer and the head, which are still there.
    CHECK(bytes(3) <= share * (4.0 + 2.0 + 2.0) * (1.0 + 1e-9));
    CHECK(bytes(3) >= share * (4.0 + 2.0 + 2.0 * (1.0 - 2.0 / 20.0)) * (1.0 - 1e-9));
  }
}

// Source: PyTorch, torch/distributed/fsdp: reshard_after_forward=False, SHARD_GRAD_OP.
TEST_CASE("FSDP's stage 2 gathers layers once a micro-batch, stage 3 twice, which takes as long or longer and less memory") {
  for (const char* const stack : {"fsdp-2.1", "fsdp2-2.6", "fsdp2-2.8-compile"})
    for (const int d : {2, 8, 16})
      for (const int m : {1, 3}) {
        INFO(stack << ", " << d << " copies, " << m << " micro-batches");
        PredictOptions options = gpt(20, d, stack);
        options.accumulate = m;
        options.recompute = "layer";
        const auto at = [&](int zero) {
          options.zero = zero;
          return predicted(options);
        };
        const Prediction none = at(0), kept = at(2), again = at(3);
        const auto bytes = [](const Prediction& p) {
          return along(p, Axis::data).bytes.base() / static_cast<double>(p.work.parameters);
        };
        const double share = (d - 1.0) / d, gradient = stack == std::string_view("fsdp-2.1") ? 2.0 : 4.0;
        CHECK_THAT(bytes(kept), WithinRel(m * share * (2.0 + gradient), 1e-3));
        CHECK(bytes(again) > bytes(kept));
        CHECK(kept.step_time.value <= again.step_time.value * (1.0 + 1e-9));
        CHECK(along(kept, Axis::data).exposed <= along(again, Axis::data).exposed * (1.0 + 1e-9));
        const auto peak = [](const Prediction& p) { return p.memory.gpus.front().peak; };
        CHECK(peak(again) < peak(kept));
        CHECK(peak(kept) < peak(none));
        const double weights = kept.memory.gpus.front().parts[MemoryPart::weights].base();
        CHECK_THAT(weights / static_cast<double>(kept.work.parameters), WithinRel(2.0 + 4.0 / d, 1e-3));
      }
  // Stages of a pipeline keep their weights gathered at either.
  PredictOptions options = gpt(20, 16, "fsdp2-2.6");
  options.pipeline_parallel = 2;
  options.accumulate = 4;
  options.zero = 2;
  const Prediction two = predicted(options);
  options.zero = 3;
  const Prediction three = predicted(options);
  CHECK(two.step_time.value == three.step_time.value);
  CHECK(two.memory.gpus.front().peak == three.memory.gpus.front().peak);
}

// Source: PyTorch, torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce, and c10d/reducer.cpp.
TEST_CASE("FSDP copies gradients unit by unit into its reduce-scatters beside a pipeline, too; DDP holds a copy of all") {
  for (const char* const stack : {"fsdp2-2.6", "fsdp2-2.8-compile"})
    for (const int stages : {1, 2, 4}) {
      INFO(stack << ", " << stages << " stages");
      PredictOptions options = gpt(20, 16, stack);
      options.pipeline_parallel = stages;
      options.accumulate = 4;
      const auto parts = [&](int zero) {
        options.zero = zero;
        return predicted(options).memory.gpus.front().parts;
      };
      for (const int zero : {2, 3}) CHECK(parts(zero)[MemoryPart::exchange] == Bytes(25.0 * 1048576.0));
      const MemoryParts whole = parts(0);
      CHECK_THAT(whole[MemoryPart::exchange].base(), WithinRel(whole[MemoryPart::gradients].base(), 1e-9));
    }
}

// Source: arXiv:2104.04473, section 2.2.
TEST_CASE(
    "a stage hands over 2 s b h / t bytes a micro-batch, each way and for each part; the ends add up the table of words once") {
  for (const int t : {1, 2})
    for (const int v : {1, 3}) {
      INFO(t << " tensor, " << v << " parts");
      PredictOptions options = gpt(24);
      options.tensor_parallel = t;
      options.pipeline_parallel = 4;
      options.accumulate = 8;
      if (v > 1) options.virtual_stages = v;
      // An all-reduce of two ranks sends the message once: fp32 gradients of the table, which the head is tied to.
      const double hops = 2.0 * 8.0 * v * 2.0 * s * b * h / t, table = 4.0 * vocabulary * h / t;
      CHECK_THAT(along(predicted(options), Axis::pipeline).bytes.base(), WithinRel(hops + table, 1e-9));
    }
}

// Sources: arXiv:2104.04473, section 2.2; arXiv:2401.10241, table 2. The head makes the last stage longer than the others, and
// hops are waited for: so brackets instead of equalities, which tests of the schedules alone hold exactly.
TEST_CASE("the slowest stage waits for one micro-batch's way through the others, with v parts for a v-th of it") {
  const auto stages = [&](int p, int m, int v, const char* schedule = "") {
    PredictOptions options = gpt(24);
    options.pipeline_parallel = p;
    options.tensor_parallel = 2;
    options.accumulate = m;
    options.schedule = schedule;
    if (v > 1) options.virtual_stages = v;
    return predicted(options).phases;
  };
  for (const int p : {2, 4}) {
    INFO(p);
    const PhaseTimes some = stages(p, 8, 1), more = stages(p, 16, 1), gpipe = stages(p, 16, 1, "gpipe");
    const Seconds pass = (1.0 / 16.0) * (more.forward + more.backward + more.exchange_exposed);
    CHECK(more.bubble < 1.05 * (p - 1.0) * pass);
    CHECK(more.bubble > 0.75 * (p - 1.0) * pass);
    CHECK_THAT(some.bubble.base(), WithinRel(more.bubble.base(), 0.03));  // does not grow with the micro-batches
    CHECK_THAT(gpipe.bubble.base(), WithinRel(more.bubble.base(), 0.03));
    const PhaseTimes parts = stages(p, 16, 3);
    CHECK(parts.bubble < 0.6 * more.bubble);
    CHECK(parts.bubble > 0.2 * more.bubble);
    const PhaseTimes split = stages(p, 16, 1, "zb-h1");
    CHECK(split.bubble < 0.8 * more.bubble);
  }
}

// Source: arXiv:2205.05198, section 4.2.3; interleaved as counted in closed_form.hpp.
TEST_CASE("a stage keeps its layers' activations of every micro-batch in flight, whatever its parts and recomputation") {
  for (const int v : {1, 3})
    for (const char* recompute : {"none", "selective"}) {
      INFO(v << " parts, recompute " << recompute);
      PredictOptions options = gpt(24);
      options.pipeline_parallel = 4;
      options.tensor_parallel = 2;
      options.accumulate = 8;
      options.recompute = recompute;
      if (v > 1) options.virtual_stages = v;
      const auto gpus = predicted(options).memory.gpus;
      REQUIRE(gpus.size() == 4);
      // The stages between the ends differ by two parts of a micro-batch, or by one micro-batch.
      const double more = v == 1 ? 1.0 : 2.0 / v, layer = 34.0 + kNorms + (recompute[0] == 'n' ? 5.0 * a * s / h : 0.0);
      const Bytes between = gpus[1].parts[MemoryPart::feature_maps] - gpus[2].parts[MemoryPart::feature_maps];
      CHECK_THAT(between.base() / (s * b * h), WithinRel(6.0 * more * layer / 2.0, 1e-3));
    }
}

// A layer more keeps 34 s b h and the scores for each micro-batch in flight (p - i of stage i), and 18 bytes a parameter.
TEST_CASE("stages of unlike numbers of layers keep, hold and compute as many as they have") {
  PredictOptions options = gpt(24);
  options.pipeline_parallel = 4;
  options.tensor_parallel = 2;
  options.accumulate = 8;
  options.zero = 0;
  const Prediction even = predicted(options);
  options.stage_layers = "6,6,6,6";
  const Prediction same = predicted(options);
  CHECK(same.step_time.value == even.step_time.value);
  CHECK(same.memory.gpus.front().peak == even.memory.gpus.front().peak);
  options.stage_layers = "5,7,7,5";
  const Prediction listed = predicted(options);
  options.stage_layers.clear();
  options.first_stage_layers = options.last_stage_layers = 5;
  const Prediction ends = predicted(options);
  CHECK(ends.step_time.value == listed.step_time.value);
  const std::array<double, 4> more{-1.0, 1.0, 1.0, -1.0};
  const double layer = 34.0 + kNorms + 5.0 * a * s / h;
  for (std::size_t i = 0; i < 4; ++i) {
    INFO("stage " << i);
    const MemoryParts &own = ends.memory.gpus[i].parts, &plain = even.memory.gpus[i].parts;
    const auto gained = [&](MemoryPart part) { return (own[part] - plain[part]).base(); };
    CHECK_THAT(gained(MemoryPart::feature_maps) / (s * b * h),
               WithinRel(more[i] * (4.0 - static_cast<double>(i)) * layer / 2.0, 1e-3));
    const double states = gained(MemoryPart::weights) + gained(MemoryPart::gradients) + gained(MemoryPart::optimizer_state);
    CHECK_THAT(states / (12.0 * h * h / 2.0), WithinRel(more[i] * 18.0, 2e-3));
  }
  // The head takes longer than a layer, so that a layer less beside it helps.
  CHECK(ends.step_time.value < even.step_time.value);
  // The last stage is the slowest: with three layers more, and three more again, by as much each time.
  options.first_stage_layers = options.last_stage_layers = std::nullopt;
  const auto slowest = [&](const char* layers) {
    options.stage_layers = layers;
    const PhaseTimes phases = predicted(options).phases;
    return phases.forward + phases.backward;
  };
  const Seconds six = slowest("6,6,6,6"), nine = slowest("5,5,5,9"), twelve = slowest("4,4,4,12");
  CHECK_THAT((twelve - nine) / (nine - six), WithinRel(1.0, 0.05));
}
