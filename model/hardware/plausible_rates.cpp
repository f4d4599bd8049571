#include "model/hardware/plausible_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "model/input/edits.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr double kSlip = 10.0;  // off by as much or more: a slip of unit or digits

/// Judges one value by its ratio to what the rest of the description makes of it.
class Judge {
 public:
  Judge(TomlTable& table, Device& device) : table_(table), device_(device) {}

  /// `least` to `most`: ratios to `other` that boards have. Whether it is one of them.
  bool ratio(const char* key, double ratio, double least, double most, const std::string& other, const char* hint) {
    return within(key, ratio, least, most, "times " + other, hint);
  }
  /// The same of a value in some unit.
  bool value(const char* key, double value, double least, double most, const std::string& unit, const char* hint) {
    return within(key, value, least, most, unit, hint);
  }

 private:
  bool within(const char* key, double value, double least, double most, const std::string& of, const char* hint) {
    if (value >= least && value <= most) return true;
    const std::string text = fmt::format("{:.3g} {}", value, of);
    if (value * kSlip <= least || value >= kSlip * most)
      table_.problem(key, fmt::format("{}; {}", text, hint));
    else
      device_.doubts.push_back(fmt::format("{}: {} is {}; {}", device_.id, key, text, hint));
    return false;
  }

  TomlTable& table_;
  Device& device_;
};

void judge_fp32(const Device& device, Judge& judge) {
  // Datasheets round clocks and list rates of other boost states by up to a fourteenth (B200).
  constexpr double kRounded = 1.2;
  const double most = kRounded * (device.vendor ? info(*device.vendor).operations_per_lane : 1.0);
  const Hertz clock = *device.boost_clock;
  const FlopPerSecond reach(2.0 * device.multiprocessors * device.fp32_lanes * clock.base());
  judge.ratio("peak_fp32", device.peak.fp32 / reach, 1.0 / kRounded, most,
              fmt::format("the {} of {} multiprocessors x {} lanes x 2 FLOP at boost_clock {}", format(reach),
                          device.multiprocessors, device.fp32_lanes, format(clock)),
              "change peak_fp32, boost_clock, multiprocessors and fp32_lanes together");
}

struct TensorRate {
  const char* key;
  std::optional<FlopPerSecond> PeakRates::*rate;
  double least, most;  ///< FLOP a cycle and multiprocessor: half of the smallest and twice the largest of the catalogue
};
constexpr std::array<TensorRate, 5> kTensorRates{{{"peak_fp32_tensor", &PeakRates::fp32_tensor, 64, 1024},
                                                  {"peak_tf32_tensor", &PeakRates::tf32_tensor, 64, 8192},
                                                  {"peak_fp16_tensor", &PeakRates::fp16_tensor, 128, 12288},
                                                  {"peak_bf16_tensor", &PeakRates::bf16_tensor, 128, 12288},
                                                  {"peak_fp8_tensor", &PeakRates::fp8_tensor, 256, 32768}}};

void judge_tensor(const Device& device, Judge& judge) {
  for (const TensorRate& row : kTensorRates) {
    const auto rate = device.peak.*row.rate;
    if (!rate) continue;
    const double cycle = rate->base() / (device.multiprocessors * device.boost_clock->base());
    judge.value(row.key, cycle, row.least, row.most, "FLOP a cycle and multiprocessor",
                fmt::format("boards have {:g} to {:g}", row.least, row.most).c_str());
  }
}

/// Data rates of a line of the bus, Gbit/s: half of the least and twice the largest of the catalogue.
struct MemoryKind {
  std::string_view name;
  double least, most;
};
constexpr std::array<MemoryKind, 9> kMemoryKinds{{{"GDDR5", 2.5, 16},
                                                  {"GDDR5X", 4.5, 23},
                                                  {"GDDR6", 5, 40},
                                                  {"GDDR6X", 9.5, 46},
                                                  {"GDDR7", 12, 60},
                                                  {"HBM2", 0.7, 4.9},
                                                  {"HBM2e", 1.5, 7.5},
                                                  {"HBM3", 2.6, 13},
                                                  {"HBM3e", 2.9, 16}}};

/// Whether the bandwidth is one that boards have.
bool judge_memory(const Device& device, Judge& judge) {
  constexpr double kRounded = 1.2, kBits = 8.0, kDoubleRate = 2.0;
  // The smallest boards of the catalogue have 4 GiB, the largest 288.
  constexpr Bytes kGib(1024.0 * 1024.0 * 1024.0);
  if (device.memory_capacity > Bytes(0.0))
    judge.value("memory_capacity", device.memory_capacity / kGib, 0.5, 1024, "GiB", "boards have 0.5 GiB to 1 TiB");
  if (!device.memory_bus_bits || device.memory_bandwidth <= BytesPerSecond(0.0)) return true;
  const double line = device.memory_bandwidth.base() * kBits / *device.memory_bus_bits;  // bit/s
  if (device.memory_clock) {
    const double reach = kDoubleRate * device.memory_clock->base();
    return judge.ratio("memory_bandwidth", line / reach, 1.0 / kRounded, kRounded,
                       fmt::format("the {} of a bus of {} bits at 2 x memory_clock {}",
                                   format(BytesPerSecond(reach * *device.memory_bus_bits / kBits)), *device.memory_bus_bits,
                                   format(*device.memory_clock)),
                       "change memory_bandwidth, memory_clock and memory_bus_bits together");
  }
  const auto* const kind = std::find_if(kMemoryKinds.begin(), kMemoryKinds.end(),
                                        [&](const MemoryKind& row) { return row.name == device.memory_kind; });
  if (kind == kMemoryKinds.end()) return true;
  return judge.value(
      "memory_bandwidth", line / 1e9, kind->least, kind->most,
      fmt::format("Gbit/s for each of {} lines of its bus", *device.memory_bus_bits),
      fmt::format("{} has {:g} to {:g}; bandwidths are in bytes, as in \"900 GB/s\"", kind->name, kind->least, kind->most)
          .c_str());
}

void judge_power(const Device& device, Judge& judge) {
  if (!device.power_limit || device.memory_bandwidth <= BytesPerSecond(0.0)) return;
  // Assumed: 3.9 pJ a bit of HBM2 (after O'Connor et al., Fine-Grained DRAM, MICRO 2017); boards of the catalogue
  // have 2.7 to 29 times that.
  constexpr double kJoulePerByte = 8 * 3.9e-12;
  const Watts memory(device.memory_bandwidth.base() * kJoulePerByte);
  judge.ratio("power_limit", *device.power_limit / memory, 2, 60,
              fmt::format("the {} that memory takes at full bandwidth", format(memory)),
              "boards have 2 to 60; memory that power slows down is not predicted");
}

}  // namespace

void check_rates(TomlTable& table, Device& device) {
  const bool complete = device.peak.fp32 > FlopPerSecond(0.0) && device.multiprocessors > 0 && device.fp32_lanes > 0;
  Judge judge(table, device);
  // Kepler's multiprocessor has most, 192.
  judge.value("fp32_lanes", device.fp32_lanes, 1, 192, "lanes", "the schedulers of a multiprocessor feed 128; the others idle");
  if (complete && device.boost_clock && *device.boost_clock > Hertz(0.0)) {
    // The fastest boards of the catalogue list 2.9 GHz, the slowest 0.8.
    constexpr Hertz kUnit(1e9);
    judge.value("boost_clock", *device.boost_clock / kUnit, 0.4, 4.0, "GHz", "boards list 0.4 to 4 GHz");
    judge_fp32(device, judge);
    judge_tensor(device, judge);
  }
  // A question about another clock changes one of the two.
  const bool asked = table.where("boost_clock").file == kAssignments || table.where("base_clock").file == kAssignments;
  if (!asked && device.base_clock && device.boost_clock && *device.base_clock > *device.boost_clock)
    table.problem("base_clock", fmt::format("above boost_clock, {}", format(*device.boost_clock)));
  if (judge_memory(device, judge)) judge_power(device, judge);
}

}  // namespace tbdsim
