// Goals set on: Intel Xeon, 4 cores of a shared virtual machine, GCC 12, Release.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/schedule/pipeline/closed_form.hpp"
#include "model/schedule/pipeline/generate.hpp"
#include "model/schedule/pipeline/simulate_pipeline.hpp"
#include "tests/bench/bench.hpp"

namespace tbdsim::bench {

namespace {

using namespace tbdsim::pipeline;

/// Generates and simulates a table; returns the cost of one block, 0 where the benchmark is not wanted.
double time_table(Report& report, ScheduleKind kind, PipelineShape shape, Seconds goal) {
  const std::string name = fmt::format("pipeline: {}, {} ranks x {} micro-batches x {} chunks", pipeline::name(kind), shape.ranks,
                                       shape.micro_batches, shape.chunks);
  if (!report.wanted(name)) return 0.0;
  const SimTime second = SimTime::from(Seconds(1.0));
  const std::size_t blocks = generate(kind, shape)->blocks.size();
  const Spread spread = report.time(fmt::format("{}, {} blocks", name, blocks), goal, 21, [&] {
    const PipelineSchedule schedule = *generate(kind, shape);
    keep(simulate(schedule, equal_times(schedule, {second, second, second, {}})).makespan);
  });
  return spread.median / static_cast<double>(blocks);
}

void growth(Report& report) {
  double least = 1e300, greatest = 0.0;
  for (const std::int32_t micro_batches : {256, 1024, 4096, 16384}) {
    const double each = time_table(report, ScheduleKind::one_f_one_b, {16, micro_batches, 1}, Seconds(4e-6 * micro_batches));
    if (each == 0.0) return;
    least = std::min(least, each);
    greatest = std::max(greatest, each);
  }
  report.ratio("pipeline: growth of the cost of a block over 64 times as many micro-batches", greatest / least, 3.0);
}

void closed_forms(Report& report) {
  const std::vector<StageTime> ranks(16, {Seconds(1.0), Seconds(2.0), Seconds(0.1)});
  constexpr int kCalls = 1000;
  report.each("pipeline: fill and rate, 16 ranks", Seconds(100e-9), 11, kCalls, [&] {
    for (int i = 0; i < kCalls; ++i) keep(fill_and_rate(ranks, 64 + i));
  });
}

}  // namespace

void bench_pipeline(Report& report) {
  time_table(report, ScheduleKind::interleaved, {16, 256, 4}, Seconds(10e-3));
  time_table(report, ScheduleKind::one_f_one_b, {64, 256, 1}, Seconds(50e-3));
  time_table(report, ScheduleKind::zb_v, {64, 256, 2}, Seconds(50e-3));
  time_table(report, ScheduleKind::dualpipe, {64, 256, 2}, Seconds(50e-3));
  growth(report);
  closed_forms(report);
}

}  // namespace tbdsim::bench
