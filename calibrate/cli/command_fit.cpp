#include "calibrate/cli/command_fit.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <set>

#include "calibrate/cli/inputs.hpp"
#include "calibrate/fit/board_fit.hpp"
#include "calibrate/fit/doubts.hpp"
#include "calibrate/fit/fit_family.hpp"
#include "calibrate/fit/kernel_fit.hpp"
#include "calibrate/fit/own_fit.hpp"
#include "calibrate/fit/unused.hpp"
#include "model/hardware/hardware_file.hpp"
#include "model/hardware/kernel_constants.hpp"
#include "model/hardware/lookup.hpp"
#include "model/input/output_file.hpp"

namespace tbdsim::calibrate {
namespace {

const std::vector<Option> kOptions{{"--samples", Takes::many},  {"--device"}, {"--hw"}, {"--hardware"}, {"-o"},
                                   {"--shared", Takes::nothing}};

// Both kinds of output begin with it: the fit of a board, and what boards share.
constexpr std::string_view kWritten = "# Written by `tbdsim calibrate fit";

void print_shared(const KernelFit& fit) {
  fmt::print("{:<18} {:<13} {:<5} {:>5} {:>7} {:>7} {:>8}\n", "device", "family", "prec.", "n", "mean %", "median", "signed");
  for (const FitReport& r : fit.reports) {
    fmt::print("{:<18} {:<13} {:<5} {:>5} {:>7.1f} {:>7.1f} {:>+8.1f}\n", r.device, r.family, r.precision, r.error.n,
               100 * r.error.mean, 100 * r.error.median, 100 * r.error.signed_mean);
  }
  for (const std::string& note : fit.notes) fmt::print("inherited: {}\n", note);
  for (const std::string& name : fit.at_bound) fmt::print("at its physical bound, the samples ask for more: {}\n", name);
}

/// Everything that boards share, and every board: hardware/kernels.toml.
Result<int> run_shared(const SampleFiles& files, const Catalogue& catalogue, const std::string& output) {
  const std::vector<Sample> samples = files.all();
  const auto devices = devices_of(samples, catalogue);
  if (!devices) return tl::make_unexpected(devices.error());
  auto fit = fit_kernels(samples, *devices);
  if (!fit) return tl::make_unexpected(fit.error());
  fit->constants.source = "fitted: " + files.digests;
  fit->constants.spread.clock = 0.08;
  fit->constants.spread.tensor_core = 0.12;
  fit->constants.spread.source =
      "measured: clock: six shares of peak of a T4 and a P100 in DeepBench and again in NeuSight scatter by 0.06 around their "
      "mean, which so few tell to 0.08; the rest assumed: rows of one published source differ by 0.07 beyond that; tensor cores: "
      "nine of ten published steps in 16 bits and tf32 then lie inside, on boards with and without samples alike (741 rows), a "
      "margin for other networks; exchange: published scaling on several GPUs lies up to 0.1 below free overlap";
  const std::string text = to_toml(*fit);
  // What no hardware has is refused as it would be when it is read.
  auto file = TomlFile::parse(text, output);
  if (!file) return tl::make_unexpected(file.error());
  const auto architectures = architectures_of(catalogue);
  if (!architectures) return tl::make_unexpected(architectures.error());
  if (const auto readable = read_kernel_constants(std::move(*file), **architectures); !readable)
    return tl::make_unexpected(readable.error());
  return OutputFile{output, std::string(kWritten)}.write(text).map([&] {
    print_shared(*fit);
    return 0;
  });
}

std::vector<std::string> ids_of(const std::vector<Sample>& samples) {
  std::set<std::string> ids;
  for (const Sample& sample : samples) ids.insert(sample.device);
  return {ids.begin(), ids.end()};
}

/// The device that --device, --hw or the samples name.
Result<Device> described(const Arguments& arguments, const std::vector<Sample>& samples, const Catalogue& catalogue) {
  if (arguments.has("--hw"))
    return load_system(catalogue, arguments.one("--hw")).map([](System system) { return std::move(system.device); });
  if (arguments.has("--device")) return load_device(catalogue, arguments.one("--device"));
  const std::vector<std::string> ids = ids_of(samples);
  if (ids.size() > 1)
    return fail(fmt::format("calibrate fit: samples of {} devices ({}); choose one with --device NAME, or let all rows name it",
                            ids.size(), fmt::join(ids, ", ")));
  return devices_of(samples, catalogue).map([&](DeviceMap devices) { return std::move(devices.at(ids.front())); });
}

/// Its own samples; where the samples name one device alone, and a file describes it, that one is meant.
Result<std::vector<Sample>> own_samples(const std::vector<Sample>& samples, const Device& device, bool from_file,
                                        const Catalogue& catalogue) {
  std::vector<Sample> own;
  for (const Sample& sample : samples) {
    if (sample.device == device.id) own.push_back(sample);
  }
  const std::vector<std::string> ids = ids_of(samples);
  if (own.empty() && from_file && ids.size() == 1) {
    if (const auto named = load_device(catalogue, ids.front()); named && named->architecture != device.architecture)
      return fail(
          fmt::format("calibrate fit: the samples are of {} ({}), and {} describes a board of {}; name a description of the "
                      "samples' board, or let the rows name {}",
                      ids.front(), named->architecture, device.id, device.architecture, device.id));
    return samples;
  }
  if (own.empty())
    return fail(fmt::format("calibrate fit: no sample of {}; the samples name {}", device.id, fmt::join(ids, ", ")));
  return own;
}

void print_parameters(const FamilyParameters& p) {
  const FitFamily* const family = family_of_parameters(p.family);
  fmt::print("{} {}:", p.family, p.precision);
  if (family != nullptr && family->issues)
    fmt::print(" {:.1f} instructions a number (+-{:.1f} %),", kFewestInstructions / p.compute_efficiency, 100 * p.compute_sigma);
  else if (family == nullptr || family->computes)
    fmt::print(" {:.3f} of peak (+-{:.1f} %),", p.compute_efficiency, 100 * p.compute_sigma);
  if (family == nullptr || !family->issues)
    fmt::print(" {:.3f} of bandwidth (+-{:.1f} %),", p.bandwidth_efficiency, 100 * p.bandwidth_sigma);
  fmt::print("\n  launch {:.2f} us; kernels scatter by {:.0f} %\n", p.launch.base() * 1e6, 100 * p.spread);
}

void print_board(const BoardFit& fit, const OwnFit& own, const std::vector<UnusedSamples>& unused, const std::string& output) {
  if (!fit.reports.empty())
    fmt::print("{:<13} {:<11} {:>6} {:>6} {:>20} {:>19}\n", "error in %", "", "n", "shapes", "before: mean, median",
               "after: mean, median");
  for (const BoardFitReport& r : fit.reports) {
    fmt::print("{:<13} {:<11} {:>6} {:>6} {:>12.1f} {:>7.1f} {:>11.1f} {:>7.1f}\n", r.family, r.precision, r.samples, r.shapes,
               100 * r.before.mean, 100 * r.before.median, 100 * r.after.mean, 100 * r.after.median);
  }
  for (const FamilyParameters& p : fit.device.calibration.families) print_parameters(p);
  for (const SustainedRate& rate : fit.sustained) fmt::print("sustained: {}\n", to_text(rate));
  for (const std::string& line : own.lines) fmt::print("measured: {}\n", line);
  for (const std::string& note : fit.inherited) fmt::print("inherited: {}\n", note);
  for (const std::string& line : own.missing) fmt::print("not used: {}\n", line);
  for (const UnusedSamples& entry : unused) fmt::print("not used: {}\n", to_text(entry));
  fmt::print("written: {0}; use it as --hw {0}\n", output);
}

/// One board, from what it would use without samples.
Result<int> run_board(const Arguments& arguments, const SampleFiles& files, const Catalogue& catalogue) {
  const std::vector<Sample> samples = files.all();
  auto device = described(arguments, samples, catalogue);
  if (!device) return tl::make_unexpected(device.error());
  const std::string named = arguments.one("--hw", arguments.one("--device"));
  const auto own = own_samples(samples, *device, is_file(named), catalogue);
  if (!own) return tl::make_unexpected(own.error());
  const auto constants = constants_of(catalogue);
  if (!constants) return tl::make_unexpected(constants.error());
  CollectiveForms collectives(catalogue.root);
  const OwnFit measured = fit_own(*own, *device, device->calibration.own, collectives, files.digests);
  std::vector<Sample> rest = *own;
  std::erase_if(rest, [&](const Sample& sample) { return tells_own(sample, *device, collectives); });
  std::vector<UnusedSamples> unused = unused_samples(rest);
  DeviceMap described_as;
  for (const Sample& sample : *own) described_as.emplace(sample.device, *device);
  for (const std::string& doubt : doubts(*own, described_as)) fmt::print(stderr, "warning: {}\n", doubt);
  if (own->size() < samples.size()) {
    const auto others = samples_of_others(samples, own->front().device, catalogue_ids(catalogue, "gpus"));
    unused.insert(unused.end(), others.begin(), others.end());
  }
  auto fit = fit_board(rest, *device, *constants, files.digests);
  // Without a kernel to fit, what the other samples say of the machine is still worth a file.
  if (!fit && measured.any()) {
    Errors refused = rest.empty() ? Errors{} : std::move(fit.error());
    fit = BoardFit{};
    for (const Error& error : refused) fit->warnings.push_back("no kernel is fitted: " + error.message);
    fit->device = std::move(*device);
  }
  if (!fit) {
    Errors errors = rest.empty() ? Errors{} : std::move(fit.error());
    for (const std::string& line : measured.missing) errors.push_back({line});
    return tl::make_unexpected(std::move(errors));
  }
  fit->device.calibration.own = measured.own;
  for (const std::string& warning : fit->warnings) fmt::print(stderr, "warning: {}\n", warning);
  const std::string output = arguments.one("-o");
  std::string text = fmt::format("{}`: {} with parameters fitted to samples.\n", kWritten, fit->device.name);
  for (const std::string& note : fit->inherited) text += fmt::format("# inherited: {}\n", note);
  text += to_toml(fit->device);
  // What no board has is refused as it would be when it is read.
  const auto architectures = architectures_of(catalogue);
  if (!architectures) return tl::make_unexpected(architectures.error());
  if (const auto readable = parse_device(**architectures, text, output); !readable) return tl::make_unexpected(readable.error());
  return OutputFile{output, std::string(kWritten)}.write(text).map([&] {
    print_board(*fit, measured, unused, output);
    return 0;
  });
}

Result<int> run(const Arguments& arguments) {
  if (arguments.all("--samples").empty()) return fail("calibrate fit: no sample file; use --samples FILE...");
  if (!arguments.has("-o")) return fail("calibrate fit: no output; use -o OUT.toml");
  if (arguments.has("--hw") && arguments.has("--device")) return fail("calibrate fit: --hw and --device both name the device");
  if (arguments.has("--shared") && (arguments.has("--hw") || arguments.has("--device")))
    return fail("calibrate fit: --shared fits all devices; leave --device and --hw out");
  const std::string output = arguments.one("-o");
  std::vector<std::string> inputs = arguments.all("--samples");
  inputs.push_back(arguments.one("--hw", arguments.one("--device")));
  if (const auto free = OutputFile{output, std::string(kWritten), inputs}.check(); !free)
    return tl::make_unexpected(free.error());
  const auto catalogue = catalogue_of(arguments);
  if (!catalogue) return tl::make_unexpected(catalogue.error());
  const auto files = read_sample_files(arguments.all("--samples"));
  if (!files) return tl::make_unexpected(files.error());
  return arguments.has("--shared") ? run_shared(*files, *catalogue, output) : run_board(arguments, *files, *catalogue);
}

}  // namespace

Result<int> command_fit(const std::vector<std::string>& words) { return Arguments::parse("fit", words, kOptions).and_then(run); }

}  // namespace tbdsim::calibrate
