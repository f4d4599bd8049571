#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <string_view>

#include "model/cli/command.hpp"
#include "model/cli/sweep_run.hpp"
#include "model/input/output_file.hpp"
#include "model/report/sweep_report.hpp"
#include "model/report/thinned_pages.hpp"
#include "model/study/grid_names.hpp"
#include "model/study/sweep.hpp"
#include "model/support/progress_line.hpp"
#include "model/validation/scenario_file.hpp"

namespace tbdsim {
namespace {

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

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored);
}

/// Refuses options of a sweep where `action` reads finished ones.
Result<void> check_no_grid(const SweepArguments& arguments, std::string_view action) {
  std::vector<std::string> options;
  for (const auto& [option, text] : arguments.axes) options.push_back("--" + option);
  if (!arguments.set.empty()) options.emplace_back("--set or --what-if");
  if (!arguments.grid.empty()) options.emplace_back("--grid");
  if (arguments.shards > 1) options.emplace_back("--shard");
  if (options.empty()) return {};
  return fail(
      fmt::format("sweep {}: takes all rows of a file; the sweep that writes one takes {}", action, fmt::join(options, ", ")));
}

/// Where the rows of a sweep go, by the ending of its -o.
struct SweepOutput {
  std::string database;             ///< SQLite, which an interrupted sweep goes on from
  std::string text;                 ///< written of it when the sweep is done; empty: none
  SweepForm form = SweepForm::csv;  ///< of `text`
};

bool has_ending(const std::string& name, std::string_view ending) {
  return name.size() > ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

/// `FILE.db`, a part of tbdsim-mpi (`FILE.db.rank3`), or a file that is there already, which the store then checks.
bool names_database(const std::string& output) {
  constexpr std::string_view kRank = ".rank";
  const std::size_t rank = output.rfind(kRank);
  const bool part = rank != std::string::npos && output.find_first_not_of("0123456789", rank + kRank.size()) == std::string::npos;
  std::error_code ignored;
  return part || has_ending(output, ".db") || std::filesystem::exists(output, ignored);
}

Result<SweepOutput> output_of(const std::string& output) {
  if (output.empty()) return fail("sweep: no file named for the results; use -o FILE.db");
  if (has_ending(output, ".csv")) return SweepOutput{output + ".db", output, SweepForm::csv};
  if (has_ending(output, ".jsonl")) return SweepOutput{output + ".db", output, SweepForm::lines};
  if (names_database(output)) return SweepOutput{output, {}, {}};
  return fail(fmt::format("sweep: -o: expected a file that ends in .db (SQLite), .csv or .jsonl, got \"{}\"", output));
}

/// A file of exported rows. No export reads anything but its database.
OutputFile exported_file(const std::string& path, SweepForm form, const std::string& database) {
  return {path, std::string(form == SweepForm::csv ? kSweepCsvMark : kSweepJsonMark), {database}};
}

/// Says on stderr how much of its grid an unfinished sweep holds.
void tell_unfinished(const SweepStore& store, const std::string& file) {
  const std::int64_t rows = store.rows(), points = store.points();
  if (rows == 0 && points == 0)
    report_notices({fmt::format("{} holds no points: the sweep that wrote it ended before its first; run it again", file)});
  if (points > rows)
    report_notices(
        {fmt::format("{} holds {} of {} points; the sweep that wrote it goes on where it is run again", file, rows, points)});
}

/// Writes the page that was asked for.
Result<void> write_page(const SweepArguments& arguments, const SweepStore& store) {
  if (!arguments.report.asked()) return {};
  const auto data = sweep_page_data(store);
  if (!data) return tl::make_unexpected(data.error());
  return arguments.report.write("sweep", *data, {});
}

Result<SweepForm> export_form(const SweepArguments& arguments) {
  const std::string& output = arguments.output;
  const bool json = arguments.format == Format::json;
  if (arguments.format == Format::table) return fail("sweep export: --format is csv or json, not table");
  if (has_ending(output, ".jsonl")) return SweepForm::lines;
  if (has_ending(output, ".db") || (json && has_ending(output, ".csv")))
    return fail(fmt::format("sweep export: writes {}, and -o {} ends otherwise; name a file that ends in .csv, .json or .jsonl",
                            json ? "JSON" : "CSV", output));
  return json || has_ending(output, ".json") ? SweepForm::json : SweepForm::csv;
}

int export_rows(const SweepArguments& arguments) {
  if (arguments.words.size() != 2) return report({Error{"sweep export: expected one file, such as sweep export FILE.db"}});
  if (const auto alone = check_no_grid(arguments, "export"); !alone) return report(alone.error());
  const std::string& database = arguments.words[1];
  if (is_same_file(arguments.output, database))
    return report({Error{fmt::format("sweep export: {} is both read and written; name another file with -o", arguments.output)}});
  const auto form = export_form(arguments);
  if (!form) return report(form.error());
  const auto store = SweepStore::read(database);
  if (!store) return report(store.error());
  auto text = sweep_export(*store, *form, arguments.pareto, arguments.samples);
  tell_unfinished(*store, database);
  if (const auto page = write_page(arguments, *store); !page) return report(page.error());
  if (!text || arguments.output.empty())
    return deliver(std::move(text).map([](std::string rows) { return Answer{std::move(rows), {}}; }));
  const auto written = exported_file(arguments.output, *form, database).write(*text);
  return written ? kDone : report(written.error());
}

int merge(const SweepArguments& arguments) {
  if (arguments.words.size() < 3) return report({Error{"sweep merge: expected a file to write and files to read"}});
  if (const auto alone = check_no_grid(arguments, "merge"); !alone) return report(alone.error());
  if (!arguments.output.empty())
    return report({Error{"sweep merge: the file to write is the first one named, without -o: sweep merge FILE FROM..."}});
  for (std::size_t i = 2; i < arguments.words.size(); ++i) {
    if (is_same_file(arguments.words[i], arguments.words[1]))
      return report(
          {Error{fmt::format("sweep merge: {} is both written and read; name another file to write", arguments.words[i])}});
  }
  if (!names_database(arguments.words[1]))
    return report({Error{fmt::format("sweep merge: expected a file to write that ends in .db, got \"{}\"", arguments.words[1])}});
  const auto rows = merge_sweeps(arguments.words[1], {arguments.words.begin() + 2, arguments.words.end()});
  if (!rows) return report(rows.error());
  return write_result(fmt::format("{} rows in {}\n", *rows, arguments.words[1]));
}

/// What the rows of a file answer.
struct Question {
  std::string grid;
  SweepOrigin origin;
  std::int64_t points = 0;
};

/// The question of all files. Errors: a file that is no sweep, cannot be read through, holds another grid than the first, or one
/// that was predicted from other inputs.
Result<Question> common_question(const std::vector<std::string>& files) {
  Question common;
  std::string first, first_swept;
  const auto refuse = [](std::string why, const std::string& file) {
    return tl::make_unexpected(Errors{Error{std::move(why), SourceRef{file, 0, 0}}});
  };
  for (const std::string& file : files) {
    const auto store = SweepStore::read(file);
    if (!store) return tl::make_unexpected(store.error());
    if (const auto read = store->each([](const SweepRow&) {}); !read) return tl::make_unexpected(read.error());
    const Question held{store->grid(), store->origin(), store->points()};
    if (!common.grid.empty() && !held.grid.empty() && held.grid != common.grid)
      return refuse(fmt::format("holds another sweep than {}; only files of one grid are merged", first), file);
    if (!common.origin.digest.empty() && !held.origin.digest.empty() && held.origin.digest != common.origin.digest)
      return refuse(fmt::format("was predicted from other inputs than {}: catalogue, files or version have changed in between; "
                                "sweep again into the older one",
                                first_swept),
                    file);
    if (common.grid.empty()) {
      common.grid = held.grid;
      first = file;
    }
    if (common.origin.digest.empty()) {
      common.origin = held.origin;
      first_swept = file;
    }
    common.points = std::max(common.points, held.points);
  }
  return common;
}

/// Adds the rows of one sweep to another.
Result<void> add_rows(SweepStore& into, const SweepStore& from) {
  constexpr std::size_t kAtOnce = 4096;
  std::vector<SweepRow> rows;
  Result<void> added;
  const auto flush = [&] {
    if (added) added = into.add(rows);
    rows.clear();
  };
  const auto read = from.each([&](const SweepRow& row) {
    rows.push_back(row);
    if (rows.size() >= kAtOnce) flush();
  });
  flush();
  return read ? added : read;
}

Result<std::int64_t> add_parts(const std::string& output, const Question& question, const std::vector<std::string>& parts) {
  auto into = SweepStore::open(output, question.grid);
  if (!into) return tl::make_unexpected(into.error());
  if (auto begun = into->begin(question.origin); !begun) return begun;
  if (question.points > 0) {
    if (const auto noted = into->note_points(static_cast<std::size_t>(question.points)); !noted)
      return tl::make_unexpected(noted.error());
  }
  for (const std::string& part : parts) {
    const auto from = SweepStore::read(part);
    if (!from) return tl::make_unexpected(from.error());
    if (const auto added = add_rows(*into, *from); !added) return tl::make_unexpected(added.error());
  }
  return into->rows();
}

}  // namespace

Result<std::int64_t> merge_sweeps(const std::string& output, const std::vector<std::string>& parts) {
  std::error_code ignored;
  const bool there = std::filesystem::exists(output, ignored);
  std::vector<std::string> files = parts;
  if (std::filesystem::is_regular_file(output, ignored) && !std::filesystem::is_empty(output, ignored))
    files.insert(files.begin(), output);
  const auto question = common_question(files);
  if (!question) return tl::make_unexpected(question.error());
  auto rows = add_parts(output, *question, parts);
  if (!rows && !there) {
    for (const char* ending : {"", "-wal", "-shm"}) std::filesystem::remove(output + ending, ignored);
  }
  return rows;
}

Result<std::int64_t> begin_sweep(const SweepArguments& arguments, const Catalogue& catalogue) {
  const auto grid = grid_of(arguments);
  if (!grid) return tl::make_unexpected(grid.error());
  const auto session = open_session(catalogue);
  if (const Errors unknown = unknown_names(*session, *grid); !unknown.empty()) return tl::make_unexpected(unknown);
  auto store = SweepStore::open(arguments.output, grid_text(*grid));
  if (!store) return tl::make_unexpected(store.error());
  return begin_rows(*session, *grid, *store);
}

namespace {

/// The rows of a sweep and how they came there.
struct Swept {
  SweepStore store;
  SweepProgress done;
};

Result<Swept> swept(const std::string& database, const SweepArguments& arguments, Session& session, SweepShard shard,
                    const std::function<void(const SweepProgress&)>& tell) {
  const auto grid = grid_of(arguments);
  if (!grid) return tl::make_unexpected(grid.error());
  if (const Errors unknown = unknown_names(session, *grid); !unknown.empty()) return tl::make_unexpected(unknown);
  auto store = SweepStore::open(database, grid_text(*grid));
  if (!store) return tl::make_unexpected(store.error());
  const auto done = sweep(session, *grid, shard, *store, tell);
  if (!done) return tl::make_unexpected(done.error());
  return Swept{std::move(*store), *done};
}

/// Refuses, before hours of work, a file that is somebody else's.
Result<void> check_free(const SweepArguments& arguments, const SweepOutput& output) {
  if (auto page = arguments.report.check(); !page) return page;
  return output.text.empty() ? Result<void>() : exported_file(output.text, output.form, output.database).check();
}

/// Writes the text that was asked for beside the database.
Result<void> write_text(const SweepOutput& output, const SweepStore& store, std::optional<std::int64_t> samples) {
  if (output.text.empty()) return {};
  const auto text = sweep_export(store, output.form, false, samples);
  if (!text) return tl::make_unexpected(text.error());
  return exported_file(output.text, output.form, output.database).write(*text);
}

std::string dropped_notice(const SweepProgress& done, const std::string& output) {
  return fmt::format("{} rows of {} were predicted from other inputs (catalogue, files or version) and are gone", done.dropped,
                     output);
}

}  // namespace

Result<SweepProgress> sweep_into(const std::string& output, const SweepArguments& arguments, const Catalogue& catalogue,
                                 SweepShard shard, bool progress) {
  ProgressLine line;
  Progress* const shown = progress ? line.progress() : nullptr;
  const auto tell = [shown](const SweepProgress& p) {
    // What an earlier run had takes no time.
    if (shown != nullptr) shown->set("points", p.done, p.all, p.done - p.predicted);
  };
  return swept(output, arguments, *open_session(catalogue), shard, tell).map([](const Swept& swept) { return swept.done; });
}

Result<Answer> answer(const SweepArguments& arguments, Session& session) {
  if (!arguments.words.empty()) return fail("sweep: export and merge are of the command line; an answer holds the rows");
  const Result<SweepOutput> output = arguments.output.empty() ? SweepOutput{":memory:", {}, {}} : output_of(arguments.output);
  if (!output) return tl::make_unexpected(output.error());
  if (const auto free = check_free(arguments, *output); !free) return tl::make_unexpected(free.error());
  const auto rows = swept(output->database, arguments, session, {arguments.shard, arguments.shards}, [](const SweepProgress&) {});
  if (!rows) return tl::make_unexpected(rows.error());
  if (const auto written = write_text(*output, rows->store, arguments.samples); !written)
    return tl::make_unexpected(written.error());
  if (const auto page = write_page(arguments, rows->store); !page) return tl::make_unexpected(page.error());
  return sweep_export(rows->store, SweepForm::json, arguments.pareto, arguments.samples).map([&](std::string text) {
    std::vector<std::string> notices;
    if (rows->done.dropped > 0) notices.push_back(dropped_notice(rows->done, arguments.output));
    for (std::string& notice : rows->done.idle.notices("points")) notices.push_back(std::move(notice));
    return Answer{std::move(text), std::move(notices)};
  });
}

int tell_sweep(const SweepArguments& arguments, const SweepProgress& done) {
  const auto output = output_of(arguments.output);
  if (!output) return report(output.error());
  const auto store = SweepStore::read(output->database);
  if (!store) return report(store.error());
  if (const auto written = write_text(*output, *store, arguments.samples); !written) return report(written.error());
  if (const auto page = write_page(arguments, *store); !page) return report(page.error());
  const std::int64_t rows = store->rows(), problems = store->problems();
  const int written =
      write_result(fmt::format("{} points, {} predicted now, {} rows in {}{}{}\n", done.all, done.predicted, rows,
                               arguments.output, problems > 0 ? fmt::format(", {} of them only a reason why not", problems) : "",
                               output->text.empty() ? "" : fmt::format("; {} keeps them to go on from", output->database)));
  if (done.dropped > 0) report_notices({dropped_notice(done, arguments.output)});
  report_notices(done.idle.notices("points"));
  if (written != kDone || rows == 0 || problems < rows) return written;
  if (const std::string reason = first_problem(*store); !reason.empty())
    fmt::print(stderr, "tbdsim: sweep: the first: {}\n", reason);
  return kCheckFailed;
}

int run(const SweepArguments& arguments, const Catalogue& catalogue) {
  const std::string action = arguments.words.empty() ? "" : arguments.words.front();
  if (action == "export") return export_rows(arguments);
  if (arguments.format) return report({Error{"sweep: --format is for sweep export; a sweep writes SQLite"}});
  if (arguments.pareto) return report({Error{"sweep: --pareto is for sweep export"}});
  if (action == "merge" && arguments.report.asked())
    return report({Error{"sweep: --report is for a sweep and for sweep export; export what merge writes"}});
  if (action == "merge" && arguments.samples) return report({Error{"sweep merge: --samples is for sweep export"}});
  if (action == "merge") return merge(arguments);
  if (!action.empty()) return report({Error{fmt::format("sweep: expected options, export or merge, got \"{}\"", action)}});
  const auto output = output_of(arguments.output);
  if (!output) return report(output.error());
  if (arguments.samples && output->text.empty())
    return report(
        {Error{"sweep: --samples adds the time of an epoch to rows of text; name a file that ends in .csv or .jsonl, or "
               "leave it to sweep export"}});
  if (const auto free = check_free(arguments, *output); !free) return report(free.error());
  const auto done = sweep_into(output->database, arguments, catalogue, {arguments.shard, arguments.shards}, true);
  if (!done) return report(done.error());
  return tell_sweep(arguments, *done);
}

}  // namespace tbdsim
