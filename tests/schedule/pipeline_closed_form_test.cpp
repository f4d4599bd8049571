// Closed forms of pipelines against the simulation of their tables: equal where ranks are equal, within stated errors otherwise.
#include "model/schedule/pipeline/closed_form.hpp"

#include <array>
#include <cmath>

#include "model/schedule/pipeline/in_flight.hpp"
#include "tests/catch.hpp"
#include "tests/schedule/pipeline_case.hpp"

using namespace tbdsim;
using namespace tbdsim::pipeline;
using Catch::Matchers::WithinRel;

namespace {

SimTime makespan(ScheduleKind kind, PipelineShape shape, ChunkTime time) {
  const PipelineSchedule schedule = *generate(kind, shape);
  return simulate(schedule, equal_times(schedule, time)).makespan;
}

/// F, B and W of a chunk: all equal, and each of them the longest, with W no longer than the others where the form asks for that.
constexpr std::array<std::array<int, 3>, 4> kTimes{{{1, 1, 1}, {4, 5, 3}, {4, 6, 4}, {5, 4, 4}}};

double seconds(SimTime time) { return time.seconds().base(); }

/// How far a form is from the simulation over the random cases.
struct FormError {
  double sum = 0.0, worst = 0.0;
  int cases = 0;
  void add(Seconds form, SimTime exact) {
    const double error = std::abs(form.base() / seconds(exact) - 1.0);
    sum += error;
    worst = std::max(worst, error);
    ++cases;
  }
  [[nodiscard]] double mean() const { return sum / cases; }
};

/// Ranks up to 20 % apart with B = 2F, of every other case the last one 1.3 times, hops of 0 to 30 % of F.
std::vector<StageTime> random_ranks(std::mt19937& random, bool slow_last) {
  std::uniform_real_distribution<double> apart(1.0, 1.2), hop(0.0, 0.3);
  std::vector<StageTime> ranks(2 + random() % 15);
  const Seconds each(hop(random));
  for (StageTime& rank : ranks) {
    const Seconds forward(apart(random));
    rank = {forward, 2.0 * forward, each};
  }
  if (slow_last) ranks.back() = {1.3 * ranks.back().forward, 1.3 * ranks.back().backward, each};
  return ranks;
}

}  // namespace

TEST_CASE("pipeline closed forms: equal ranks take exactly what the formula says") {
  for (const auto& [f, b, w] : kTimes) {
    const StageTime rank{Seconds(f), Seconds(b + w)};
    for (std::int32_t p = 2; p <= 16; ++p) {
      for (std::int32_t m = p; m <= 4 * p; ++m) {
        INFO("p " << p << ", m " << m << ", F " << f << ", B " << b << ", W " << w);
        const SimTime simple = SimTime::from(ideal_time(rank, m) + bubble_1f1b(p, rank));
        REQUIRE(makespan(ScheduleKind::gpipe, {p, m, 1}, whole_seconds(f, b, w)) == simple);
        REQUIRE(makespan(ScheduleKind::one_f_one_b, {p, m, 1}, whole_seconds(f, b, w)) == simple);
        REQUIRE(makespan(ScheduleKind::zb_h1, {p, m, 1}, whole_seconds(f, b, w)) ==
                SimTime::from(ideal_time(rank, m) + bubble_zb_h1(p, Seconds(f), Seconds(b), Seconds(w))));
      }
    }
  }
}

TEST_CASE("pipeline closed forms: interleaved chunks take exactly what the formula says") {
  for (const auto& [f, b, w] : kTimes) {
    for (std::int32_t p = 2; p <= 16; ++p) {
      for (std::int32_t m = p; m <= 4 * p; m += p) {
        for (std::int32_t v = 1; v <= 4; ++v) {
          INFO("p " << p << ", m " << m << ", v " << v << ", F " << f << ", B " << b << ", W " << w);
          const StageTime rank{Seconds(v * f), Seconds(v * (b + w))};
          const SimTime simulated = makespan(ScheduleKind::interleaved, {p, m, v}, whole_seconds(f, b, w));
          REQUIRE(simulated == SimTime::from(ideal_time(rank, m) + bubble_interleaved(p, v, rank)));
          const std::vector<StageTime> ranks(static_cast<std::size_t>(p), rank);
          REQUIRE_THAT(interleaved_time(ranks, v, m).base(), WithinRel(seconds(simulated), 1e-12));
        }
      }
    }
  }
}

TEST_CASE("pipeline closed forms: the middle ranks of DualPipe idle as its paper states, whatever a joined pair saves") {
  for (const auto& [f, w, saved] : std::array<std::array<int, 3>, 5>{{{1, 1, 0}, {4, 3, 0}, {4, 3, 2}, {5, 2, 3}, {4, 4, 1}}}) {
    for (std::int32_t p = 2; p <= 16; p += 2) {
      for (std::int32_t m = 2 * p; m <= 4 * p; m += 2) {
        INFO("p " << p << ", m " << m << ", F " << f << ", W " << w << ", saved " << saved);
        const PipelineSchedule schedule = *generate(ScheduleKind::dualpipe, {p, m, 2});
        BlockTimes times = equal_times(schedule, whole_seconds(f, f, w));
        times.saved.assign(static_cast<std::size_t>(p), SimTime::from(Seconds(saved)));
        const PipelineRun run = simulate(schedule, times);
        const SimTime bubble = SimTime::from(bubble_dualpipe(p, Seconds(2 * f + w - saved), Seconds(f + w), Seconds(w)));
        for (const std::int32_t middle : {p / 2 - 1, p / 2}) REQUIRE(run.idle[static_cast<std::size_t>(middle)] == bubble);
        if (saved == 0) REQUIRE(run.makespan == SimTime::from(ideal_time({Seconds(f), Seconds(f + w)}, m)) + bubble);
      }
    }
  }
}

TEST_CASE("pipeline closed forms: ZB-V with equal passes idles only before its first and after its last block") {
  for (std::int32_t p = 2; p <= 16; ++p) {
    for (std::int32_t m = 2 * p - 1; m <= 4 * p; ++m) {
      INFO("p " << p << ", m " << m);
      const PipelineSchedule schedule = *generate(ScheduleKind::zb_v, {p, m, 2});
      const PipelineRun run = simulate(schedule, equal_times(schedule, whole_seconds(1, 1, 1)), Spans::all);
      REQUIRE(run.makespan == SimTime::from(ideal_time({Seconds(2), Seconds(4)}, m) + bubble_zb_v(p, Seconds(1))));
      for (std::int32_t rank = 0; rank < p; ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        const SimTime start = run.spans[static_cast<std::size_t>(schedule.offsets[r])].start;
        REQUIRE(start == SimTime::from(Seconds(rank)));
        REQUIRE(run.finished[r] - start == run.busy[r]);
      }
    }
  }
}

TEST_CASE("pipeline closed forms: a worked example") {
  // Four ranks, F = 1 s, B = 2 s, 8 micro-batches: 8 x 3 s and a bubble of 3 x 3 s, 37.5 % of the ideal (p-1)/m.
  const StageTime rank{Seconds(1), Seconds(2)};
  CHECK(bubble_1f1b(4, rank).base() == 9.0);
  CHECK(bubble_1f1b(4, rank) / ideal_time(rank, 8) == 3.0 / 8.0);
  // Two chunks a rank halve it; apart from B, W = 1 s fills a third of it in place of the whole backward.
  CHECK(bubble_interleaved(4, 2, rank).base() == 4.5);
  CHECK(bubble_zb_h1(4, Seconds(1), Seconds(1), Seconds(1)).base() == 3.0);
  CHECK(seconds(makespan(ScheduleKind::one_f_one_b, {4, 8, 1}, whole_seconds(1, 1, 1))) == 33.0);
  CHECK(seconds(makespan(ScheduleKind::zb_h1, {4, 8, 1}, whole_seconds(1, 1, 1))) == 27.0);
}

TEST_CASE("pipeline closed forms: micro-batches in flight as their tables have them") {
  constexpr double kShare = 0.5;
  const auto peak = [](ScheduleKind kind, PipelineShape shape, std::int32_t rank) {
    return peak_in_flight(*generate(kind, shape), rank, kShare);
  };
  for (std::int32_t p = 2; p <= 9; ++p) {
    for (std::int32_t m = 1; m <= 4 * p; ++m) {
      for (std::int32_t i = 0; i < p; ++i) {
        INFO("p " << p << ", m " << m << ", rank " << i);
        REQUIRE(peak(ScheduleKind::gpipe, {p, m, 1}, i) == m);
        REQUIRE(peak(ScheduleKind::one_f_one_b, {p, m, 1}, i) == in_flight_1f1b(p, m, i));
        if (m >= p) REQUIRE(peak(ScheduleKind::zb_h1, {p, m, 1}, i) == in_flight_zb_h1(p, i, kShare));
        for (std::int32_t v = 1; v <= 4 && m % p == 0; ++v)
          REQUIRE(peak(ScheduleKind::interleaved, {p, m, v}, i) == in_flight_interleaved(p, m, v, i));
        if (!unmet_demand(ScheduleKind::dualpipe, {p, m, 2}))
          REQUIRE(peak_in_flight(*generate(ScheduleKind::dualpipe, {p, m, 2}), i, 0.0) == in_flight_dualpipe(p));
      }
    }
  }
  // Rank 0 of 8 with 2 chunks: 8 (1 + 7/16) micro-batches' worth of its layers, in chunks twice as many.
  CHECK(in_flight_interleaved(8, 32, 2, 0) == 2 * 8 * (1 + 7.0 / 16));
}

TEST_CASE("pipeline closed forms: GPipe's is the simulation, the fast forms keep to their errors") {
  std::mt19937 random(2024);
  FormError by_rate, interleaved;
  for (int i = 0; i < 250; ++i) {
    const std::vector<StageTime> ranks = random_ranks(random, i % 2 == 0);
    const auto p = static_cast<std::int32_t>(ranks.size());
    const std::int32_t m = p + static_cast<std::int32_t>(random() % static_cast<unsigned>(7 * p));
    INFO("case " << i << ", p " << p << ", m " << m);
    const PipelineSchedule schedule = *generate(ScheduleKind::one_f_one_b, {p, m, 1});
    const SimTime exact = simulate(schedule, block_times(ranks)).makespan;
    const PipelineSchedule gpipe = *generate(ScheduleKind::gpipe, {p, m, 1});
    REQUIRE_THAT(gpipe_time(ranks, m).base(), WithinRel(seconds(simulate(gpipe, block_times(ranks)).makespan), 1e-11));
    by_rate.add(fill_and_rate(ranks, m), exact);
    const std::int32_t v = 2 + i % 3;
    const PipelineSchedule chunks = *generate(ScheduleKind::interleaved, {p, m / p * p, v});
    BlockTimes times = equal_times(chunks, {});
    for (std::size_t place = 0; place < times.places.size(); ++place) {
      const StageTime& rank = ranks[place / static_cast<std::size_t>(v)];
      times.places[place] = {SimTime::from(rank.forward / v), SimTime::from(rank.backward / v), {}, SimTime::from(rank.hop)};
    }
    interleaved.add(interleaved_time(ranks, v, m / p * p), simulate(chunks, times).makespan);
  }
  // What closed_form.hpp states.
  CHECK(by_rate.mean() < 0.003);
  CHECK(by_rate.worst < 0.025);
  CHECK(interleaved.mean() < 0.008);
  CHECK(interleaved.worst < 0.053);
}
