// What must hold however a network is divided.
#include <fmt/format.h>

#include <array>
#include <random>

#include "model/prediction/predict.hpp"
#include "tests/catch.hpp"
#include "tests/predicted.hpp"
#include "tests/property/draw.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

namespace {

constexpr std::array kStacks{"megatron-core-0.8", "megatron-core-0.8", "pytorch-2.1", "fsdp2-2.6", "deepspeed-0.14"};
constexpr std::array kModels{"llama-3.2-1b", "qwen3-0.6b", "llama-3-8b", "gemma-2-2b", "gpt-oss-20b", "qwen3-30b-a3b"};
constexpr std::array kRecomputes{"none", "selective", "layer"};
constexpr std::array kPowers{1, 2, 4};
constexpr std::array kFew{1, 1, 2};
constexpr std::array kZero{0, 0, 1, 2, 3};

/// A job on two nodes that is divided at random, so that the axes divide the GPUs and the network.
PredictOptions drawn(unsigned seed) {
  Draw draw(seed);
  PredictOptions options;
  options.hardware = "dgx-h100";
  options.nodes = 2;
  options.network = "infiniband-ndr";
  options.stack = draw.of(kStacks);
  options.model = draw.of(kModels);
  options.precision = "bf16";
  options.attention = "flash-2";
  options.seq_len = 2048;
  options.batch = draw.of(kFew);
  options.recompute = draw.of(kRecomputes);
  options.tensor_parallel = draw.of(kPowers);
  options.context_parallel = draw.of(kFew);
  options.pipeline_parallel = draw.of(kFew);
  options.accumulate = 2 * draw.of(kPowers);
  options.zero = *options.pipeline_parallel > 1 ? 0 : draw.of(kZero);
  if (options.stack == "fsdp2-2.6" && *options.zero == 1) options.zero = 2;
  if (*options.pipeline_parallel > 1 && draw.of(kFew) > 1) options.virtual_stages = 2;
  return options;
}

std::string words(const PredictOptions& o) {
  return fmt::format("{} {} t{} c{} p{} v{} m{} z{} {}", o.stack, o.model, *o.tensor_parallel, *o.context_parallel,
                     *o.pipeline_parallel, o.virtual_stages.value_or(1), *o.accumulate, *o.zero, o.recompute);
}

constexpr unsigned kDraws = 60;

}  // namespace

TEST_CASE("however a network is divided, all GPUs together compute what one copy does for the samples of the step") {
  for (unsigned seed = 0; seed < kDraws; ++seed) {
    const PredictOptions options = drawn(seed);
    INFO(words(options));
    const Prediction p = predicted(options);
    CHECK(p.division.layout.gpus() == 16);
    CHECK(p.job.global_batch == *options.batch * *options.accumulate * p.division.layout.data);
    PredictOptions whole = options;
    whole.tensor_parallel = whole.context_parallel = whole.pipeline_parallel = 1;
    whole.virtual_stages.reset();
    const Prediction q = predicted(whole);
    const double per_sample = p.work.flop_per_gpu.base() * p.job.gpus / p.job.global_batch;
    const double whole_sample = q.work.flop_per_gpu.base() * q.job.gpus / q.job.global_batch;
    CHECK(per_sample >= 0.999 * whole_sample);
    // Scores of experts are computed on every rank that has all positions.
    CHECK(per_sample <= 1.005 * whole_sample);
  }
}

TEST_CASE("along an axis of one rank nothing travels, along others something does, nobody waits longer than it takes") {
  for (unsigned seed = 0; seed < kDraws; ++seed) {
    const PredictOptions options = drawn(seed);
    INFO(words(options));
    const Prediction p = predicted(options);
    std::array<bool, 5> seen{};
    for (const AxisTraffic& traffic : p.division.communication) {
      INFO(name(traffic.axis));
      CHECK_FALSE(seen[static_cast<std::size_t>(traffic.axis)]);
      seen[static_cast<std::size_t>(traffic.axis)] = true;
      CHECK(traffic.ranks == group_of(p.division.layout, traffic.axis).size);
      CHECK(traffic.ranks > 1);
      CHECK(traffic.bytes > Bytes(0.0));
      CHECK(traffic.exposed >= Seconds(0.0));
      CHECK(traffic.exposed <= p.step_time.value);
    }
    for (const AxisInfo& axis : axes())
      if (axis.kind != Axis::expert)
        CHECK(seen[static_cast<std::size_t>(axis.kind)] == (group_of(p.division.layout, axis.kind).size > 1));
  }
}

TEST_CASE("the stages of a step are the step") {
  for (unsigned seed = 0; seed < kDraws; ++seed) {
    const PredictOptions options = drawn(seed);
    INFO(words(options));
    const Prediction p = predicted(options);
    const PhaseTimes& stages = p.phases;
    const Seconds sum = stages.forward + stages.backward + stages.weight_update + stages.exchange_exposed + stages.host_exposed +
                        stages.input_exposed + stages.bubble;
    CHECK_THAT(sum.base(), WithinRel(p.step_time.value.base(), 1e-6));
    CHECK(stages.exchange_exposed <= stages.exchange_total * (1.0 + 1e-9));
    CHECK(p.utilization.hfu >= p.utilization.mfu);
    CHECK(p.utilization.hfu < 1.0);
    CHECK((p.utilization.hfu > p.utilization.mfu) == (options.recompute != "none"));
  }
}

TEST_CASE("faster links and memory, a faster host and fewer micro-batches never make a step longer") {
  for (unsigned seed = 0; seed < kDraws / 2; ++seed) {
    const PredictOptions options = drawn(seed);
    INFO(words(options));
    const Seconds step = predicted(options).step_time.value;
    for (const char* change : {"network.bandwidth=2x", "hw.link.nvlink.bandwidth=2x", "hw.device.memory_bandwidth=2x"}) {
      INFO(change);
      PredictOptions faster = options;
      faster.set = {change};
      CHECK(predicted(faster).step_time.value <= step * (1.0 + 1e-9));
    }
    PredictOptions twice = options;
    twice.accumulate = 2 * *options.accumulate;
    const Seconds longer = predicted(twice).step_time.value;
    CHECK(longer > step);
    // The first gradient of an update is not added to others: twice as many micro-batches add one more, which takes less than
    // one.
    CHECK(longer <= (2.0 + 1.0 / *options.accumulate) * step * (1.0 + 1e-9));
    PredictOptions named = options;
    named.accumulate.reset();
    named.global_batch = *options.batch * *options.accumulate *
                         (16 / (*options.tensor_parallel * *options.context_parallel * *options.pipeline_parallel));
    CHECK(predicted(named).step_time.value == step);
  }
}
