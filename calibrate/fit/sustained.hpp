#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/decode/sample_table.hpp"
#include "model/hardware/device.hpp"

namespace tbdsim::calibrate {

/// What a board keeps of its rate when a product goes on for seconds.
struct SustainedRate {
  std::string precision;
  double share = 1.0;  ///< rate over that of short runs; 1 at most
  std::optional<Hertz> burst_clock, clock;
  double seconds = 0.0;  ///< of the whole run; rate and clock are of its second half
};

/// From a sample of the family `load`; nullopt for others, without the time of the beginning, under a hardware slowdown.
[[nodiscard]] std::optional<SustainedRate> sustained_rate(const Sample& sample);
/// Of all such samples, in their order.
[[nodiscard]] std::vector<SustainedRate> sustained_rates_of(const std::vector<Sample>& samples);

/// Parameters that were fitted to short runs, at the rate that the board keeps: of the same precision, else of any other on
/// tensor cores. Families without a share of peak stay.
[[nodiscard]] FamilyParameters at_sustained_rate(FamilyParameters parameters, const std::vector<SustainedRate>& rates);

/// States the clock of short runs (`burst`), under which the samples were taken, or that of long ones. Where the device lists no
/// boost clock, or no sample tells a clock, it stays as it was.
void state_clock(Device& device, const std::vector<SustainedRate>& rates, bool burst);

[[nodiscard]] std::string to_text(const SustainedRate& rate);

}  // namespace tbdsim::calibrate
