#include "calibrate/fit/sustained.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibrate/fit/fit_family.hpp"

namespace tbdsim::calibrate {
namespace {

/// Of the same precision; tensor cores of one precision tell of another.
const SustainedRate* rate_for(std::string_view precision, const std::vector<SustainedRate>& rates) {
  const auto same = std::find_if(rates.begin(), rates.end(), [&](const auto& r) { return r.precision == precision; });
  if (same != rates.end()) return &*same;
  const auto tensor = std::find_if(rates.begin(), rates.end(), [](const auto& r) { return r.precision != "fp32"; });
  return precision == "fp32" || tensor == rates.end() ? nullptr : &*tensor;
}

}  // namespace

std::optional<SustainedRate> sustained_rate(const Sample& sample) {
  const auto burst = sample.flag_value("burst_s");
  if (sample.family != kLoadFamily || sample.flagged(kHardwareSlowdown) || !burst) return std::nullopt;
  SustainedRate rate{sample.precision, std::min(1.0, *burst / sample.time.base()), {}, sample.clock, sample.at("seconds")};
  if (const auto clock = sample.flag_value("burst_clock_mhz")) rate.burst_clock = Hertz(1e6 * *clock);
  return rate;
}

std::vector<SustainedRate> sustained_rates_of(const std::vector<Sample>& samples) {
  std::vector<SustainedRate> rates;
  for (const Sample& sample : samples) {
    if (auto rate = sustained_rate(sample)) rates.push_back(std::move(*rate));
  }
  return rates;
}

FamilyParameters at_sustained_rate(FamilyParameters parameters, const std::vector<SustainedRate>& rates) {
  // Steps draw less than products without a pause: their clock lies between. A third, as of any clock that is lowered
  // (model/cost/transfer.cpp).
  constexpr double kClockSigma = 0.3;
  const FitFamily* const family = family_of_parameters(parameters.family);
  const SustainedRate* const rate = rate_for(parameters.precision, rates);
  // Instructions issued go by the clock that the device states.
  if (family == nullptr || !family->computes || family->issues || rate == nullptr || rate->share == 1.0) return parameters;
  parameters.compute_efficiency *= rate->share;
  parameters.compute_sigma = std::hypot(parameters.compute_sigma, kClockSigma * std::log(rate->share));
  parameters.source += fmt::format("; at {:.3f} of the rate of short runs, which a {} product keeps over {:g} s", rate->share,
                                   rate->precision, rate->seconds);
  return parameters;
}

void state_clock(Device& device, const std::vector<SustainedRate>& rates, bool burst) {
  // One clock for all: lanes rather than tensor cores, whose products draw the most.
  const SustainedRate* rate = rate_for("fp32", rates);
  if (rate == nullptr) rate = rate_for("fp16", rates);
  if (rate == nullptr || !device.boost_clock || !rate->clock || !rate->burst_clock) return;
  device.sustained_clock = burst ? rate->burst_clock : rate->clock;
  device.sustained_clock_source =
      fmt::format("measured: SM clock in the second half of {:g} s of {} products", rate->seconds, rate->precision);
}

std::string to_text(const SustainedRate& rate) {
  std::string text = fmt::format("{} products keep {:.3f} of their rate over {:g} s", rate.precision, rate.share, rate.seconds);
  if (rate.clock && rate.burst_clock)
    text += fmt::format(" ({:.0f} MHz, {:.0f} at first)", rate.clock->base() / 1e6, rate.burst_clock->base() / 1e6);
  return text;
}

}  // namespace tbdsim::calibrate
