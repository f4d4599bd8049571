#include "model/study/batch_knee.hpp"

#include "tests/catch.hpp"

namespace tbdsim {
namespace {

/// One candidate per batch, with a throughput and a peak.
Comparison curve(const std::vector<std::pair<int, double>>& points, const char* option = "batch") {
  Comparison comparison;
  for (const auto& [batch, throughput] : points) {
    Candidate c;
    c.varied = {{option, std::to_string(batch)}};
    c.prediction.job.batch_per_gpu = batch;
    c.prediction.throughput.value = throughput;
    c.prediction.memory.fits = true;
    GpuMemory gpu;
    gpu.peak = Bytes(1e9 + 2e6 * batch);
    c.prediction.memory.gpus = {gpu};
    comparison.candidates.push_back(c);
  }
  return comparison;
}

TEST_CASE("The knee is the smallest batch that reaches nine tenths of the most") {
  const auto knee = batch_knee(curve({{4, 50.0}, {8, 89.9}, {16, 90.0}, {32, 100.0}, {64, 99.0}}));
  REQUIRE(knee);
  CHECK(knee->batch == 16);
  CHECK(knee->best == 32);
  CHECK(knee->largest == 64);
  CHECK_THAT(knee->share, WithinRel(0.9, 1e-12));
  CHECK_THAT(knee->memory_per_sample.base(), WithinRel(2e6, 1e-9));
}

TEST_CASE("A batch that does not fit is no knee") {
  Comparison comparison = curve({{8, 80.0}, {16, 100.0}, {32, 200.0}});
  comparison.candidates.back().prediction.memory.fits = false;
  const auto knee = batch_knee(comparison);
  REQUIRE(knee);
  CHECK(knee->batch == 16);
  CHECK(knee->largest == 16);
}

TEST_CASE("No knee where something else varies, or one point is left") {
  CHECK_FALSE(batch_knee(curve({{1, 80.0}, {2, 100.0}}, "gpus")));
  CHECK_FALSE(batch_knee(curve({{1, 80.0}})));
}

}  // namespace
}  // namespace tbdsim
