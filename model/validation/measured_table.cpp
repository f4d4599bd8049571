#include "model/validation/measured_table.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>
#include <utility>

#include "model/configuration/named_from.hpp"
#include "model/configuration/read_option.hpp"
#include "model/configuration/row_options.hpp"
#include "model/input/csv_reader.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"
#include "model/validation/metric.hpp"

namespace tbdsim {
namespace {

/// Columns that are no options.
constexpr std::array<std::string_view, 9> kOwnColumns{"id",     "options", "metric", "unit",  "measured",
                                                      "spread", "use",     "group",  "source"};

std::vector<std::string> known_columns() {
  std::vector<std::string> columns(kOwnColumns.begin(), kOwnColumns.end());
  for (const OptionRow& option : option_table())
    if (option.stands(kInColumn)) columns.push_back(key_of(option));
  return columns;
}

/// Figures beyond these are slips: in the units of this table a step takes more than a femtosecond, and a machine does not hold
/// an exabyte. Errors and their sums stay finite within them.
constexpr double kLeastMeasured = 1e-15, kMostMeasured = 1e18;

constexpr std::string_view kCollectiveMetric = "bus_bandwidth";

/// Reads the rows of one table, noting every problem in it.
class TableReader {
 public:
  explicit TableReader(CsvTable table) : table_(std::move(table)) {}

  Result<std::vector<MeasuredRun>> read() {
    for (const char* required : {"id", "hw", "metric", "unit", "measured"}) complete_ = table_.column(required) && complete_;
    if (!collectives_only()) complete_ = table_.column("model") && complete_;
    table_.unknown_columns(known_columns());
    if (table_.rows() == 0) return fail_with(Error{"no rows below the header", SourceRef{table_.name(), 0, 0}});
    std::vector<MeasuredRun> runs;
    for (std::size_t row = 0; row < table_.rows() && complete_; ++row) runs.push_back(read_row(row));
    Errors errors = table_.errors();
    if (!errors.empty()) return tl::make_unexpected(std::move(errors));
    return runs;
  }

 private:
  CsvTable table_;
  bool complete_ = true;  ///< has every required column
  std::map<std::string, int> lines_of_ids_;

  Result<std::vector<MeasuredRun>> fail_with(Error error) const {
    Errors errors = table_.errors();
    errors.push_back(std::move(error));
    return tl::make_unexpected(std::move(errors));
  }

  /// Text of an optional column; empty when there is no such column.
  std::string text(std::size_t row, std::string_view column) const {
    const auto index = table_.column_if(column);
    return index ? table_.text(row, *index) : std::string();
  }

  void problem(std::size_t row, std::string_view column, const std::string& message) {
    table_.problem(row, *table_.column_if(column), message);
  }

  /// Rows of collectives train nothing, so a table of them needs no models.
  bool collectives_only() const {
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      if (text(row, "metric") != kCollectiveMetric) return false;
    }
    return table_.rows() > 0;
  }

  void require(std::size_t row, std::string_view column) {
    if (text(row, column).empty()) problem(row, column, "expected a name, got an empty field");
  }

  MeasuredRun read_row(std::size_t row) {
    MeasuredRun run;
    run.where = table_.where(row);
    require(row, "id");
    run.id = text(row, "id");
    const auto [earlier, fresh] = lines_of_ids_.emplace(run.id, run.where.line);
    if (!fresh && !run.id.empty()) {
      problem(row, "id", fmt::format("repeated id {}, it is also in line {}", quoted(run.id), earlier->second));
    }
    require(row, "hw");
    if (text(row, "metric") != kCollectiveMetric) require(row, "model");
    read_options(row, run);
    read_measurement(row, run);
    run.group = text(row, "group");
    if (run.group.empty()) run.group = default_group(run.options.hardware);
    for (const OptionRow& option : option_table())
      if (const auto* const name = std::get_if<std::string PredictOptions::*>(&option.landing); name != nullptr && option.file)
        run.options.** name = named_from(table_.name(), run.options.**name);
    const std::string use = text(row, "use");
    run.fit = use == "fit";
    if (!run.fit && !use.empty() && use != "validation") {
      problem(row, "use", fmt::format("expected fit or validation, got {}", quoted(use)));
    }
    run.source = text(row, "source");
    return run;
  }

  void read_options(std::size_t row, MeasuredRun& run) {
    std::set<std::string> given;
    for (const OptionRow& option : option_table()) {
      const std::string column = option.stands(kInColumn) ? key_of(option) : "";
      const std::string value = column.empty() ? "" : text(row, column);
      if (value.empty()) continue;
      given.insert("--" + std::string(option.name));
      if (const std::string expected = read_option(option, value, run); !expected.empty())
        problem(row, column, fmt::format("expected {}, got {}", expected, quoted(value)));
    }
    for (const std::string& found : apply_row_options(text(row, "options"), run, given)) problem(row, "options", found);
    const bool collective = text(row, "metric") == kCollectiveMetric;
    const std::vector<std::string> idle = options_without_meaning(given, collective);
    if (!idle.empty())
      run.refused = fmt::format("{}: {}", fmt::join(idle, ", "),
                                collective ? "says nothing about a collective, which trains nothing"
                                           : "is about a collective; its metric is bus_bandwidth");
  }

  void read_measurement(std::size_t row, MeasuredRun& run) {
    run.metric = text(row, "metric");
    run.unit = text(row, "unit") == "B" ? "bytes" : text(row, "unit");
    if (const Metric* metric = find_metric(run.metric)) {
      if (run.unit != metric->unit && !(run.metric == "throughput" && is_rate_unit(run.unit))) {
        problem(row, "unit",
                fmt::format("expected {}, the unit of {}, got {}", quoted(metric->unit), run.metric, quoted(run.unit)));
      }
    } else {
      const auto near = nearest(run.metric, metric_names());
      problem(row, "metric",
              fmt::format("unknown metric {}{}", quoted(run.metric),
                          near ? fmt::format(", did you mean \"{}\"?", *near)
                               : fmt::format("; there are {}", fmt::join(metric_names(), ", "))));
    }
    if (run.metric == kCollectiveMetric && (run.collective.empty() || !run.message)) {
      problem(row, "metric", "bus_bandwidth needs the options --collective NAME --bytes N");
    }
    const std::size_t measured = *table_.column_if("measured");
    if (const auto value = table_.number(row, measured)) {
      run.measured = *value;
      if (*value <= 0.0)
        table_.problem(row, measured, fmt::format("expected a number above 0, got {}", quoted(table_.text(row, measured))));
      else if (*value < kLeastMeasured || *value > kMostMeasured)
        table_.problem(row, measured,
                       fmt::format("expected a number of {} to {}, got {}", kLeastMeasured, kMostMeasured,
                                   quoted(table_.text(row, measured))));
    }
    read_spread(row, run);
  }

  void read_spread(std::size_t row, MeasuredRun& run) {
    const std::string spread = text(row, "spread");
    if (spread.empty()) return;
    run.spread = table_.number(row, *table_.column_if("spread"));
    if (run.spread && *run.spread < 0.0) problem(row, "spread", fmt::format("expected 0 or more, got {}", quoted(spread)));
    if (run.spread && *run.spread > kMostMeasured)
      problem(row, "spread", fmt::format("expected at most {}, got {}", kMostMeasured, quoted(spread)));
  }

  std::string default_group(const std::string& hardware) const {
    const std::string& path = table_.name();
    const std::size_t slash = path.find_last_of('/');
    const std::string file = slash == std::string::npos ? path : path.substr(slash + 1);
    return fmt::format("{}/{}", file.substr(0, file.rfind('.')), hardware);
  }
};

}  // namespace

Result<std::vector<MeasuredRun>> read_measured_table(const std::string& path) {
  return CsvTable::open(path).and_then([](CsvTable table) { return TableReader(std::move(table)).read(); });
}

Result<std::vector<MeasuredRun>> parse_measured_table(std::string text, std::string name) {
  return CsvTable::parse(std::move(text), std::move(name)).and_then([](CsvTable table) {
    return TableReader(std::move(table)).read();
  });
}

}  // namespace tbdsim
