#include "model/cost/product_power.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tbdsim {
namespace {

constexpr double kClockPerPower = 0.55, kEnergyPerWidth = 0.53, kBriefPerSustained = 0.3;
constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr double kNarrowest = 1024.0;  // FLOP a cycle of an instruction that the chip is built for, since Ampere
// GeForce boards issue the same instructions at half the rate. A FLOP then takes 0.6 of the energy at the full rate, or less: in
// published rates of large products no GeForce board of Ampere, Ada or Blackwell falls below its listed clock. Between the two
// rates with a power of the rate, so that a board with a higher rate is never slower.
constexpr double kHalfRate = 0.5, kEnergyPerRate = 0.737;  // 2^-0.737 = 0.6

double flop_per_cycle(const TensorCores& cores) {
  return cores.rate.base() / (cores.board.multiprocessors * listed_clock(cores.board).base());
}

double stated_share(const Clocked& board) {
  const ClockLimits& limits = board.limits;
  return limits.sustained_clock && limits.boost_clock ? static_cast<double>(*limits.sustained_clock / listed_clock(board))
                                                      : kUnlimited;
}

/// Clock that power lets long products keep, up to a factor that boards share.
double clock_of_power(const TensorCores& cores, Watts power) {
  const double c = flop_per_cycle(cores), width = std::max(c, kNarrowest);
  const double energy = std::pow(std::clamp(c / kNarrowest, kHalfRate, 1.0), kEnergyPerRate) / std::pow(width, kEnergyPerWidth);
  return std::pow(power.base() / (cores.board.multiprocessors * c * energy), kClockPerPower);
}

/// What long products keep of the listed clock on one board over what they keep on the other, as power tells; nothing unless
/// known.
std::optional<double> kept_by_power(const std::optional<TensorCores>& device, const Clocked& device_board,
                                    const std::optional<TensorCores>& lender, const Clocked& lender_board) {
  if (!device || !lender || !device_board.limits.power_limit || !lender_board.limits.power_limit) return std::nullopt;
  return clock_of_power(*device, *device_board.limits.power_limit) / clock_of_power(*lender, *lender_board.limits.power_limit) *
         (listed_clock(lender_board) / listed_clock(device_board));
}

}  // namespace

std::optional<double> attention_share(const std::optional<TensorCores>& device, const Clocked& device_board,
                                      const std::optional<TensorCores>& lender, const Clocked& lender_board, double share) {
  const auto kept = kept_by_power(device, device_board, lender, lender_board);
  if (!kept) return std::nullopt;
  const double own_class = class_clock(device_board, lender_board);
  const double stated = std::min(1.0, stated_share(device_board)), lent = std::min(1.0, stated_share(lender_board));
  // No board runs above its clock: a lender with power enough tells of one with more as it is.
  return own_class * std::min(std::max(share, 1.0), share * std::sqrt(*kept / own_class) * (stated / lent));
}

ProductShares product_shares(const std::optional<TensorCores>& device, const Clocked& device_board,
                             const std::optional<TensorCores>& lender, const Clocked& lender_board, ProductShares shares) {
  const double own_class = class_clock(device_board, lender_board);
  double sustained = shares.sustained;
  if (const auto kept = kept_by_power(device, device_board, lender, lender_board)) sustained *= *kept;
  sustained = std::min(sustained, own_class);
  const double stated = stated_share(device_board), lent = stated_share(lender_board);
  const double held = std::min(1.0, stated) / std::min(1.0, lent);
  const double brief = shares.brief * own_class * std::pow(sustained / own_class / shares.sustained, kBriefPerSustained) * held;
  return {brief, std::min(sustained, stated)};
}

}  // namespace tbdsim
