#include "calibrate/cli/command_import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "calibrate/cli/import_trace.hpp"
#include "calibrate/cli/inputs.hpp"
#include "calibrate/decode/foreign_table.hpp"
#include "calibrate/decode/sample_writer.hpp"
#include "calibrate/decode/shape_text.hpp"
#include "model/input/file_kind.hpp"
#include "model/input/file_text.hpp"
#include "model/input/output_file.hpp"
#include "model/support/quote.hpp"

namespace tbdsim::calibrate {
namespace {

const std::vector<Option> kOptions{
    {"--device"}, {"--precision"}, {"--library"}, {"--op"},    {"--timing"}, {"-o"},        {"--transposed", Takes::nothing},
    {"--hw"},     {"--model"},     {"--stack"},   {"--batch"}, {"--gpus"},   {"--hardware"}};
constexpr std::string_view kWritten = "# Written by `tbdsim calibrate import`";
constexpr std::string_view kKernelHeader = "kernel,kind,launches,total_s,mean_s\n";

/// Of whom the samples are, and how they computed, where the table does not tell.
Result<void> complete(const std::vector<Sample>& samples) {
  Errors errors;
  const auto lacks = [&](const auto& empty, std::string_view what) {
    const auto found = std::find_if(samples.begin(), samples.end(), empty);
    if (found != samples.end()) errors.push_back({fmt::format("calibrate import: row {} names no {}", found->line, what)});
  };
  lacks([](const Sample& s) { return s.device.empty(); }, "device; use --device, a name of `tbdsim list gpus`");
  lacks([](const Sample& s) { return s.precision.empty(); }, "precision; use --precision, such as bf16");
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  return {};
}

/// Says which devices the catalogue lacks: the samples are written, and a fit asks for a description.
void tell_unknown(const std::vector<Sample>& samples, const Arguments& arguments) {
  const auto catalogue = catalogue_of(arguments);
  if (!catalogue) return;
  if (const auto known = devices_of(samples, *catalogue); !known)
    for (const Error& error : known.error()) fmt::print(stderr, "tbdsim: note: {}\n", error.message);
}

Result<int> write_samples(const std::vector<Sample>& samples, ForeignFormat format, const std::string& source,
                          const std::string& output) {
  if (const auto sound = complete(samples); !sound) return tl::make_unexpected(sound.error());
  std::string text = fmt::format("{}: {}, from {}\n{}", kWritten, name(format), printable(source), sample_header());
  for (Sample sample : samples) {
    sample.source = source;
    text += sample_row(sample);
  }
  return OutputFile{output, std::string(kWritten), {source}}.write(text).map([&] {
    fmt::print("{} samples of {} written: {}\n", samples.size(), name(format), output);
    return 0;
  });
}

Result<int> write_kernels(const KernelSummary& summary, const std::string& input, const std::string& output) {
  std::string text(kKernelHeader);
  std::map<std::string_view, Seconds> by_kind;
  Seconds all(0.0);
  for (const SummarizedKernel& kernel : summary.kernels) {
    std::string quoted_name = kernel.name;
    for (std::size_t at = 0; (at = quoted_name.find('"', at)) != std::string::npos; at += 2) quoted_name.insert(at, 1, '"');
    text += fmt::format("\"{}\",{},{},{:.6g},{:.6g}\n", quoted_name, kernel.kind, kernel.launches, kernel.total.base(),
                        kernel.total.base() / static_cast<double>(std::max<std::int64_t>(kernel.launches, 1)));
    by_kind[kernel.kind] += kernel.total;
    all += kernel.total;
  }
  return OutputFile{output, std::string(kKernelHeader.substr(0, kKernelHeader.size() - 1)), {input}}.write(text).map([&] {
    for (const std::string& note : summary.notes) fmt::print(stderr, "tbdsim: note: {}\n", note);
    fmt::print("{} kernels, {:.4g} ms on the device\n", summary.kernels.size(), all.base() * 1e3);
    for (const auto& [kind, time] : by_kind)
      fmt::print("  {:<10} {:>9.4g} ms {:>5.1f} %\n", kind, time.base() * 1e3, 100 * static_cast<double>(time / all));
    fmt::print("a summary has no shapes, so these are no samples; written: {}\n", output);
    return 0;
  });
}

Result<int> run(const std::string& input, const Arguments& arguments) {
  if (is_trace(input)) return import_trace(input, arguments);
  auto text = read_file(input);
  if (!text) return tl::make_unexpected(text.error());
  const auto format = format_of(*text);
  if (!format) {
    const std::string_view kind = file_kind(*text);
    return fail(
        fmt::format("{}: expected a CSV with columns m, n, k and ms, the output of nccl-tests, the CSV of `nsys stats --report "
                    "cuda_gpu_kern_sum`, a table of PyTorch's profiler, or a trace (PyTorch's JSON, Nsight's SQLite, nvprof's "
                    "--print-gpu-trace CSV, Chakra), got {}",
                    input,
                    text->empty()   ? "an empty file"
                    : kind.empty()  ? "a file of another kind"
                    : kind == "CSV" ? "CSV with other columns"
                                    : kind));
  }
  const std::string output = arguments.one("-o"), timing = arguments.one("--timing", "kernel");
  if (timing != "kernel" && timing != "call")
    return fail(fmt::format("calibrate import: --timing: expected kernel or call, got {}", quoted(timing)));
  const std::string precision = arguments.one("--precision");
  const auto known = sample_precisions();
  if (!precision.empty() && std::find(known.begin(), known.end(), precision) == known.end())
    return fail("calibrate import: --precision: " + unknown_word("precision", precision, {known.begin(), known.end()}));
  if (output.empty()) return fail("calibrate import: no output; use -o OUT.csv");
  const bool summary = *format == ForeignFormat::nsight_systems || *format == ForeignFormat::pytorch_profiler;
  for (const auto& [option, used] : {std::pair{"--transposed", *format == ForeignFormat::products},
                                     {"--op", *format == ForeignFormat::nccl_tests},
                                     {"--device", !summary},
                                     {"--precision", !summary},
                                     {"--library", !summary},
                                     {"--timing", !summary},
                                     {"--hw", false},
                                     {"--model", false},
                                     {"--stack", false},
                                     {"--batch", false},
                                     {"--gpus", false},
                                     {"--hardware", false}})
    if (arguments.has(option) && !used)
      return fail(fmt::format("calibrate import: {} has no effect on a table of {}", option, name(*format)));
  if (summary) {
    const auto kernels = import_kernel_summary(*text, input, *format);
    return kernels ? write_kernels(*kernels, input, output) : tl::make_unexpected(kernels.error());
  }
  const ForeignDefaults defaults{arguments.one("--device"),     precision,
                                 arguments.one("--library"),    arguments.one("--op"),
                                 arguments.has("--transposed"), timing == "call"};
  auto samples = *format == ForeignFormat::products ? import_products(std::move(*text), input, defaults)
                                                    : import_nccl_tests(*text, input, defaults);
  if (!samples) return tl::make_unexpected(samples.error());
  for (Sample& sample : *samples) sample.call_timing = defaults.call_timing;
  auto written = write_samples(*samples, *format, input, output);
  if (written) tell_unknown(*samples, arguments);
  return written;
}

}  // namespace

Result<int> command_import(const std::vector<std::string>& words) {
  if (words.empty() || words.front().substr(0, 1) == "-")
    return fail("calibrate import: no file; `calibrate import FILE -o OUT.csv`");
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  return Arguments::parse("import", rest, kOptions).and_then([&](const Arguments& arguments) {
    return run(words.front(), arguments);
  });
}

}  // namespace tbdsim::calibrate
