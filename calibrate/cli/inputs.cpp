#include "calibrate/cli/inputs.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "model/input/digest.hpp"
#include "model/input/file_text.hpp"
#include "model/support/quote.hpp"

namespace tbdsim::calibrate {

std::vector<Sample> SampleFiles::all() const {
  std::vector<Sample> result;
  for (const auto& set : sets) result.insert(result.end(), set.begin(), set.end());
  return result;
}

Result<SampleFiles> read_sample_files(const std::vector<std::string>& paths) {
  SampleFiles files;
  Errors errors;
  for (const std::string& path : paths) {
    auto text = read_file(path);
    if (!text) {
      errors.insert(errors.end(), text.error().begin(), text.error().end());
      continue;
    }
    const std::string digest = sha256_hex(*text).substr(0, 12);
    auto samples = parse_samples(std::move(*text), path);
    if (!samples) {
      errors.insert(errors.end(), samples.error().begin(), samples.error().end());
      continue;
    }
    const std::filesystem::path name(path);
    files.digests += fmt::format("{}{} {}", files.digests.empty() ? "" : "; ", printable(name.filename().string()), digest);
    files.names.push_back(printable(name.stem().string()));
    files.sets.push_back(std::move(*samples));
  }
  if (!errors.empty()) return tl::make_unexpected(errors);
  return files;
}

Result<Catalogue> catalogue_of(const Arguments& arguments) {
  const char* environment = std::getenv("TBDSIM_CATALOGUE");
  const std::string root = arguments.one("--hardware", environment == nullptr ? "" : environment);
  if (root.empty())
    return fail(
        "calibrate: no catalogue; start it as `tbdsim calibrate`, or use --hardware DIR, the folder that holds hardware/");
  std::error_code ignored;
  if (!std::filesystem::is_directory(root + "/hardware/gpus", ignored))
    return fail(fmt::format("calibrate: --hardware {}: no hardware/gpus below it; name the folder that holds hardware/", root));
  return Catalogue{root};
}

Result<DeviceMap> devices_of(const std::vector<Sample>& samples, const Catalogue& catalogue) {
  DeviceMap devices;
  Errors errors;
  std::map<std::string, bool> missed;
  for (const Sample& sample : samples) {
    if (devices.count(sample.device) != 0 || missed[sample.device]) continue;
    auto device = load_device(catalogue, sample.device);
    if (device) {
      devices[sample.device] = std::move(*device);
      continue;
    }
    missed[sample.device] = true;
    for (Error& error : device.error()) {
      error.message = fmt::format("sample in line {}: {}; name a description of your own with --device FILE.toml", sample.line,
                                  error.message);
      errors.push_back(std::move(error));
    }
  }
  if (!errors.empty()) return tl::make_unexpected(errors);
  return devices;
}

Result<KernelConstants> constants_of(const Catalogue& catalogue) {
  return architectures_of(catalogue).and_then([&](const std::shared_ptr<const Architectures>& architectures) {
    return read_kernel_constants(catalogue.root + "/hardware/kernels.toml", *architectures);
  });
}

}  // namespace tbdsim::calibrate
