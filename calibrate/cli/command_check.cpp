#include "calibrate/cli/command_check.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <optional>

#include "calibrate/cli/check_report.hpp"
#include "calibrate/cli/inputs.hpp"
#include "calibrate/fit/collective_samples.hpp"
#include "calibrate/fit/doubts.hpp"
#include "calibrate/fit/leave_out.hpp"
#include "model/support/quote.hpp"

namespace tbdsim::calibrate {
namespace {

const std::vector<Option> kOptions{{"--samples", Takes::many},
                                   {"--hw"},
                                   {"--hardware"},
                                   {"--leave-out"},
                                   {"--train", Takes::many},
                                   {"--draws"},
                                   {"--draw-size"},
                                   {"--seed"},
                                   {"--only"},
                                   {"--format"}};

Result<int> whole_number(const Arguments& arguments, const std::string& option, int fallback, int least) {
  if (!arguments.has(option)) return fallback;
  const std::string text = arguments.one(option);
  int value = 0;
  const auto [stopped, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || stopped != text.data() + text.size() || value < least)
    return fail(fmt::format("calibrate check: {}: expected a whole number of at least {}, got {}", option, least, quoted(text)));
  return value;
}

Result<std::vector<CheckPart>> left_out(const Arguments& arguments, const SampleFiles& files, const DeviceMap& devices,
                                        const KernelConstants& constants, const Catalogue& catalogue) {
  const std::string holdout = arguments.one("--leave-out");
  if (holdout != "board" && holdout != "architecture")
    return fail(fmt::format("calibrate check: --leave-out: expected board or architecture, got {}", quoted(holdout)));
  LeaveOutOptions options;
  options.holdout = holdout == "board" ? Holdout::board : Holdout::architecture;
  const auto draws = whole_number(arguments, "--draws", options.draws, 0);
  const auto size = whole_number(arguments, "--draw-size", options.draw_size, 1);
  const auto seed = whole_number(arguments, "--seed", static_cast<int>(options.seed), 0);
  for (const auto* value : {&draws, &size, &seed}) {
    if (!*value) return tl::make_unexpected(value->error());
  }
  options.draws = *draws;
  options.draw_size = *size;
  options.seed = static_cast<unsigned>(*seed);
  std::vector<Sample> training = files.all();
  if (arguments.has("--train")) {
    const auto more = read_sample_files(arguments.all("--train"));
    if (!more) return tl::make_unexpected(more.error());
    training = more->all();
  }
  auto described = devices_of(training, catalogue);
  if (!described) return tl::make_unexpected(described.error());
  described->insert(devices.begin(), devices.end());
  const auto result = leave_out(files.sets, training, *described, constants, options);
  if (!result) return tl::make_unexpected(result.error());
  std::vector<CheckPart> parts{{"fitted to these samples", result->fitted, result->refused_fitted},
                               {holdout + " left out", result->left_out, result->refused_left_out}};
  if (options.draws > 0)
    parts.push_back({fmt::format("{} left out, then {} random samples of each family and precision; {} draws", holdout,
                                 options.draw_size, options.draws),
                     result->drawn, result->refused_drawn});
  return parts;
}

Result<DeviceMap> scored_devices(const Arguments& arguments, const std::vector<Sample>& samples, const Catalogue& catalogue) {
  if (!arguments.has("--hw")) return devices_of(samples, catalogue);
  const auto system = load_system(catalogue, arguments.one("--hw"));
  if (!system) return tl::make_unexpected(system.error());
  DeviceMap devices;
  for (const Sample& sample : samples) devices[sample.device] = system->device;
  if (devices.size() > 1)
    return fail(
        fmt::format("calibrate check: samples of {} devices; --hw is one: leave it out, or split the file", devices.size()));
  for (const auto& [id, device] : devices) {
    if (id == device.id) continue;
    if (const auto named = load_device(catalogue, id); named && named->architecture != device.architecture)
      fmt::print(stderr, "warning: the samples are of {} ({}), compared with {} ({})\n", id, named->architecture, device.id,
                 device.architecture);
  }
  return devices;
}

Result<int> run(const Arguments& arguments) {
  if (arguments.all("--samples").empty()) return fail("calibrate check: no sample file; use --samples FILE...");
  for (const char* option : {"--train", "--draws", "--draw-size", "--seed"}) {
    if (arguments.has(option) && !arguments.has("--leave-out"))
      return fail(fmt::format("calibrate check: {}: only with --leave-out board or architecture", option));
  }
  if (arguments.has("--hw") && arguments.has("--leave-out"))
    return fail(
        "calibrate check: --hw has no effect with --leave-out, which fits the boards that the samples name; leave one out");
  const std::string format = arguments.one("--format", "table");
  if (format != "table" && format != "json" && format != "csv")
    return fail(fmt::format("calibrate check: --format: expected table, json or csv, got {}", quoted(format)));
  const auto catalogue = catalogue_of(arguments);
  if (!catalogue) return tl::make_unexpected(catalogue.error());
  auto files = read_sample_files(arguments.all("--samples"));
  if (!files) return tl::make_unexpected(files.error());
  if (arguments.has("--only")) {
    // Words of the source or operator, so that one half of a table can be scored.
    const std::string word = arguments.one("--only");
    for (auto& set : files->sets)
      std::erase_if(set, [&](const Sample& s) { return s.source.find(word) == std::string::npos && s.op != word; });
  }
  const auto devices = scored_devices(arguments, files->all(), *catalogue);
  if (!devices) return tl::make_unexpected(devices.error());
  const auto constants = constants_of(*catalogue);
  if (!constants) return tl::make_unexpected(constants.error());
  for (const auto& warnings : {doubts(files->all(), *devices, true), implausible_samples(files->all(), *devices)}) {
    for (const std::string& warning : warnings) fmt::print(stderr, "warning: {}\n", warning);
  }
  CollectiveForms collectives(catalogue->root);
  std::vector<CheckPart> parts;
  if (arguments.has("--leave-out")) {
    auto held = left_out(arguments, *files, *devices, *constants, *catalogue);
    if (!held) return tl::make_unexpected(held.error());
    parts = std::move(*held);
  } else {
    parts.push_back({arguments.has("--hw") ? "parameters of " + arguments.one("--hw") : "parameters of the catalogue", {}});
    for (std::size_t s = 0; s < files->sets.size(); ++s) {
      const auto rows = assess(files->sets[s], *devices, *constants, s);
      parts.back().rows.insert(parts.back().rows.end(), rows.begin(), rows.end());
      const auto calls = assess_collectives(files->sets[s], *devices, collectives, s);
      parts.back().rows.insert(parts.back().rows.end(), calls.begin(), calls.end());
    }
  }
  std::vector<Sample> others = files->all();
  if (!arguments.has("--leave-out"))
    std::erase_if(others, [&](const Sample& s) {
      return s.family == "collective" && collectives.undescribed(s, devices->at(s.device)).empty();
    });
  const std::vector<UnusedSamples> unused = unused_samples(others, *devices);
  if (parts.front().rows.empty()) {
    Errors errors{{"calibrate check: no sample is of a family and shape that has a kernel model"}};
    for (const UnusedSamples& u : unused) errors.push_back({to_text(u)});
    return tl::make_unexpected(std::move(errors));
  }
  const auto report = format == "json" ? check_json : format == "csv" ? check_csv : check_table;
  std::fputs(report(parts, files->names, unused).c_str(), stdout);
  return 0;
}

}  // namespace

Result<int> command_check(const std::vector<std::string>& words) {
  return Arguments::parse("check", words, kOptions).and_then(run);
}

}  // namespace tbdsim::calibrate
