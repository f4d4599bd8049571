// Kernel summaries of Nsight Systems and of PyTorch's profiler.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "calibrate/decode/foreign_table.hpp"
#include "calibrate/decode/text_lines.hpp"
#include "model/input/csv_reader.hpp"
#include "model/support/quote.hpp"

namespace tbdsim::calibrate {
namespace {

/// The table of a CSV export, without what the tool printed before it.
std::string from_header(const std::string& text) {
  const std::size_t at = text.find("Total Time");
  const std::size_t line = text.rfind('\n', at);
  return line == std::string::npos ? text : text.substr(line + 1);
}

Result<std::vector<SummarizedKernel>> nsight_systems(const std::string& text, const std::string& file) {
  auto table = CsvTable::parse(from_header(text), file);
  if (!table) return tl::make_unexpected(std::move(table.error()));
  const auto total = table->column("Total Time (ns)"), count = table->column("Instances"), name = table->column("Name");
  std::vector<SummarizedKernel> kernels;
  constexpr double kNano = 1e-9;
  for (std::size_t row = 0; total && count && name && row < table->rows(); ++row) {
    SummarizedKernel kernel;
    kernel.name = table->text(row, *name);
    kernel.kind = kernel_kind(kernel.name);
    kernel.total = Seconds(table->number(row, *total).value_or(0.0) * kNano);
    kernel.launches = static_cast<std::int64_t>(table->number(row, *count).value_or(0.0));
    kernels.push_back(std::move(kernel));
  }
  Errors errors = table->errors();
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  return kernels;
}

/// "1.234ms" in seconds.
std::optional<Seconds> time_of(std::string_view text) {
  double value = 0.0;
  const auto [stopped, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc()) return std::nullopt;
  const std::string_view unit(stopped, static_cast<std::size_t>(text.data() + text.size() - stopped));
  constexpr std::pair<std::string_view, double> kUnits[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}};
  for (const auto& [name, seconds] : kUnits) {
    if (unit == name) return Seconds(value * seconds);
  }
  return std::nullopt;
}

/// Columns stand two blanks or more apart; a row of dashes ends the table. Newer releases list a kernel beside the operator that
/// launched it, with the same time on the device: kernels, which take no time of the host, then count alone.
Result<std::vector<SummarizedKernel>> pytorch_profiler(std::string_view text, const std::string& file) {
  std::vector<SummarizedKernel> kernels, operators;
  Errors errors;
  std::optional<std::size_t> self, host, calls;
  int number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const auto words = words_of(line, 2);
    const auto place = [&](std::string_view column) -> std::optional<std::size_t> {
      const auto found = std::find(words.begin(), words.end(), column);
      return found == words.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - words.begin()));
    };
    if (place("# of Calls")) {
      self = place("Self CUDA");
      host = place("Self CPU");
      calls = place("# of Calls");
      continue;
    }
    if (!self || !calls || words.size() <= *calls || line.substr(0, 3) == "---") continue;
    const auto time = time_of(words[*self]);
    std::int64_t launches = 0;
    std::from_chars(words[*calls].data(), words[*calls].data() + words[*calls].size(), launches);
    if (!time || launches < 1) {
      errors.push_back({fmt::format("expected a time in Self CUDA and a count of calls, got {} and {}", quoted(words[*self]),
                                    quoted(words[*calls])),
                        {file, number, 1}});
      continue;
    }
    // Some operators of the host have no time on the device of their own.
    if (*time <= Seconds(0.0)) continue;
    const bool on_host = host && time_of(words[*host]).value_or(Seconds(0.0)) > Seconds(0.0);
    (on_host ? operators : kernels).push_back({std::string(words.front()), kernel_kind(words.front()), launches, *time});
  }
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  return kernels.empty() ? operators : kernels;
}

}  // namespace

Result<std::vector<SummarizedKernel>> import_kernel_summary(const std::string& text, const std::string& file,
                                                            ForeignFormat format) {
  auto kernels = format == ForeignFormat::nsight_systems ? nsight_systems(text, file) : pytorch_profiler(text, file);
  if (kernels && kernels->empty()) return tl::make_unexpected(Errors{{"no kernel with a time on the device", {file, 0, 0}}});
  return kernels;
}

}  // namespace tbdsim::calibrate
