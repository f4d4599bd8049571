#include "calibrate/cli/command_anchor.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "calibrate/cli/anchor_fit.hpp"
#include "calibrate/cli/inputs.hpp"
#include "model/input/digest.hpp"
#include "model/input/file_text.hpp"
#include "model/input/output_file.hpp"

namespace tbdsim::calibrate {
namespace {

const std::vector<Option> kOptions{{"--hardware"}, {"-o"}};
constexpr std::string_view kWritten = "# Written by `tbdsim calibrate anchor`";

void print_fit(const AnchorFit& fit, const std::string& output) {
  fmt::print("{} steps: mean error {:.1f} % before, {:.1f} % after\n", fit.steps, 100 * fit.before.mean, 100 * fit.after.mean);
  for (std::size_t i = 0; i < kAnchors.size(); ++i) {
    const FittedAnchor& anchor = fit.file.anchors[i];
    if (anchor.fitted)
      fmt::print("  {:<10} {:.3f} ({:.3f} to {:.3f})  up to {:.0f} % of a step\n", kAnchors[i].name, anchor.value, anchor.low,
                 anchor.high, 100 * fit.share[i]);
    else
      fmt::print("  {:<10} not fitted: no step shows it\n", kAnchors[i].name);
  }
  if (fit.hardware.size() > 1)
    fmt::print(stderr, "warning: steps of {} machines ({}) share one set of multipliers; where they differ, fit each by itself\n",
               fit.hardware.size(), fmt::join(fit.hardware, ", "));
  for (const std::string& text : fit.implausible) fmt::print("implausible: {}\n", text);
  for (const std::string& text : fit.passed_over) fmt::print("not used: {}\n", text);
  fmt::print("written: {0}; use it as --calibration {0}\n", output);
}

Result<int> run(const std::string& table, const Arguments& arguments) {
  if (!arguments.has("-o")) return fail("calibrate anchor: no output; use -o FILE.toml");
  const std::string output = arguments.one("-o");
  const OutputFile file{output, std::string(kWritten), {table}};
  if (const auto free = file.check(); !free) return tl::make_unexpected(free.error());
  const auto catalogue = catalogue_of(arguments);
  if (!catalogue) return tl::make_unexpected(catalogue.error());
  const auto text = read_file(table);
  if (!text) return tl::make_unexpected(text.error());
  const auto runs = parse_measured_table(*text, table);
  if (!runs) return tl::make_unexpected(runs.error());
  auto fit = fit_anchors(catalogue->root, *runs);
  if (!fit) return tl::make_unexpected(fit.error());
  fit->file.source = fmt::format("fitted: {} {}, {} steps on {}", std::filesystem::path(table).filename().string(),
                                 sha256_hex(*text).substr(0, 12), fit->steps, fmt::join(fit->hardware, ", "));
  return file.write(fmt::format("{}\n{}", kWritten, to_toml(fit->file))).map([&] {
    print_fit(*fit, output);
    return 0;
  });
}

}  // namespace

Result<int> command_anchor(const std::vector<std::string>& words) {
  if (words.empty() || words.front().substr(0, 1) == "-")
    return fail("calibrate anchor: no table of measured steps; `calibrate anchor RUNS.csv -o FILE.toml`");
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  return Arguments::parse("anchor", rest, kOptions).and_then([&](const Arguments& arguments) {
    return run(words.front(), arguments);
  });
}

}  // namespace tbdsim::calibrate
