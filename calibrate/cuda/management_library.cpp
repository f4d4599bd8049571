#include "calibrate/cuda/management_library.hpp"

#include <array>
#include <set>

#include "calibrate/cuda/dynamic_library.hpp"

namespace tbdsim::calibrate {
namespace {

// nvml.h: clock domains and the bits of the clock event reasons that hold a clock down: the operator's setting of application
// clocks, power, heat.
constexpr unsigned kClockSm = 1, kClockMemory = 2;
constexpr unsigned long long kApplicationClocks = 0x2, kSoftwarePowerCap = 0x4, kHardwareSlow = 0x8, kSoftwareThermal = 0x20,
                             kHardwareThermal = 0x40, kPowerBrake = 0x80;
constexpr unsigned kPowerInstant =
    186;  // NVML_FI_DEV_POWER_INSTANT; nvmlDeviceGetPowerUsage is the mean of a second since Ampere

}  // namespace

/// nvmlFieldValue_t, its value read as the unsigned number that the field has.
struct ManagementLibrary::FieldValue {
  unsigned field = 0, scope = 0;
  long long timestamp = 0, latency = 0;
  unsigned type = 0;
  int status = 0;
  union {
    double largest;
    unsigned number;
  } value = {};
};

ManagementLibrary::ManagementLibrary(const std::string& pci_bus_id) {
  const auto library = DynamicLibrary::open({"libnvidia-ml.so.1", "libnvidia-ml.so"});
  if (!library) return;
  int (*start)() = nullptr;
  int (*by_bus)(const char*, Device*) = nullptr;
  if (!library->get(start, "nvmlInit_v2") || !library->get(by_bus, "nvmlDeviceGetHandleByPciBusId_v2")) return;
  if (start() != 0 || by_bus(pci_bus_id.c_str(), &device_) != 0) device_ = nullptr;
  (void)library->get(clock_, "nvmlDeviceGetClockInfo");
  (void)library->get(power_, "nvmlDeviceGetPowerUsage");
  (void)library->get(fields_, "nvmlDeviceGetFieldValues");
  if (!library->get(reasons_, "nvmlDeviceGetCurrentClocksEventReasons"))
    (void)library->get(reasons_, "nvmlDeviceGetCurrentClocksThrottleReasons");
  (void)library->get(driver_, "nvmlSystemGetDriverVersion");
}

GpuState ManagementLibrary::state() const {
  GpuState state;
  if (device_ == nullptr) return state;
  unsigned value = 0;
  if (clock_ != nullptr && clock_(device_, kClockSm, &value) == 0) state.clock = Hertz(1e6 * value);
  if (clock_ != nullptr && clock_(device_, kClockMemory, &value) == 0) state.memory_clock = Hertz(1e6 * value);
  FieldValue instant;
  instant.field = kPowerInstant;
  if (fields_ != nullptr && fields_(device_, 1, &instant) == 0 && instant.status == 0)
    state.power = Watts(1e-3 * instant.value.number);
  else if (power_ != nullptr && power_(device_, &value) == 0)
    state.power = Watts(1e-3 * value);
  unsigned long long reasons = 0;
  if (reasons_ != nullptr && reasons_(device_, &reasons) == 0) {
    state.slowed = (reasons & (kHardwareSlow | kHardwareThermal | kPowerBrake)) != 0;
    state.throttled = state.slowed || (reasons & (kApplicationClocks | kSoftwarePowerCap | kSoftwareThermal)) != 0;
  }
  return state;
}

std::string ManagementLibrary::all_names() {
  const auto library = DynamicLibrary::open({"libnvidia-ml.so.1", "libnvidia-ml.so"});
  int (*start)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*by_index)(unsigned, Device*) = nullptr;
  int (*name_of)(Device, char*, unsigned) = nullptr;
  if (!library || !library->get(start, "nvmlInit_v2") || !library->get(count, "nvmlDeviceGetCount_v2") ||
      !library->get(by_index, "nvmlDeviceGetHandleByIndex_v2") || !library->get(name_of, "nvmlDeviceGetName") || start() != 0)
    return {};
  std::set<std::string> names;
  unsigned devices = 0;
  if (count(&devices) != 0) return {};
  for (unsigned i = 0; i < devices; ++i) {
    Device device = nullptr;
    std::array<char, 96> text{};
    if (by_index(i, &device) == 0 && name_of(device, text.data(), static_cast<unsigned>(text.size())) == 0)
      names.insert(text.data());
  }
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : "; ") + name;
  return all;
}

std::string ManagementLibrary::driver() const {
  std::array<char, 80> text{};
  if (driver_ == nullptr || driver_(text.data(), static_cast<unsigned>(text.size())) != 0) return {};
  return text.data();
}

}  // namespace tbdsim::calibrate
