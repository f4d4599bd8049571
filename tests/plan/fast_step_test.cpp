// The fast path against `predict`, over random layouts of several jobs.
#include "model/plan/fast_step.hpp"

#include <algorithm>
#include <cmath>

#include "tests/plan/random_layouts.hpp"

using namespace tbdsim;

namespace {

struct Deviation {
  double median = 0, worst = 0;
  std::string of;  ///< the worst
};

Deviation deviation(const PredictOptions& options, int layouts, plan::Depth depth, std::uint32_t seed) {
  const auto base = configure(session(), options);
  REQUIRE(base);
  const auto kernels = plan::DrawnKernels::make(*base);
  REQUIRE(kernels);
  plan::FastStep fast(*base, *kernels);
  RandomLayouts random(*base, options, seed);
  std::vector<double> differences;
  Deviation result;
  for (int tries = 0; static_cast<int>(differences.size()) < layouts && tries < 20 * layouts; ++tries) {
    const Configuration layout = random.next();
    const auto estimate = fast.time(layout, depth);
    const auto prediction = predict_step(layout, false, nullptr);
    REQUIRE(estimate.has_value() == prediction.has_value());
    if (!estimate) continue;
    differences.push_back(std::abs(*estimate / prediction->step_time.value - 1.0));
    if (differences.back() < result.worst) continue;
    result.worst = differences.back();
    result.of = to_text(layout.layout) + ", " + std::string(pipeline::name(layout.schedule)) + ", zero " +
                std::to_string(layout.zero) + ", virtual " + std::to_string(layout.layout.virtual_stages) + ", micro-batches " +
                std::to_string(layout.accumulate) + " of " + std::to_string(layout.batch) + ", " +
                std::string(name(layout.recompute));
  }
  REQUIRE(!differences.empty());
  std::nth_element(differences.begin(), differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2),
                   differences.end());
  result.median = differences[differences.size() / 2];
  return result;
}

const std::vector<PredictOptions>& jobs() {
  static const std::vector<PredictOptions> kJobs{
      job("gpt3-13b", "dgx-a100-80gb", "megatron-lm-2022", 64), job("llama-3-8b", "dgx-h100", "megatron-core-0.8", 128, 8192),
      job("llama-2-7b", "dgx-h100", "fsdp2-2.6", 64, 4096), job("mixtral-8x7b", "dgx-h100", "megatron-core-0.8", 64, 4096),
      job("gpt2-xl", "dgx-a100-80gb", "megatron-deepspeed-2022", 32)};
  return kJobs;
}

void check(int layouts, std::uint32_t seed) {
  for (const PredictOptions& options : jobs()) {
    const Deviation found = deviation(options, layouts, plan::Depth::recurrence, seed);
    INFO(options.model << " under " << options.stack << ", seed " << seed << ": median " << 100.0 * found.median << " %, worst "
                       << 100.0 * found.worst << " % of " << found.of);
    CHECK(found.median <= 0.003);
    CHECK(found.worst <= 0.02);
  }
}

}  // namespace

TEST_CASE("the recurrence agrees with predict over random layouts", "[plan]") { check(60, 20261123); }

TEST_CASE("the recurrence agrees with predict over 10,000 random layouts", "[.long]") { check(2000, 7); }

TEST_CASE("closed forms agree with predict", "[plan]") {
  for (const PredictOptions& options : jobs()) {
    const Deviation found = deviation(options, 60, plan::Depth::closed_form, 3);
    INFO(options.model << " under " << options.stack << ": median " << 100.0 * found.median << " %, worst " << 100.0 * found.worst
                       << " % of " << found.of);
    CHECK(found.median <= 0.01);
    CHECK(found.worst <= 0.3);  // of parts that the layers do not divide over
  }
}

TEST_CASE("no layout takes less than its layers do", "[plan]") {
  for (const PredictOptions& options : jobs()) {
    const auto base = configure(session(), options);
    REQUIRE(base);
    const auto kernels = plan::DrawnKernels::make(*base);
    REQUIRE(kernels);
    plan::FastStep fast(*base, *kernels);
    RandomLayouts random(*base, options, 11);
    for (int i = 0; i < 200; ++i) {
      const Configuration layout = random.next();
      const auto& share = fast.share(layout.layout);
      if (!share || layout.pipeline_stages() > share->stage_layers()) continue;
      const auto time = fast.time(layout, plan::Depth::closed_form);
      if (!time) continue;
      INFO(options.model << ", " << to_text(layout.layout) << ", " << pipeline::name(layout.schedule) << ", zero "
                         << layout.zero);
      CHECK(fast.least(layout, *share, layout.schedule == pipeline::ScheduleKind::dualpipe) / *time <= 1.0);
    }
  }
}

TEST_CASE("a sample takes at least 0.8 times as long in a smaller micro-batch as in the largest", "[plan]") {
  for (const PredictOptions& options : jobs()) {
    const auto base = configure(session(), options);
    REQUIRE(base);
    const auto kernels = plan::DrawnKernels::make(*base);
    REQUIRE(kernels);
    plan::FastStep fast(*base, *kernels);
    for (const int tensor : {1, 2, 4, 8}) {
      std::vector<Seconds> least;
      for (const int batch : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}) {
        PredictOptions asked = options;
        asked.tensor_parallel = tensor;
        asked.batch = batch;
        asked.accumulate = 192 / batch;
        Configuration layout = *base;
        REQUIRE(choose_division(asked, layout).empty());
        const auto& share = fast.share(layout.layout);
        if (!share) break;  // heads that do not divide
        least.push_back(fast.least(layout, *share, false));
      }
      INFO(options.model << ", tensor " << tensor);
      REQUIRE((tensor > 1 || !least.empty()));
      if (least.empty()) continue;
      CHECK(*std::min_element(least.begin(), least.end()) >= 0.8 * least.back());
      CHECK(least.front() > least.back());
    }
  }
}

TEST_CASE("stages of unlike numbers of layers agree with predict", "[plan]") {
  const PredictOptions options = job("llama-3-8b", "dgx-h100", "megatron-core-0.8", 64, 8192);
  const auto base = configure(session(), options);
  REQUIRE(base);
  const auto kernels = plan::DrawnKernels::make(*base);
  REQUIRE(kernels);
  PredictOptions asked = options;
  asked.tensor_parallel = 2;
  asked.pipeline_parallel = 4;
  asked.accumulate = 16;
  asked.batch = 1;
  for (const char* const layers : {"7,9,9,7", "1,2,3,26", "3,5,5,4,4,4,4,3"}) {
    INFO(layers);
    asked.stage_layers = layers;
    if (asked.stage_layers.size() > 10) asked.virtual_stages = 2;
    Configuration layout = *base;
    REQUIRE(choose_division(asked, layout).empty());
    plan::FastStep fast(*base, *kernels);
    const auto estimate = fast.time(layout, plan::Depth::recurrence);
    const auto prediction = predict_step(layout, false, nullptr);
    REQUIRE(estimate);
    REQUIRE(prediction);
    CHECK_THAT(*estimate / prediction->step_time.value, Catch::Matchers::WithinRel(1.0, 0.003));
  }
}
