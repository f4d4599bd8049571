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

/// The table of a CSV export; what the tool printed before it becomes empty lines, so that places stay true.
std::string from_header(const std::string& text) {
  const std::size_t at = text.find("Total Time");
  const std::size_t end = text.rfind('\n', at);
  if (end == std::string::npos) return text;
  const auto before = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end) + 1, '\n');
  return std::string(static_cast<std::size_t>(before), '\n') + text.substr(end + 1);
}

Result<KernelSummary> nsight_systems(const std::string& text, const std::string& file) {
  const std::string from = from_header(text);
  const std::size_t begin = from.find_first_not_of('\n');
  const std::string header = from.substr(begin, from.find('\n', begin) - begin);
  if (header.find(',') == std::string::npos)
    return fail(
        fmt::format("{}: a table laid out in columns: write CSV, `nsys stats --report cuda_gpu_kern_sum --format csv`", file));
  auto table = CsvTable::parse(from, file);
  if (!table) return tl::make_unexpected(std::move(table.error()));
  const auto total = table->column("Total Time (ns)"), count = table->column("Instances"), name = table->column("Name");
  std::vector<SummarizedKernel> kernels;
  constexpr double kNano = 1e-9;
  const auto above_zero = [&](std::size_t row, std::size_t column) {
    const auto value = table->number(row, column);
    if (value && *value <= 0.0)
      table->problem(row, column, fmt::format("expected a number above 0, got {}", quoted(table->text(row, column))));
    return value.value_or(1.0);
  };
  for (std::size_t row = 0; total && count && name && row < table->rows(); ++row) {
    SummarizedKernel kernel;
    kernel.name = table->text(row, *name);
    kernel.kind = kernel_kind(kernel.name);
    kernel.total = Seconds(above_zero(row, *total) * kNano);
    kernel.launches = static_cast<std::int64_t>(above_zero(row, *count));
    kernels.push_back(std::move(kernel));
  }
  Errors errors = table->errors();
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  return KernelSummary{std::move(kernels), {}};
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

/// Ranges that the profiler and PyTorch's optimisers mark, which newer releases list with the device's time inside them.
bool marks_range(std::string_view name) {
  for (const std::string_view begins : {"ProfilerStep", "Optimizer.", "DataParallel.", "DistributedDataParallel.", "nccl:", "##"})
    if (name.substr(0, begins.size()) == begins) return true;
  return false;
}

/// The times of the rows against the total that the profiler prints below: its own count of kernels alone.
void compare_with_total(Seconds total, const std::string& file, KernelSummary& summary, Errors& errors) {
  constexpr double kRounding = 0.02;
  Seconds sum(0.0);
  for (const SummarizedKernel& kernel : summary.kernels) sum += kernel.total;
  if (sum > total * (1.0 + kRounding))
    errors.push_back(
        {fmt::format("the kernels listed take {:.4g} ms, and the table's own total is {:.4g} ms: rows of `record_function` "
                     "hold kernels that are listed, too; take them out",
                     sum.base() * 1e3, total.base() * 1e3),
         {file, 0, 0}});
  if (sum < total * (1.0 - kRounding))
    summary.notes.push_back(fmt::format("the kernels listed take {:.4g} of {:.4g} ms: print the table with row_limit=-1 for all",
                                        sum.base() * 1e3, total.base() * 1e3));
}

/// Columns stand two blanks or more apart; a row of dashes ends the table. Newer releases list a kernel beside the operator that
/// launched it, with the same time on the device: kernels, which take no time of the host, then count alone.
Result<KernelSummary> pytorch_profiler(std::string_view text, const std::string& file) {
  std::vector<SummarizedKernel> kernels, operators;
  Errors errors;
  std::optional<std::size_t> self, host, calls;
  std::optional<Seconds> total;
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
    if (constexpr std::string_view kTotal = "Self CUDA time total:"; line.substr(0, kTotal.size()) == kTotal) {
      const auto words_of_total = words_of(line.substr(kTotal.size()));
      if (!words_of_total.empty()) total = time_of(words_of_total.front());
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
    if (*time <= Seconds(0.0) || marks_range(words.front())) continue;
    const bool on_host = host && time_of(words[*host]).value_or(Seconds(0.0)) > Seconds(0.0);
    (on_host ? operators : kernels).push_back({std::string(words.front()), kernel_kind(words.front()), launches, *time});
  }
  KernelSummary summary{kernels.empty() ? std::move(operators) : std::move(kernels), {}};
  if (total) compare_with_total(*total, file, summary, errors);
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  return summary;
}

}  // namespace

Result<KernelSummary> import_kernel_summary(const std::string& text, const std::string& file, ForeignFormat format) {
  auto summary = format == ForeignFormat::nsight_systems ? nsight_systems(text, file) : pytorch_profiler(text, file);
  if (summary && summary->kernels.empty())
    return tl::make_unexpected(Errors{{"no kernel with a time on the device", {file, 0, 0}}});
  return summary;
}

}  // namespace tbdsim::calibrate
