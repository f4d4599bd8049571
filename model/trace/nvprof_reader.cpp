// CSV of `nvprof --print-gpu-trace --csv`: lines of nvprof's own, a header, a row of units, one row a kernel, copy or fill.
#include <fmt/format.h>

#include <algorithm>

#include "model/input/csv_reader.hpp"
#include "model/support/quote.hpp"
#include "model/trace/read_trace.hpp"

namespace tbdsim::trace {
namespace {

constexpr std::pair<std::string_view, int> kUnits[] = {{"s", 9}, {"ms", 6}, {"us", 3}, {"ns", 0}};

/// Power of ten of nanoseconds.
std::optional<int> exponent_of(std::string_view unit) {
  for (const auto& [name, exponent] : kUnits)
    if (unit == name) return exponent;
  return std::nullopt;
}

/// The table without what nvprof printed before and after it.
std::string table_of(std::string_view text) {
  std::string table;
  bool begun = false;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const bool header = line.substr(0, 7) == "\"Start\"" || line.substr(0, 6) == "Start,";
    begun = begun || header;
    if (!begun || line.empty() || line.substr(0, 2) == "==") continue;
    table.append(line).append("\n");
  }
  return table;
}

Activity activity_of(const std::string& name) {
  if (name.find("HtoD") != std::string::npos) return Activity::copy_to_device;
  if (name.find("DtoH") != std::string::npos) return Activity::copy_to_host;
  if (name.find("[CUDA memcpy") != std::string::npos) return Activity::copy_on_device;
  if (name.find("[CUDA memset") != std::string::npos) return Activity::fill;
  return kernel_activity(name);
}

std::int32_t whole(const std::string& text) {
  const auto value = decimal_nanoseconds(text, 0);
  return value && *value >= 0 && *value < 1'000'000 ? static_cast<std::int32_t>(*value) : 0;
}

}  // namespace

Result<Trace> parse_nvprof(std::string_view text, const std::string& name) {
  auto table = CsvTable::parse(table_of(text), name);
  if (!table) return tl::make_unexpected(table.error());
  const auto start = table->column("Start"), time = table->column("Duration"), called = table->column("Name");
  const auto stream = table->column_if("Stream"), device = table->column_if("Device");
  if (Errors errors = table->errors(); !errors.empty()) return tl::make_unexpected(std::move(errors));
  Trace trace;
  trace.tool = "nvprof";
  Names names(trace.names);
  Errors errors;
  const auto problem = [&](std::size_t row, std::string message) { errors.push_back({std::move(message), table->where(row)}); };
  std::optional<int> start_unit, time_unit;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const std::string &begin = table->text(row, *start), &length = table->text(row, *time);
    if (!start_unit) {
      start_unit = exponent_of(begin);
      time_unit = exponent_of(length);
      if (start_unit && time_unit) continue;
      problem(row, fmt::format("expected the units of Start and Duration (s, ms, us, ns), got {} and {}", tbdsim::quoted(begin),
                               tbdsim::quoted(length)));
      break;
    }
    const auto from = decimal_nanoseconds(begin, *start_unit), takes = decimal_nanoseconds(length, *time_unit);
    if (!from || !takes || *takes < 0) {
      problem(row, fmt::format("expected a start and a duration, got {} and {}", tbdsim::quoted(begin), tbdsim::quoted(length)));
      continue;
    }
    Event event;
    event.start = *from;
    event.end = *from + *takes;
    event.activity = activity_of(table->text(row, *called));
    event.name = names.number(table->text(row, *called));
    if (stream) event.stream = whole(table->text(row, *stream));
    if (device) {
      // "Tesla V100-SXM2-16GB (0)"
      const std::string& board = table->text(row, *device);
      const std::size_t open = board.rfind(" (");
      if (trace.device.empty()) trace.device = board.substr(0, open);
      if (open != std::string::npos) event.device = whole(board.substr(open + 2, board.size() - open - 3));
    }
    trace.events.push_back(event);
  }
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  return finished(std::move(trace), name);
}

}  // namespace tbdsim::trace
