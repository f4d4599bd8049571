#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "model/analysis/grid_names.hpp"
#include "model/analysis/scenario_file.hpp"
#include "model/analysis/sweep.hpp"
#include "model/cli/command.hpp"
#include "model/cli/sweep_run.hpp"
#include "model/report/sweep_report.hpp"

namespace tbdsim {
namespace {

using Clock = std::chrono::steady_clock;

/// A line that rewrites itself on a terminal; nothing elsewhere.
class ProgressLine {
 public:
  void operator()(const SweepProgress& p) {
    if (isatty(STDERR_FILENO) == 0) return;
    const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
    const double rate = seconds > 0.0 ? static_cast<double>(p.predicted) / seconds : 0.0;
    const double left = rate > 0.0 ? static_cast<double>(p.all - p.done) / rate : 0.0;
    fmt::print(stderr, "\r{} of {} points, {:.0f}/s, {:.0f} s left   {}", p.done, p.all, rate, left, p.done == p.all ? "\n" : "");
    std::fflush(stderr);
  }

 private:
  Clock::time_point begun_ = Clock::now();
};

Result<StudyGrid> grid_of(const SweepArguments& arguments) {
  StudyGrid grid{{}, arguments.set};
  if (!arguments.grid.empty()) {
    auto axes = read_grid_file(arguments.grid);
    if (!axes) return tl::make_unexpected(axes.error());
    grid.axes = std::move(*axes);
  }
  Errors errors;
  for (const auto& [option, text] : arguments.axes) {
    auto axis = parse_axis(option, text);
    if (!axis) {
      errors.insert(errors.end(), axis.error().begin(), axis.error().end());
      continue;
    }
    const auto same =
        std::find_if(grid.axes.begin(), grid.axes.end(), [&](const GridAxis& a) { return a.option == axis->option; });
    if (same == grid.axes.end())
      grid.axes.push_back(std::move(*axis));
    else
      *same = std::move(*axis);
  }
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  return grid;
}

/// Why the first row of the grid that has no figures has none.
std::string first_problem(const SweepStore& store) {
  std::string reason;
  const auto read = store.each([&](const SweepRow& row) {
    if (reason.empty()) reason = row.problem;
  });
  return read ? reason : to_text(read.error());
}

int export_rows(const SweepArguments& arguments) {
  if (arguments.words.size() != 2) return report({Error{"sweep export: expected one file, such as sweep export FILE.db"}});
  if (arguments.format == Format::table) return report({Error{"sweep export: --format is csv or json, not table"}});
  auto store = SweepStore::open(arguments.words[1], "", false);
  if (!store) return report(store.error());
  return deliver(sweep_export(*store, arguments.format == Format::json, arguments.pareto).map([](std::string text) {
    return Answer{std::move(text), {}};
  }));
}

int merge(const SweepArguments& arguments) {
  if (arguments.words.size() < 3) return report({Error{"sweep merge: expected a file to write and files to read"}});
  for (std::size_t i = 2; i < arguments.words.size(); ++i) {
    std::error_code ignored;
    if (arguments.words[i] == arguments.words[1] || std::filesystem::equivalent(arguments.words[i], arguments.words[1], ignored))
      return report(
          {Error{fmt::format("sweep merge: {} is both written and read; name another file to write", arguments.words[i])}});
  }
  const auto rows = merge_sweeps(arguments.words[1], {arguments.words.begin() + 2, arguments.words.end()});
  if (!rows) return report(rows.error());
  return write_result(fmt::format("{} rows in {}\n", *rows, arguments.words[1]));
}

}  // namespace

Result<std::int64_t> merge_sweeps(const std::string& output, const std::vector<std::string>& parts) {
  std::string grid;
  std::int64_t rows_held = 0;
  for (const std::string& part : parts) {
    auto from = SweepStore::open(part, grid, false);
    if (!from) return tl::make_unexpected(from.error());
    grid = from->grid();
    auto into = SweepStore::open(output, grid, true);
    if (!into) return tl::make_unexpected(into.error());
    std::vector<SweepRow> rows;
    Result<void> added;
    const auto flush = [&] {
      if (added) added = into->add(rows);
      rows.clear();
    };
    const auto read = from->each([&](const SweepRow& row) {
      rows.push_back(row);
      if (rows.size() >= 4096) flush();
    });
    flush();
    if (!read) return tl::make_unexpected(read.error());
    if (!added) return tl::make_unexpected(added.error());
    rows_held = into->rows();
  }
  return rows_held;
}

Result<SweepProgress> sweep_into(const std::string& output, const SweepArguments& arguments, const Catalogue& catalogue,
                                 SweepShard shard, bool progress) {
  const auto grid = grid_of(arguments);
  if (!grid) return tl::make_unexpected(grid.error());
  if (arguments.output.empty()) return fail("sweep: no file named for the results; use -o FILE.db");
  const auto session = open_session(catalogue);
  if (const Errors unknown = unknown_names(*session, *grid); !unknown.empty()) return tl::make_unexpected(unknown);
  auto store = SweepStore::open(output, grid_text(*grid), true);
  if (!store) return tl::make_unexpected(store.error());
  std::function<void(const SweepProgress&)> tell = [](const SweepProgress&) {};
  if (progress) tell = ProgressLine();
  return sweep(*session, *grid, shard, *store, tell);
}

int tell_sweep(const SweepArguments& arguments, const SweepProgress& done) {
  const auto store = SweepStore::open(arguments.output, "", false);
  if (!store) return report(store.error());
  const std::int64_t rows = store->rows(), problems = store->problems();
  const int written =
      write_result(fmt::format("{} points, {} predicted now, {} rows in {}{}\n", done.all, done.predicted, rows, arguments.output,
                               problems > 0 ? fmt::format(", {} of them only a reason why not", problems) : ""));
  if (written != kDone || rows == 0 || problems < rows) return written;
  if (const std::string reason = first_problem(*store); !reason.empty())
    fmt::print(stderr, "tbdsim: sweep: the first: {}\n", reason);
  return kCheckFailed;
}

int run(const SweepArguments& arguments, const Catalogue& catalogue) {
  const std::string action = arguments.words.empty() ? "" : arguments.words.front();
  if (action == "export") return export_rows(arguments);
  if (arguments.pareto) return report({Error{"sweep: --pareto is for sweep export"}});
  if (action == "merge") return merge(arguments);
  if (!action.empty()) return report({Error{fmt::format("sweep: expected options, export or merge, got \"{}\"", action)}});
  const auto done = sweep_into(arguments.output, arguments, catalogue, {arguments.shard, arguments.shards}, true);
  if (!done) return report(done.error());
  return tell_sweep(arguments, *done);
}

}  // namespace tbdsim
