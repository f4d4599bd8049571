#include "calibrate/cli/command_fit.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "calibrate/fit/kernel_fit.hpp"
#include "model/hardware/cluster.hpp"
#include "model/input/digest.hpp"
#include "model/input/file_text.hpp"

namespace tbdsim::calibrate {
namespace {

struct FitArguments {
  std::vector<std::string> samples;
  std::string hardware, output;
};

Result<FitArguments> parse_arguments(const std::vector<std::string>& words) {
  FitArguments result;
  std::string option;
  for (const std::string& word : words) {
    if (word == "--samples" || word == "--hardware" || word == "-o") {
      option = word;
      continue;
    }
    if (word.rfind('-', 0) == 0)
      return fail(fmt::format("calibrate fit: unknown option \"{}\"; there are --samples, --hardware, -o", word));
    if (option == "--samples")
      result.samples.push_back(word);
    else if (option == "--hardware")
      result.hardware = word;
    else if (option == "-o")
      result.output = word;
    else
      return fail(fmt::format("calibrate fit: \"{}\" belongs to no option; name files after --samples", word));
  }
  if (result.samples.empty()) return fail("calibrate fit: no sample file; use --samples FILE...");
  if (result.hardware.empty()) return fail("calibrate fit: no catalogue; use --hardware DIR, the folder that holds hardware/");
  if (!std::filesystem::is_directory(result.hardware + "/hardware/gpus"))
    return fail(fmt::format("calibrate fit: --hardware {}: no hardware/gpus below it; name the folder that holds hardware/",
                            result.hardware));
  if (result.output.empty()) return fail("calibrate fit: no output; use -o OUT.toml");
  return result;
}

void print_report(const KernelFit& fit) {
  fmt::print("{:<18} {:<13} {:<5} {:>5} {:>7} {:>7} {:>8}\n", "device", "family", "prec.", "n", "mean %", "median", "signed");
  for (const FitReport& r : fit.reports) {
    fmt::print("{:<18} {:<13} {:<5} {:>5} {:>7.1f} {:>7.1f} {:>+8.1f}\n", r.device, r.family, r.precision, r.error.n,
               100 * r.error.mean, 100 * r.error.median, 100 * r.error.signed_mean);
  }
  for (const std::string& note : fit.notes) fmt::print("inherited: {}\n", note);
}

Result<int> run(const FitArguments& arguments) {
  std::vector<Sample> samples;
  Errors errors;
  std::string digests;
  for (const std::string& path : arguments.samples) {
    auto part = read_samples(path);
    if (!part) {
      errors.insert(errors.end(), part.error().begin(), part.error().end());
      continue;
    }
    const auto text = read_file(path);
    digests +=
        fmt::format("{}{} {}", digests.empty() ? "" : "; ", path.substr(path.rfind('/') + 1), sha256_hex(*text).substr(0, 12));
    samples.insert(samples.end(), part->begin(), part->end());
  }
  std::map<std::string, Device> devices;
  for (const Sample& sample : samples) {
    if (devices.count(sample.device) != 0) continue;
    auto device = load_device({arguments.hardware}, sample.device);
    if (device)
      devices[sample.device] = std::move(*device);
    else
      errors.insert(errors.end(), device.error().begin(), device.error().end());
  }
  if (!errors.empty()) return tl::make_unexpected(errors);
  auto fit = fit_kernels(samples, devices);
  if (!fit) return tl::make_unexpected(fit.error());
  fit->constants.source = "fitted: " + digests;
  fit->constants.spread.source =
      "assumed: one nominal run differs by 0.02 to 0.10 between published sources (ResNet-50 fp32: V100 306 to 432 images/s, "
      "P100 219 to 234); rows of one source by "
      "0.07; tensor cores: fp16 samples of two boards, and frameworks of 2018 differ by more than 2; exchange: published scaling "
      "on several GPUs lies up to 0.1 below free overlap";
  std::ofstream file(arguments.output, std::ios::binary);
  file << to_toml(*fit);
  if (!file.flush()) return fail(fmt::format("cannot write {}", arguments.output));
  print_report(*fit);
  return 0;
}

}  // namespace

int command_fit(const std::vector<std::string>& arguments) {
  const auto parsed = parse_arguments(arguments);
  const Result<int> done = parsed ? run(*parsed) : tl::make_unexpected(parsed.error());
  if (done) return *done;
  std::fputs(to_text(done.error()).c_str(), stderr);
  return 2;
}

}  // namespace tbdsim::calibrate
