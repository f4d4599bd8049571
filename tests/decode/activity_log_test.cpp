#include "calibrate/decode/activity_log.hpp"

#include <algorithm>
#include <cmath>

#include "calibrate/decode/back_to_back.hpp"
#include "calibrate/decode/steady_state.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;

namespace {

/// A recording made up for tests: `warm_up` odd kernels, then iterations of 10 us: copy 1 us, gap 1 us, gemm 4 us, relu twice
/// 1 us each, gap 2 us. A checkpoint kernel after iteration `odd` runs inside the gap.
ActivityLog constructed(int warm_up, int iterations, int odd = -1) {
  ActivityLog log;
  std::uint32_t correlation = 0;
  const auto add = [&](ActivityKind kind, const char* name, std::int64_t start, std::int64_t end, std::int32_t grid) {
    Activity a;
    a.kind = kind;
    a.correlation = ++correlation;
    a.start_ns = start;
    a.end_ns = end;
    a.grid = {grid, 1, 1};
    a.block = {256, 1, 1};
    a.bytes = kind == ActivityKind::copy ? 4096 : 0;
    a.name = name;
    log.activities.push_back(a);
  };
  std::int64_t now = 0;
  for (int i = 0; i < warm_up; ++i, now += 3000) add(ActivityKind::kernel, "find_best", now, now + 2500, 100 + i);
  for (int i = 0; i < iterations; ++i, now += 10000) {
    add(ActivityKind::copy, "HtoD", now, now + 1000, 0);
    add(ActivityKind::kernel, "hmma_gemm_128x128", now + 2000, now + 6000, 64);
    add(ActivityKind::kernel, "relu", now + 6000, now + 7000, 8);
    add(ActivityKind::kernel, "relu", now + 7000, now + 8000, 8);
    if (i == odd) add(ActivityKind::kernel, "checkpoint", now + 8500, now + 9000, 1);
  }
  return log;
}

std::string text_of(const ActivityLog& log) {
  std::string text = activity_header(log);
  for (const Activity& a : log.activities) text += activity_line(a);
  return text;
}

}  // namespace

TEST_CASE("a recording reads back as it was written") {
  ActivityLog log = constructed(2, 1);
  log.device = "Some GPU";
  log.activities.front().name = "void f<int, 3>(float const*)";
  Activity fill;
  fill.kind = ActivityKind::fill;
  fill.start_ns = fill.end_ns = 99000;
  fill.bytes = 512;
  log.activities.push_back(fill);
  const auto again = parse_activity_log(text_of(log) + "dropped 1\ndropped 2\n", "r.txt");
  if (!again) FAIL(to_text(again.error()));
  CHECK(again->device == "Some GPU");
  CHECK(again->dropped == 3);
  REQUIRE(again->activities.size() == log.activities.size());
  CHECK(text_of(*again) == text_of(log));
  CHECK(again->activities[1].time().base() == Approx(2.5e-6));
}

TEST_CASE("a recording that was cut keeps all but its last line") {
  const std::string text = text_of(constructed(0, 2));
  const auto cut = parse_activity_log(text.substr(0, text.size() - 9), "r.txt");
  REQUIRE(cut);
  CHECK(cut->activities.size() == 7);
}

TEST_CASE("what is no recording is refused with its place") {
  CHECK(to_text(parse_activity_log("hello\n", "r.txt").error()) ==
        "r.txt:1:1: expected a recording that starts with \"tbdsim-activity 1\"\n");
  CHECK(to_text(parse_activity_log("tbdsim-activity 1\ncopy 1 7 20 10 64 HtoD\nkernel 1 2\n", "r.txt").error()) ==
        "r.txt:2:1: expected a kernel, copy or fill with its numbers, got \"copy 1 7 20 10 64 HtoD\"\n"
        "r.txt:3:1: expected a kernel, copy or fill with its numbers, got \"kernel 1 2\"\n");
}

TEST_CASE("steady iterations are found behind a warm-up of another kind") {
  const ActivityLog log = constructed(17, 40);
  const auto steady = find_iterations(log, {3, 5});
  if (!steady) FAIL(to_text(steady.error()));
  CHECK(steady->kernels == 3);
  REQUIRE(steady->windows.size() == 5);
  CHECK(steady->windows.front().start_ns >= 17 * 3000 + 3 * 10000);
  const ProfileSummary s = summarize(log, *steady);
  CHECK(s.step.base() == Approx(10e-6));
  CHECK(s.step_spread.base() == Approx(0.0).margin(1e-12));
  CHECK(s.busy == Approx(0.6));
  CHECK(s.copying == Approx(0.1));
  CHECK(s.launches == Approx(3.0));
  CHECK(s.tensor_core == Approx(4.0 / 6.0));
  REQUIRE(s.kernels.size() == 2);
  CHECK(s.kernels[0].name == "hmma_gemm_128x128");
  CHECK(s.kernels[0].share == Approx(4.0 / 6.0));
  CHECK(s.kernels[1].calls == Approx(2.0));
  CHECK(s.kernels[1].mean.base() == Approx(1e-6));
  CHECK(s.fastest.base() == Approx(10e-6));
  CHECK(s.slowest.base() == Approx(10e-6));
  CHECK(s.kernels[0].tensor_core);
  CHECK_FALSE(s.kernels[1].tensor_core);
}

TEST_CASE("occupancy of an iteration weighs kernels by their time") {
  const ActivityLog log = constructed(0, 40);
  const auto steady = find_iterations(log, {3, 5});
  REQUIRE(steady);
  const auto wide = [](const Activity& a) { return a.grid[0] == 64 ? 0.25 : 1.0; };
  const ProfileSummary s = summarize(log, *steady, wide);
  CHECK(s.occupancy == Approx((4.0 * 0.25 + 2.0 * 1.0) / 6.0));
  CHECK(s.kernels[0].occupancy == Approx(0.25));
  CHECK(s.kernels[1].occupancy == Approx(1.0));
}

TEST_CASE("one odd kernel among many iterations does not hide the period") {
  const auto steady = find_iterations(constructed(5, 200, 150), {0, 10});
  REQUIRE(steady);
  CHECK(steady->kernels == 3);
}

TEST_CASE("too short a recording says what there is") {
  CHECK(find_iterations(constructed(30, 2), {0, 1}).error().front().message ==
        "no iteration repeats three times among the last 18 of 36 recorded kernels; let the program train longer");
  const auto few = find_iterations(constructed(0, 40), {60, 5});
  REQUIRE_FALSE(few);
  CHECK(few.error().front().message == "39 steady iterations were recorded, --skip 60 --iterations 5 need 65");
  CHECK_FALSE(find_iterations(ActivityLog{}, {0, 1}));
}

namespace {

/// A training program made up for tests. An iteration lasts `step` and runs `layers` layers of three kernels forward, as many
/// backward, and an optimiser's two; now and then something more.
struct Program {
  int iterations = 400, layers = 8;
  std::int64_t step = 6'000'000;
  int log_every = 0;         ///< copies the loss and scales it
  int passes = 1;            ///< before the optimiser runs
  int evaluate_every = 0;    ///< runs five forward passes
  bool prefetch = false;     ///< copies the batch on a stream of its own, at any time
  bool collective = false;   ///< reduces gradients on a stream of its own, in one of two orders
  bool same_layers = false;  ///< kernels of the layers do not tell which

  [[nodiscard]] ActivityLog run() const {
    ActivityLog log;
    std::int64_t now = 1000;
    const auto add = [&](ActivityKind kind, std::uint32_t stream, std::string name, std::int64_t start, int grid) {
      Activity a;
      a.kind = kind;
      a.stream = stream;
      a.start_ns = start;
      a.end_ns = start + 20'000;
      a.grid = {grid, 1, 1};
      a.name = std::move(name);
      log.activities.push_back(a);
    };
    const auto kernel = [&](std::string name, int grid) {
      add(ActivityKind::kernel, 7, std::move(name), now, grid);
      now += 22'000;
    };
    const auto forward = [&] {
      for (int l = 0; l < layers; ++l) {
        for (const char* name : {"gemm", "add", "relu"}) kernel(name, same_layers ? 1 : 1 + l);
      }
    };
    for (int i = 0; i < iterations; ++i) {
      const std::int64_t begin = now;
      if (prefetch) add(ActivityKind::copy, 14, "HtoD", begin + (i * 7919) % 997 * 1000, 0);
      forward();
      for (int l = layers - 1; l >= 0; --l) {
        for (const char* name : {"relu_back", "gemm", "gemm_back", "add"}) kernel(name, same_layers ? 1 : 1 + l);
        if (collective && l % 4 == i % 2) add(ActivityKind::kernel, 20, l % 8 < 4 ? "nccl_a" : "nccl_b", now - 30'000, 4);
      }
      if (i % passes == passes - 1) {
        for (const int grid : {320, 17}) kernel("optimizer", grid);
      }
      if (log_every > 0 && i % log_every == log_every - 1) {
        kernel("scale", 1);
        add(ActivityKind::copy, 7, "DtoH", now, 0);
      }
      now = begin + step;
      if (evaluate_every > 0 && i % evaluate_every == evaluate_every - 1) {
        for (int n = 0; n < 5; ++n) forward();
      }
    }
    std::stable_sort(log.activities.begin(), log.activities.end(),
                     [](const Activity& a, const Activity& b) { return a.start_ns < b.start_ns; });
    return log;
  }
};

/// The step that a profile of the program tells.
double step_of(const Program& program, const IterationChoice& choice = {50, 5}) {
  const ActivityLog log = program.run();
  const auto steady = find_iterations(log, choice);
  if (!steady) FAIL(to_text(steady.error()));
  return summarize(log, *steady).step.base();
}

}  // namespace

TEST_CASE("a loss that is read now and then does not make the iteration longer") {
  for (const int every : {0, 1, 2, 3, 10, 20, 25}) {
    for (const std::int64_t step : {6'000'000, 30'000'000}) {
      Program program;
      program.log_every = every;
      program.step = step;
      INFO("every " << every << ", " << step << " ns");
      CHECK(step_of(program) == Approx(1e-9 * static_cast<double>(step)).epsilon(1e-3));
    }
  }
  Program program;
  program.log_every = 10;
  const auto steady = find_iterations(program.run(), {50, 5});
  REQUIRE(steady);
  CHECK(steady->every == 10);
  CHECK(steady->more == Approx(1.0));
  CHECK(steady->kernels == 58);
}

TEST_CASE("copies and collectives on other streams fall where they will") {
  Program program;
  program.prefetch = true;
  CHECK(step_of(program) == Approx(6e-3).epsilon(1e-3));
  program.collective = true;
  program.log_every = 10;
  CHECK(step_of(program) == Approx(6e-3).epsilon(1e-3));
  const ActivityLog log = program.run();
  const auto steady = find_iterations(log, {50, 10});
  REQUIRE(steady);
  const ProfileSummary s = summarize(log, *steady);
  CHECK(s.launches == Approx(58 + 2 + 0.1));  // those of the collectives too
  CHECK(s.busy > 58 * 20e-6 / 6e-3);
  CHECK(s.copying < 2 * 20e-6 / 6e-3);
}

TEST_CASE("layers that are alike are no iteration, nor is a half of one") {
  Program program;
  program.same_layers = true;
  program.layers = 24;
  CHECK(step_of(program) == Approx(6e-3).epsilon(1e-3));
}

TEST_CASE("evaluations between iterations are left out") {
  Program program;
  program.evaluate_every = 20;
  CHECK(step_of(program) == Approx(6e-3).epsilon(1e-3));
  const auto steady = find_iterations(program.run(), {50, 5});
  REQUIRE(steady);
  CHECK(steady->left_out == 19);  // the last has no iteration behind it
}

TEST_CASE("passes that accumulate gradients are told apart from the iteration that they make") {
  for (const int passes : {2, 4, 8, 16}) {
    Program program;
    program.passes = passes;
    program.iterations = 50 * passes;
    INFO(passes << " passes");
    const ActivityLog log = program.run();
    const auto one = find_iterations(log, {10, 4 * passes});
    if (!one) FAIL(to_text(one.error()));
    CHECK(one->every == passes);
    CHECK(one->more == Approx(2.0));
    CHECK(step_of(program, {10, 5, passes}) == Approx(6e-3 * passes).epsilon(1e-3));
    CHECK(find_iterations(log, {10, 5, 3}).has_value() == false);
  }
}

TEST_CASE("an iteration without a kernel that runs once is found by pairs") {
  ActivityLog log;
  for (int i = 0; i < 400; ++i) {
    Activity a;
    a.name = i % 4 < 2 ? "gemm" : "relu";
    a.start_ns = 1000 * i;
    a.end_ns = a.start_ns + 900;
    log.activities.push_back(a);
  }
  const auto steady = find_iterations(log, {10, 5});
  REQUIRE(steady);
  CHECK(steady->kernels == 4);
}

TEST_CASE("work back to back: what runs at once counts once, a gap of the device is part of it, a wait for the host is not") {
  const auto runs = [](std::vector<std::pair<std::int64_t, std::int64_t>> spans) {
    std::vector<Activity> activities;
    for (const auto& [start, end] : spans) {
      Activity a;
      a.start_ns = start;
      a.end_ns = end;
      activities.push_back(a);
    }
    const DeviceTime t = back_to_back(activities, Seconds(1e-6));
    return std::pair{std::llround(1e9 * t.time.base()), std::llround(1e9 * t.kernels.base())};
  };
  CHECK(runs({{100, 5100}}) == std::pair{6000LL, 5000LL});                              // and the gap before the next work
  CHECK(runs({{0, 5000}, {6000, 8000}}) == std::pair{9000LL, 7000LL});                  // a whole gap between
  CHECK(runs({{0, 5000}, {5200, 8200}}) == std::pair{9200LL, 8000LL});                  // a shorter one, as it was
  CHECK(runs({{0, 5000}, {90000, 92000}}) == std::pair{9000LL, 7000LL});                // the host was late
  CHECK(runs({{2000, 7000}, {0, 9000}, {1000, 3000}}) == std::pair{10000LL, 16000LL});  // side by side, in any order
}
