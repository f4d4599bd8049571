// Negative controls of divided networks: what a row of scenarios/layouts says of its job decides its prediction. And the memory
// that Korthikanti et al. tell of theirs.
#include <fmt/format.h>

#include <cmath>

#include "model/prediction/predict.hpp"
#include "tests/catch.hpp"
#include "tests/predicted.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

namespace {

/// A row of scenarios/layouts/korthikanti.csv: t = 8, p stages of v parts, as many micro-batches as GPUs of a copy or p.
PredictOptions korthikanti(const char* model, int stages, int parts, int micro_batches, int batch) {
  PredictOptions options;
  options.hardware = "dgx-a100-80gb";
  options.model = model;
  options.stack = "megatron-lm-2022";
  options.precision = "fp16";
  options.optimizer = "adam";
  options.gpus = 8 * stages;
  options.nodes = stages;
  options.batch = batch;
  options.tensor_parallel = 8;
  options.recompute = "selective";
  options.sequence_parallel = "on";
  if (stages == 1) return options;
  options.pipeline_parallel = stages;
  options.accumulate = micro_batches;
  if (parts > 1) options.virtual_stages = parts;
  return options;
}

PredictOptions megatron_22b() { return korthikanti("megatron-22b", 1, 1, 1, 4); }
PredictOptions megatron_175b() { return korthikanti("megatron-175b", 8, 3, 64, 1); }

/// The first row of scenarios/layouts/torchtitan.csv.
PredictOptions torchtitan() {
  PredictOptions options;
  options.hardware = "grand-teton-h100-96gb";
  options.model = "llama-3.1-8b";
  options.stack = "fsdp2-2.6";
  options.precision = "bf16";
  options.optimizer = "adam";
  options.gpus = 8;
  options.batch = 2;
  options.seq_len = 8192;
  options.recompute = "selective";
  return options;
}

/// How many times as long the step takes with a change.
template <class Change>
double times(PredictOptions options, Change change) {
  const Seconds before = predicted(options).step_time.value;
  change(options);
  return predicted(options).step_time.value / before;
}

}  // namespace

TEST_CASE("controls: megatron-22b selective without its sequence parallelism, overlap or recomputation is another row") {
  CHECK(times(megatron_22b(), [](PredictOptions& o) { o.sequence_parallel = "off"; }) > 1.02);
  CHECK(times(megatron_22b(), [](PredictOptions& o) { o.set = {"stack.parallel.tensor_overlap=none"}; }) > 1.03);
  CHECK(times(megatron_22b(), [](PredictOptions& o) { o.recompute = "none"; }) < 0.97);
  CHECK(times(megatron_22b(), [](PredictOptions& o) { o.recompute = "layer"; }) > 1.15);
  CHECK(times(megatron_22b(), [](PredictOptions& o) { o.attention = "flash-2"; }) < 0.90);
  CHECK(times(megatron_22b(), [](PredictOptions& o) { o.tensor_parallel = 4; }) > 1.5);  // two copies, twice the samples
}

TEST_CASE("controls: megatron-175b selective without its interleaved stages is slower, with a bubble about three times as long") {
  CHECK(times(megatron_175b(), [](PredictOptions& o) { o.virtual_stages.reset(); }) > 1.04);
  CHECK(times(megatron_175b(), [](PredictOptions& o) { o.sequence_parallel = "off"; }) > 1.01);
  PredictOptions plain = megatron_175b();
  plain.virtual_stages.reset();
  const double ratio = predicted(plain).phases.bubble / predicted(megatron_175b()).phases.bubble;
  CHECK(ratio > 2.0);
  CHECK(ratio < 3.5);
}

TEST_CASE("controls: llama-3.1-8b under FSDP with another kernel of attention or recomputation is another row") {
  CHECK(times(torchtitan(), [](PredictOptions& o) { o.attention = "unfused"; }) > 1.5);
  CHECK(times(torchtitan(), [](PredictOptions& o) { o.attention = "flash-3"; }) < 0.97);
  CHECK(times(torchtitan(), [](PredictOptions& o) { o.recompute = "none"; }) < 0.95);
  CHECK(times(torchtitan(), [](PredictOptions& o) { o.recompute = "layer"; }) > 1.05);
}

TEST_CASE("controls: megatron-1t selective with sums of gradients in kernels of their own is another row") {
  PredictOptions options = korthikanti("megatron-1t", 64, 1, 512, 1);
  CHECK(times(options, [](PredictOptions& o) { o.set = {"stack.parallel.fuses_gradient_sum=false"}; }) > 1.03);
}

TEST_CASE("controls: llama-3.1-8b divided by tensor parallelism is faster where its collectives go in pieces beside products") {
  PredictOptions options = torchtitan();
  options.stack = "fsdp2-2.6-compile";
  options.gpus = 64;
  options.nodes = 8;
  options.tensor_parallel = 8;
  options.batch = 12;
  const double gain = times(options, [](PredictOptions& o) { o.set = {"stack.parallel.tensor_overlap=pieces"}; });
  CHECK(gain < 0.95);
  CHECK(gain > 0.7);
  // Where only single products move pieces, sums of several gradients are waited for.
  const double one = times(options, [](PredictOptions& o) { o.set = {"stack.parallel.tensor_overlap=one-product"}; });
  CHECK(one < 0.95);
  CHECK(one > 1.01 * gain);
}

TEST_CASE("controls: llama-3.1-8b without its copies of positions, early stop or complex rotary embedding is another row") {
  PredictOptions options = torchtitan();
  options.stack = "fsdp2-2.6-compile";
  CHECK(times(options, [](PredictOptions& o) { o.set = {"stack.operators.composes_rotary=false"}; }) < 0.985);
  options.recompute = "layer";
  CHECK(times(options, [](PredictOptions& o) { o.set = {"stack.parallel.recompute_stops=false"}; }) > 1.03);
  options.gpus = 64;
  options.nodes = 8;
  options.tensor_parallel = 8;
  options.batch = 12;
  CHECK(times(options, [](PredictOptions& o) { o.set = {"stack.parallel.copies_positions=false"}; }) < 0.95);
}

TEST_CASE("controls: the last stage of a pipeline updates its copy of a tied table") {
  PredictOptions options;
  options.hardware = "dgx-a100-80gb";
  options.model = TBDSIM_SOURCE_DIR "/scenarios/layouts/networks/gpt-h2048-l12-50256.toml";
  options.stack = "megatron-deepspeed-2022";
  options.precision = "fp16";
  options.optimizer = "adam";
  options.gpus = 1;
  options.batch = 2;
  const Seconds whole = predicted(options).phases.weight_update;
  options.gpus = options.pipeline_parallel.emplace(2);
  options.accumulate = 2;
  // Parameters of a layer and of the table; the first stage has positions, too.
  constexpr double kLayer = 12.0 * 2048 * 2048, kTable = 50256.0 * 2048;
  CHECK_THAT(predicted(options).phases.weight_update / whole,
             WithinRel((6.0 * kLayer + kTable) / (12.0 * kLayer + kTable), 0.01));
}

TEST_CASE("controls: experts that are asked for unlike make products longer by as much") {
  PredictOptions options;
  options.hardware = "dgx-h100";
  options.model = "mixtral-8x7b";
  options.stack = "megatron-core-0.8";
  options.precision = "bf16";
  options.optimizer = "adam";
  options.gpus = 8;
  options.expert_parallel = 8;
  options.batch = 1;
  const auto step = [&](const char* spread) {
    options.set = {std::string("stack.parallel.expert_spread=") + spread};
    return predicted(options).step_time.value;
  };
  const Seconds even = step("0"), alike = step("1"), unlike = step("20");
  CHECK(alike > even);
  CHECK(unlike > 1.05 * even);
}

// Figure 1 of arXiv:2205.05198, as transcribed in calculon-ai/calculon, calculon/llm/validation.py at caa4b11f8fe1: GiB of the
// first stage. The figures follow the paper's own formulas, which leave out the table of words, the head, biases, norms' arrays
// and statistics, and what is in use for a moment. An inner stage of a pipeline has neither table nor head, and what one
// micro-batch more in flight keeps is what it holds more than the stage behind it.
namespace {

struct Figure {
  const char* model;
  int stages, parts, batch;  ///< of the figure's job
  double plain, present, states;
};
constexpr Figure kFigures[] = {{"megatron-22b", 1, 1, 4, 59.25, 9.5625, 45.5625},
                               {"megatron-175b", 8, 3, 1, 66.84375, 12.3515625, 45.5625},
                               {"megatron-530b", 35, 3, 1, 114.0234375, 23.076171875, 31.640625},
                               {"megatron-1t", 64, 1, 1, 131.25, 26.5625, 32.958984375}};
constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

/// Feature maps that a micro-batch keeps, of all layers of the network.
double kept(const Figure& figure, bool present) {
  const int stages = std::max(4, figure.stages);
  PredictOptions options = korthikanti(figure.model, stages, 1, 2 * stages, figure.batch);
  options.sequence_parallel = present ? "on" : "off";
  options.recompute = present ? "selective" : "none";
  const MemoryVerdict memory = predicted(options).memory;
  const auto of = [&](std::size_t stage) { return memory.gpus[stage].parts[MemoryPart::feature_maps].base(); };
  return stages * (of(1) - of(2)) / kGibibyte;
}

}  // namespace

TEST_CASE("activations are those of figure 1 of Korthikanti et al.") {
  for (const Figure& figure : kFigures) {
    INFO(figure.model);
    // Micro-batches in flight on the first stage, in stages' worth of layers.
    const double worth = 1.0 + (figure.stages - 1.0) / (figure.stages * figure.parts);
    const double in_flight = figure.parts > 1 ? worth : 1.0;
    CHECK_THAT(in_flight * kept(figure, true), WithinRel(figure.present, 1e-4));
    CHECK_THAT(in_flight * kept(figure, false), WithinRel(figure.plain, 1e-3));
  }
}

TEST_CASE("weights and states are those of figure 1 of Korthikanti et al., and biases and norms") {
  for (const Figure& figure : kFigures) {
    INFO(figure.model);
    const int stages = std::max(4, figure.stages);
    const MemoryParts parts = predicted(korthikanti(figure.model, stages, 1, 2 * stages, figure.batch)).memory.gpus[1].parts;
    const Bytes states = parts[MemoryPart::weights] + parts[MemoryPart::gradients] + parts[MemoryPart::optimizer_state];
    const double formula = figure.states * figure.stages / stages;
    CHECK(states.base() / kGibibyte > formula);
    CHECK_THAT(states.base() / kGibibyte, WithinRel(formula, 1e-3));
  }
}

TEST_CASE("the first stage holds the table of words and a layer's working memory beside figure 1 of Korthikanti et al.") {
  for (const Figure& figure : kFigures) {
    INFO(figure.model);
    const int batches = figure.stages == 1 ? 1 : 8 * figure.stages;
    const PredictOptions options = korthikanti(figure.model, figure.stages, figure.parts, batches, figure.batch);
    const double held = predicted(options).memory.gpus.front().parts[MemoryPart::feature_maps].base() / kGibibyte;
    CHECK(held > figure.present);
    CHECK_THAT(held, WithinRel(figure.present, 0.08));
  }
}
