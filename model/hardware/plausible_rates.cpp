#include "model/hardware/plausible_rates.hpp"

#include <fmt/format.h>

#include <array>

#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr double kSlip = 10.0;  // off by as much or more: a slip of unit or digits

/// Judges one value by its ratio to what the rest of the description makes of it.
class Judge {
 public:
  Judge(TomlTable& table, Device& device) : table_(table), device_(device) {}

  /// `least` to `most`: ratios that boards have.
  void ratio(const char* key, double ratio, double least, double most, const std::string& other, const char* hint) {
    if (ratio >= least && ratio <= most) return;
    const std::string text = fmt::format("{:.3g} times {}", ratio, other);
    if (ratio * kSlip <= least || ratio >= kSlip * most)
      table_.problem(key, fmt::format("{}; {}", text, hint));
    else
      device_.doubts.push_back(fmt::format("{}: {} is {}; {}", device_.id, key, text, hint));
  }

 private:
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
    judge.ratio(row.key, cycle, row.least, row.most, "1 FLOP a cycle and multiprocessor",
                fmt::format("boards have {:g} to {:g}", row.least, row.most).c_str());
  }
}

}  // namespace

void check_rates(TomlTable& table, Device& device) {
  const bool complete = device.peak.fp32 > FlopPerSecond(0.0) && device.multiprocessors > 0 && device.fp32_lanes > 0;
  Judge judge(table, device);
  // Kepler's multiprocessor has most, 192.
  judge.ratio("fp32_lanes", device.fp32_lanes, 1, 192, "1 lane", "the schedulers of a multiprocessor feed 128; the others idle");
  if (complete && device.boost_clock && *device.boost_clock > Hertz(0.0)) {
    // The fastest boards of the catalogue list 2.9 GHz, the slowest 0.8.
    constexpr Hertz kUnit(1e9);
    judge.ratio("boost_clock", *device.boost_clock / kUnit, 0.4, 4.0, "1 GHz", "boards list 0.4 to 4 GHz");
    judge_fp32(device, judge);
    judge_tensor(device, judge);
  }
  if (device.memory_bus_bits && device.memory_clock && device.memory_bandwidth > BytesPerSecond(0.0)) {
    constexpr double kRounded = 1.2, kBits = 8.0, kDoubleRate = 2.0;
    const BytesPerSecond reach(kDoubleRate * device.memory_clock->base() * *device.memory_bus_bits / kBits);
    judge.ratio("memory_bandwidth", device.memory_bandwidth / reach, 1.0 / kRounded, kRounded,
                fmt::format("the {} of a bus of {} bits at 2 x memory_clock {}", format(reach), *device.memory_bus_bits,
                            format(*device.memory_clock)),
                "change memory_bandwidth, memory_clock and memory_bus_bits together");
  }
}

}  // namespace tbdsim
