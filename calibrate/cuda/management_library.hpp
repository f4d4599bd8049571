#pragma once
#include <string>

#include "calibrate/collect/session.hpp"

namespace tbdsim::calibrate {

/// Clocks, power and throttle reasons from NVML, opened when the program runs. Without it every figure is absent.
class ManagementLibrary {
 public:
  /// The device with this PCI bus id, as cudaDeviceGetPCIBusId writes it.
  explicit ManagementLibrary(const std::string& pci_bus_id);
  [[nodiscard]] GpuState state() const;
  [[nodiscard]] std::string driver() const;  ///< empty: not known
  /// Names of all devices of this machine, each once: "NVIDIA H200"; "A; B". Empty: not known.
  [[nodiscard]] static std::string all_names();

 private:
  using Device = void*;
  using Clock = int (*)(Device, unsigned, unsigned*);
  using Number = int (*)(Device, unsigned*);
  struct FieldValue;
  using Fields = int (*)(Device, int, FieldValue*);
  using Reasons = int (*)(Device, unsigned long long*);
  using Text = int (*)(char*, unsigned);
  Device device_ = nullptr;
  Clock clock_ = nullptr;
  Number power_ = nullptr;
  Fields fields_ = nullptr;
  Reasons reasons_ = nullptr;
  Text driver_ = nullptr;
};

}  // namespace tbdsim::calibrate
