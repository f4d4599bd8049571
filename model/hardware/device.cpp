#include "model/hardware/device.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "model/support/enum_table.hpp"

namespace tbdsim {
namespace {

struct PrecisionRow {
  Precision kind;
  std::string_view name;
};
constexpr std::array<PrecisionRow, 7> kPrecisions{{
    {Precision::fp32, "fp32"},
    {Precision::tf32, "tf32"},
    {Precision::fp16, "fp16"},
    {Precision::bf16, "bf16"},
    {Precision::amp, "amp"},
    {Precision::fp8, "fp8"},
    {Precision::mxfp8, "mxfp8"},
}};
static_assert(rows_in_order(kPrecisions));
constexpr auto kPrecisionNames = [] {
  std::array<std::string_view, kPrecisions.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kPrecisions[i].name;
  return names;
}();
constexpr double kBitsPerByte = 8.0;
constexpr double kTransfersPerClock = 2.0;  // double data rate, the sense in which tables print a memory clock

}  // namespace

std::span<const std::string_view> precision_names() { return kPrecisionNames; }

std::string_view name(Precision precision) { return kPrecisionNames[static_cast<std::size_t>(precision)]; }

std::optional<Precision> parse_precision(std::string_view text) {
  const auto found = std::find(kPrecisionNames.begin(), kPrecisionNames.end(), text);
  if (found == kPrecisionNames.end()) return std::nullopt;
  return static_cast<Precision>(found - kPrecisionNames.begin());
}

std::vector<Precision> precisions(const Device& device) {
  std::vector<Precision> all{Precision::fp32};
  if (device.peak.tf32_tensor) all.push_back(Precision::tf32);
  all.push_back(Precision::fp16);
  if (device.peak.bf16_tensor) all.push_back(Precision::bf16);
  all.push_back(Precision::amp);
  if (device.peak.fp8_tensor && device.peak.bf16_tensor) {
    all.push_back(Precision::fp8);
    if (device.chip.scales_blocks) all.push_back(Precision::mxfp8);
  }
  return all;
}

ClockLimits clock_limits(const Device& device) {
  return {device.boost_clock, device.sustained_clock, device.power_limit, device.peak.fp32, device.peak.fp16_tensor};
}

std::optional<Hertz> memory_clock(const Device& device) {
  if (device.memory_clock) return device.memory_clock;
  if (!device.memory_bus_bits) return std::nullopt;
  return Hertz(device.memory_bandwidth.base() * kBitsPerByte / *device.memory_bus_bits / kTransfersPerClock);
}

const FamilyParameters* DeviceCalibration::find(std::string_view family, std::string_view precision) const {
  const auto found = std::find_if(families.begin(), families.end(),
                                  [&](const FamilyParameters& f) { return f.family == family && f.precision == precision; });
  return found == families.end() ? nullptr : &*found;
}

}  // namespace tbdsim
