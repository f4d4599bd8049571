#include "calibrate/cli/import_trace.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "calibrate/cli/inputs.hpp"
#include "calibrate/cli/trace_report.hpp"
#include "model/input/output_file.hpp"
#include "model/prediction/predict.hpp"
#include "model/study/trace_doubts.hpp"
#include "model/support/quote.hpp"
#include "model/trace/gzip.hpp"
#include "model/trace/read_trace.hpp"

namespace tbdsim::calibrate {
namespace {

Result<std::optional<int>> whole(const Arguments& arguments, const char* option) {
  const std::string text = arguments.one(option);
  if (text.empty()) return std::optional<int>();
  int value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || value < 1)
    return fail(fmt::format("calibrate import: {}: expected a whole number of at least 1, got {}", option, tbdsim::quoted(text)));
  return std::optional(value);
}

/// The job that was traced, as `tbdsim predict` would be asked for it. What speaks against it is told.
Result<std::optional<FamilyTimes>> predicted(const Arguments& arguments, const TracedJob& traced) {
  PredictOptions options;
  options.hardware = arguments.one("--hw");
  options.model = arguments.one("--model");
  if (options.hardware.empty() != options.model.empty())
    return fail("calibrate import: --hw and --model name the job that was traced: give both or none");
  for (const char* const option : {"--stack", "--precision", "--batch", "--gpus"})
    if (options.hardware.empty() && arguments.has(option))
      return fail(fmt::format("calibrate import: {} has no effect on a trace without --hw and --model", option));
  if (options.hardware.empty()) return std::optional<FamilyTimes>();
  options.stack = arguments.one("--stack");
  options.precision = arguments.one("--precision");
  auto batch = whole(arguments, "--batch"), gpus = whole(arguments, "--gpus");
  if (!batch) return tl::make_unexpected(batch.error());
  if (!gpus) return tl::make_unexpected(gpus.error());
  options.batch = *batch;
  options.gpus = *gpus;
  options.detail = true;
  const auto catalogue = catalogue_of(arguments);
  if (!catalogue) return tl::make_unexpected(catalogue.error());
  const auto prediction = predict(*open_session(*catalogue), options);
  if (!prediction) return tl::make_unexpected(prediction.error());
  if (prediction->detail.kernels.empty())
    return fail("calibrate import: this job is predicted layer by layer, which keeps no kernels to set beside a trace");
  for (const std::string& doubt : trace_doubts(*catalogue, traced, *prediction)) fmt::print(stderr, "tbdsim: note: {}\n", doubt);
  return std::optional(predicted_families(*prediction));
}

}  // namespace

bool is_trace(const std::string& path) {
  // A named pipe that nobody writes would keep the program waiting; what reads it says what it is.
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string beginning(std::size_t{1} << 16, '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && (beginning[first] == '{' || beginning[first] == '[');
  return json || trace::is_gzip(beginning) || trace::trace_format(beginning).has_value();
}

Result<int> import_trace(const std::string& path, const Arguments& arguments) {
  for (const char* const option : {"--device", "--library", "--op", "--timing", "--transposed"})
    if (arguments.has(option)) return fail(fmt::format("calibrate import: {} has no effect on a trace", option));
  const auto read = trace::read_trace(path);
  if (!read) return tl::make_unexpected(read.error());
  const auto breakdown = trace::break_down(*read, path);
  if (!breakdown) return tl::make_unexpected(breakdown.error());
  const auto families = predicted(arguments, {read->device, Seconds(breakdown->step_seconds())});
  if (!families) return tl::make_unexpected(families.error());
  if (const std::string output = arguments.one("-o"); !output.empty()) {
    const std::string header(trace_table_header().substr(0, trace_table_header().size() - 1));
    const OutputFile file{output, header, {path}};
    if (const auto written = file.write(trace_table(*breakdown, *families)); !written)
      return tl::make_unexpected(written.error());
  }
  fmt::print("{}", trace_text(*read, *breakdown, *families));
  return 0;
}

}  // namespace tbdsim::calibrate
