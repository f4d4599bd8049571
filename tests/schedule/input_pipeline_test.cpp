// Decoding threads, batches ahead, and a trainer behind them.
#include "model/schedule/input_pipeline.hpp"

#include <cmath>
#include <numeric>

#include "model/units/quantity.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

InputPipeline pipeline(InputMode mode, int threads, double spread = 0.0, int prefetch = 2) {
  InputPipeline made;
  made.mode = mode;
  made.threads = threads;
  made.prefetch = prefetch;
  made.decode = 10.0_ms;
  made.spread = spread;
  return made;
}

}  // namespace

TEST_CASE("makespan: the thread that is free first takes the next sample") {
  // Two threads: 5 and 1; 2 follows the 1, 4 follows the 2: 5 and 7.
  const std::vector<double> times{5, 1, 2, 4};
  CHECK(makespan(times, 2) == 7.0);
  CHECK(makespan(times, 1) == 12.0);
  CHECK(makespan(times, 4) == 5.0);
  CHECK(makespan(times, 100) == 5.0);
  CHECK(makespan({}, 3) == 0.0);
}

// Threads that share 10^9 samples wait for the last one no longer than with 10^5: the draws stop, the time does not.
TEST_CASE("huge batches cost no more draws and take their share of the threads' time") {
  const auto time = [](std::int64_t samples, int threads, double spread) {
    return decode_time(pipeline(InputMode::barrier, threads, spread), samples, 1, kPacedIterations).base();
  };
  for (const int threads : {1, 7, 39}) {
    INFO(threads);
    for (const double spread : {0.0, 0.6}) {
      CHECK_THAT(time(1'000'000'000, threads, spread), WithinRel(1e9 / threads * 10e-3, 1e-4));
      // No step where the draws end.
      const double last = time(65'536, threads, spread), next = time(65'536 + threads, threads, spread);
      CHECK_THAT(next - last, WithinAbs(10e-3, 1e-6));
    }
    // Without a spread every turn is whole.
    CHECK_THAT(time(1'000'001, threads, 0.0), WithinRel(std::ceil(1'000'001.0 / threads) * 10e-3, 1e-9));
  }
}

TEST_CASE("decode times: mean 1, the spread asked for, the same for the same seed, others for another") {
  const std::vector<double> times = decode_times(0.6, 200, 60, 1);
  REQUIRE(times.size() == 200 * 60);
  const double n = static_cast<double>(times.size());
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / n;
  double squares = 0.0;
  for (const double t : times) squares += (t - mean) * (t - mean);
  CHECK_THAT(mean, WithinRel(1.0, 0.01));
  CHECK_THAT(std::sqrt(squares / n), WithinRel(0.6, 0.05));
  CHECK(times == decode_times(0.6, 200, 60, 1));
  CHECK(times != decode_times(0.6, 200, 60, 2));
}

TEST_CASE("decode times are stratified: each sample sees every quantile once") {
  // Over 4 batches one time of a sample lies in each quarter; the median of the log-normal is exp(-sigma^2 / 2).
  const double median = std::exp(-0.5 * std::log1p(0.36));
  const std::vector<double> times = decode_times(0.6, 3, 4, 7);
  for (std::size_t sample = 0; sample < 3; ++sample) {
    int below = 0;
    for (std::size_t batch = 0; batch < 4; ++batch) below += times[batch * 3 + sample] < median ? 1 : 0;
    CHECK(below == 2);
  }
}

TEST_CASE("stream: the slower of trainer and decoding threads sets the pace") {
  // 8 samples of 10 ms on 4 threads: 20 ms a batch.
  const InputPipeline stream = pipeline(InputMode::stream, 4);
  CHECK_THAT(pace(stream, 8, 5.0_ms, 1).step.base(), WithinRel(20e-3, 1e-9));
  CHECK_THAT(pace(stream, 8, 5.0_ms, 1).share, WithinRel(1.0, 1e-9));
  CHECK_THAT(pace(stream, 8, 50.0_ms, 1).step.base(), WithinRel(50e-3, 1e-9));
  CHECK(pace(stream, 8, 50.0_ms, 1).share == 0.0);
  CHECK_THAT(pace(stream, 8, 50.0_ms, 1).load.base(), WithinRel(20e-3, 1e-9));
}

TEST_CASE("barrier: whole rounds of threads, so the rate grows with the batch") {
  const InputPipeline barrier = pipeline(InputMode::barrier, 4);
  CHECK_THAT(pace(barrier, 4, 1.0_ms, 1).step.base(), WithinRel(10e-3, 1e-9));
  CHECK_THAT(pace(barrier, 5, 1.0_ms, 1).step.base(), WithinRel(20e-3, 1e-9));  // the fifth has a round of its own
  CHECK_THAT(pace(barrier, 8, 1.0_ms, 1).step.base(), WithinRel(20e-3, 1e-9));
}

TEST_CASE("barrier with spread: 16, 32, 64, 128 samples on 39 threads wait 2.4, 2.8, 3.6, 5.3 mean decode times") {
  // Independent Monte Carlo of the same list scheduling, log-normal with spread 0.6, 1 % noise.
  const InputPipeline barrier = pipeline(InputMode::barrier, 39, 0.6, 4);
  const std::pair<std::int64_t, double> expected[] = {{16, 2.40}, {32, 2.81}, {64, 3.61}, {128, 5.26}};
  for (const auto& [samples, rounds] : expected) {
    INFO(samples << " samples");
    CHECK_THAT(pace(barrier, samples, 0.0_ms, 1).load / 10.0_ms, WithinRel(rounds, 0.06));
  }
}

TEST_CASE("batches ahead absorb the spread, without time to spare they cannot") {
  const Seconds training = 40.0_ms;
  const auto exposed = [&](int prefetch) {
    return pace(pipeline(InputMode::barrier, 39, 0.6, prefetch), 64, training, 1).step - training;
  };
  CHECK(exposed(1) >= exposed(2));
  CHECK(exposed(2) >= exposed(8));
  CHECK(exposed(1) > 0.0_ms);
}

TEST_CASE("a faster trainer, more threads, faster decoding never slow a step") {
  for (const std::int64_t samples : {1, 16, 39, 40, 200}) {
    Seconds before(1e9);
    for (const int threads : {1, 2, 4, 8, 16, 39, 80}) {
      const Seconds step = pace(pipeline(InputMode::barrier, threads, 0.6), samples, 3.0_ms, 1).step;
      INFO(samples << " samples, " << threads << " threads");
      CHECK(step <= before * 1.0001);
      CHECK(pace(pipeline(InputMode::barrier, threads, 0.6), samples, 2.0_ms, 1).step <= step * 1.0001);
      before = step;
    }
  }
}
