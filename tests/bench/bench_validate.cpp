// Goals set on: AMD EPYC (family 26), 2 cores of a shared virtual machine, GCC 12, Release.
#include <fmt/core.h>

#include <cstdlib>

#include "model/validation/assess.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/step_case.hpp"

namespace tbdsim::bench {

namespace {

constexpr std::string_view kTable = "/scenarios/published/mxnet_1_2.csv";

/// A table of `rows` rows on one GPU each: the runs of a published table again and again, with ids of their own and a
/// batch that grows from round to round, so that no two rows are alike.
std::vector<MeasuredRun> repeated(const std::vector<MeasuredRun>& published, std::size_t rows) {
  std::vector<MeasuredRun> runs;
  for (int round = 0; runs.size() < rows; ++round) {
    for (std::size_t i = 0; i < published.size() && runs.size() < rows; ++i) {
      MeasuredRun run = published[i];
      run.id += fmt::format("-{}", round);
      run.options.gpus = 1;
      run.options.batch = run.options.batch.value_or(32) + round;
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

}  // namespace

void bench_validate(Report& report) {
  constexpr int kRuns = 5;
  constexpr double kGoalPerRow = 500e-6;  // 10,000 rows in 5 s on 2 cores
  const auto published = read_measured_table(catalogue().root + std::string(kTable));
  if (!published) {
    fmt::print(stderr, "{}\n", published.error().front().message);
    std::exit(2);
  }
  // A row that cannot be predicted would cost next to nothing.
  if (assess(*open_session(catalogue()), repeated(*published, published->size())).all.skipped > 0) {
    fmt::print(stderr, "some rows of {} cannot be predicted\n", kTable);
    std::exit(2);
  }
  for (const int rows : {100, 1'000, 10'000}) {
    const std::vector<MeasuredRun> runs = repeated(*published, static_cast<std::size_t>(rows));
    report.time(fmt::format("validate {} rows of one GPU", rows), Seconds(kGoalPerRow * rows), rows < 10'000 ? 20 : kRuns,
                [&] { keep(assess(*open_session(catalogue()), runs)); });
  }
}

}  // namespace tbdsim::bench
