#include "calibrate/cuda/management_library.hpp"

#include <array>

#include "calibrate/cuda/dynamic_library.hpp"

namespace tbdsim::calibrate {
namespace {

// nvml.h: clock domains and the bits of the clock event reasons that hold a clock down: the operator's setting of application
// clocks, power, heat.
constexpr unsigned kClockSm = 1, kClockMemory = 2;
constexpr unsigned long long kApplicationClocks = 0x2, kSoftwarePowerCap = 0x4, kHardwareSlowdown = 0x8, kSoftwareThermal = 0x20,
                             kHardwareThermal = 0x40, kPowerBrake = 0x80;

}  // namespace

ManagementLibrary::ManagementLibrary(const std::string& pci_bus_id) {
  const auto library = DynamicLibrary::open({"libnvidia-ml.so.1", "libnvidia-ml.so"});
  if (!library) return;
  int (*start)() = nullptr;
  int (*by_bus)(const char*, Device*) = nullptr;
  if (!library->get(start, "nvmlInit_v2") || !library->get(by_bus, "nvmlDeviceGetHandleByPciBusId_v2")) return;
  if (start() != 0 || by_bus(pci_bus_id.c_str(), &device_) != 0) device_ = nullptr;
  (void)library->get(clock_, "nvmlDeviceGetClockInfo");
  (void)library->get(power_, "nvmlDeviceGetPowerUsage");
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
  if (power_ != nullptr && power_(device_, &value) == 0) state.power = Watts(1e-3 * value);
  unsigned long long reasons = 0;
  if (reasons_ != nullptr && reasons_(device_, &reasons) == 0)
    state.throttled = (reasons & (kApplicationClocks | kSoftwarePowerCap | kHardwareSlowdown | kSoftwareThermal |
                                  kHardwareThermal | kPowerBrake)) != 0;
  return state;
}

std::string ManagementLibrary::driver() const {
  std::array<char, 80> text{};
  if (driver_ == nullptr || driver_(text.data(), static_cast<unsigned>(text.size())) != 0) return {};
  return text.data();
}

}  // namespace tbdsim::calibrate
