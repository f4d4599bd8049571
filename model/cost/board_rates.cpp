#include "model/cost/board_rates.hpp"

#include "model/cost/kept_clock.hpp"
#include "model/cost/tensor_share.hpp"

namespace tbdsim {

Hertz instruction_clock(const Device& device) {
  constexpr Hertz kTypicalClock(1.4e9);  // boards of the catalogue lie around this
  return device.sustained_clock.value_or(device.boost_clock.value_or(kTypicalClock));
}

KernelRates sustained_rates(const Device& device, FlopPerSecond peak, double share, BytesPerSecond bandwidth, Seconds launch,
                            std::string_view precision) {
  constexpr double kTypicalThreads = 2048.0;
  KernelRates rates{peak * share, bandwidth, launch, device.multiprocessors, instruction_clock(device)};
  rates.cache = device.l2_capacity.value_or(Bytes(0.0));
  rates.resident_threads = device.max_threads_per_multiprocessor.value_or(kTypicalThreads);
  rates.slow_integers = device.chip.slow_integers;
  rates.taps_apart = device.chip.taps_apart;
  rates.fp32_lanes = rates.slow_integers ? device.fp32_lanes : fed_lanes(device.fp32_lanes);
  rates.peak = peak * (precision == "fp32" ? wanted_clock(clocked(device)) : tensor_clock(device, precision));
  // Cycles that are no product neither wait for operands nor draw the power of tensor cores: they pass at the full rate.
  if (const auto overhead = precision == "fp32" ? std::nullopt : tensor_overhead(device, precision))
    rates.step_overhead = *overhead * share;
  rates.share = share;
  rates.cache_reach = device.chip.cache_reach;
  rates.exponentials = device.chip.exponentials;
  rates.warp_products = precision == "fp32" ? 1.0 : device.chip.warp_products;
  rates.translations = device.address_translations.value_or(Hertz(0.0));
  // Bytes that the last level of cache delivers in a cycle, for each multiprocessor (fitted: products of the L40S, whose cache
  // holds the weights that its samples cycle through).
  constexpr double kCacheBytes = 5.1;
  rates.boost = device.boost_clock.value_or(instruction_clock(device));
  rates.cache_bandwidth = BytesPerSecond(kCacheBytes * device.multiprocessors * rates.boost.base());
  return rates;
}

KernelRates kernel_rates(const Device& device, FlopPerSecond peak, const FamilyParameters& parameters,
                         std::string_view precision) {
  KernelRates rates = sustained_rates(device, peak, parameters.compute_efficiency,
                                      device.memory_bandwidth * parameters.bandwidth_efficiency, parameters.launch, precision);
  if (parameters.sustained_efficiency) rates.sustained = peak * *parameters.sustained_efficiency;
  constexpr double kQuantizeShare = 0.6;  // of the memory bandwidth: geometric mean of the boards with samples
  rates.quantize_bandwidth = device.memory_bandwidth * parameters.quantize_bandwidth.value_or(kQuantizeShare);
  return rates;
}

}  // namespace tbdsim
