#include "model/survey/line_rate.hpp"

#include <cmath>

namespace tbdsim {

Configuration at_rate(Configuration configuration, BytesPerSecond rate) {
  Network& network = *configuration.network;
  network.achieved *= rate / network.bandwidth;
  network.tcp *= rate / network.bandwidth;
  network.bandwidth = rate;
  return configuration;
}

Result<std::optional<BytesPerSecond>> least_rate(const Configuration& configuration, Seconds longest,
                                                 const std::function<Result<Seconds>(const Configuration&)>& step_of) {
  constexpr BytesPerSecond kSlowest(1e6);
  constexpr double kPrecision = 1.01;
  const auto enough = [&](BytesPerSecond rate) -> Result<bool> {
    return step_of(at_rate(configuration, rate)).map([&](Seconds step) { return step <= longest; });
  };
  BytesPerSecond low = kSlowest, high = kFastestRate;
  auto fast = enough(high);
  if (!fast) return tl::make_unexpected(fast.error());
  if (!*fast) return std::optional<BytesPerSecond>();
  while (high / low > kPrecision) {
    const BytesPerSecond middle(std::sqrt(low.base() * high.base()));
    const auto reached = enough(middle);
    if (!reached) return tl::make_unexpected(reached.error());
    (*reached ? high : low) = middle;
  }
  return std::optional<BytesPerSecond>(high);
}

}  // namespace tbdsim
