#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/hardware/architecture.hpp"
#include "model/hardware/kernel_parameters.hpp"
#include "model/support/vendor.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Numbers of a training step. fp8 and mxfp8: products of linear layers in 8 bits, all else as bf16.
enum class Precision { fp32, tf32, fp16, bf16, amp, fp8, mxfp8 };
[[nodiscard]] std::span<const std::string_view> precision_names();
[[nodiscard]] std::string_view name(Precision precision);
[[nodiscard]] std::optional<Precision> parse_precision(std::string_view text);
/// Whether activations are narrower than 32 bits.
[[nodiscard]] inline bool is_narrow(Precision precision) { return precision != Precision::fp32 && precision != Precision::tf32; }
/// Whether weights and gradients are 16-bit numbers, too.
[[nodiscard]] inline bool is_whole_16_bit(Precision precision) { return is_narrow(precision) && precision != Precision::amp; }
[[nodiscard]] inline bool has_8_bit_products(Precision precision) {
  return precision == Precision::fp8 || precision == Precision::mxfp8;
}

/// Peak rates at the boost clock, dense. Absent: the device has no such unit, or its rate is not published.
struct PeakRates {
  FlopPerSecond fp32;
  std::optional<FlopPerSecond> fp32_tensor, tf32_tensor, fp16_tensor, bf16_tensor, fp8_tensor, fp16_vector, fp64;
};

/// One GPU as software sees it (a K80 or M60 board is two). Immutable; read from hardware/gpus/*.toml.
struct Device {
  std::string id;                ///< "v100-sxm2-16gb"
  std::string name;              ///< "Tesla V100 SXM2 16GB"
  std::optional<Vendor> vendor;  ///< absent: not known
  std::string architecture;      ///< of the catalogue's architectures, maybe with a revision; empty: another one
  Architecture chip;             ///< what is known of its family
  BoardClass board_class = BoardClass::professional;
  std::string compute_capability;   ///< "7.0"; empty for AMD
  int multiprocessors = 1;          ///< SMs, compute units for AMD
  int fp32_lanes = 64;              ///< fp32 cores of one multiprocessor
  std::optional<int> tensor_cores;  ///< of the whole device
  std::optional<Hertz> base_clock, boost_clock;
  std::optional<Hertz> sustained_clock;  ///< what a long training run keeps; absent: not known
  std::string sustained_clock_source;
  double board_sharing = 0;  ///< compute time that the other GPU of the same board adds when it works too, relative
  std::string board_sharing_source;
  PeakRates peak;
  Bytes memory_capacity;                 ///< as sold
  std::optional<Bytes> memory_reported;  ///< as the driver reports it
  std::string memory_kind;               ///< "HBM2", "GDDR5X"
  std::optional<int> memory_bus_bits;
  std::optional<Hertz> memory_clock;  ///< as tables print it: half the data rate of a pin
  BytesPerSecond memory_bandwidth;
  std::optional<Bytes> l2_capacity;
  std::optional<Hertz> address_translations;  ///< a second, of addresses that its buffers do not hold; absent: no limit is known
  std::string address_translations_source;
  std::optional<int> max_threads_per_multiprocessor;
  std::optional<Bytes> shared_memory_per_multiprocessor, registers_per_multiprocessor;
  int pcie_generation = 3, pcie_lanes = 16;
  bool pcie_peer_access = true;  ///< the driver lets it read a neighbour's memory over PCIe
  std::string pcie_peer_access_source;
  std::optional<int> nvlink_links;
  std::string mounted_in;  ///< system whose baseboard several of these are wired by; empty: boards with slots of their own
  std::optional<BytesPerSecond> nvlink_bandwidth;  ///< per link and direction
  std::optional<Watts> power_limit;
  std::optional<Usd> launch_price;
  bool own_price = false;                              ///< `launch_price` is the user's word of this very board (`--set`)
  std::string launch_date;                             ///< "2017-05-10"
  std::string launch_price_date, launch_price_source;  ///< when and where it was seen
  std::string source;
  std::string notes;
  std::vector<std::string> doubts;  ///< values of the description that contradict each other, a sentence each
  DeviceCalibration calibration;    ///< fitted from samples of this very device; empty: transfer from relatives
};

/// What decides the clock that the device keeps, as it is described here.
[[nodiscard]] ClockLimits clock_limits(const Device& device);
/// Precisions that the device has units for.
[[nodiscard]] std::vector<Precision> precisions(const Device& device);
/// `memory_clock`, or half the data rate of a pin from bandwidth and bus width. Absent when neither is known.
[[nodiscard]] std::optional<Hertz> memory_clock(const Device& device);

}  // namespace tbdsim
