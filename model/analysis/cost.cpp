#include "model/analysis/cost.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr Seconds kHour{3600.0};
/// Depreciation of a server, assumed: three years, always in use.
constexpr double kYears = 3.0, kHoursOfYear = 8760.0;
constexpr double kIdleShare = 0.15;

CostBasis purchase(Usd price, const std::string& what, const std::string& source) {
  return {price.base() / (kYears * kHoursOfYear), 0, "assumed",
          fmt::format("{} of {} over {:.0f} years of constant use, without power and staff; {}", format(price), what, kYears,
                      source)};
}

}  // namespace

std::optional<CostBasis> cost_basis(const System& system, const std::vector<Price>& prices, int gpus, int nodes) {
  if (system.rent)
    return CostBasis{(*system.rent * kHour).base() * nodes, 0, "datasheet", fmt::format("rent in the file of {}", system.id)};
  const Device& device = system.device;
  if (const auto whole = cheapest_instances(prices, device.id, "on_demand", (gpus + nodes - 1) / nodes)) {
    const Price& price = whole->price;
    const int count = whole->count * nodes;
    return CostBasis{
        (price.rent * kHour).base() * count, static_cast<int>(*price.gpus) * count, "datasheet",
        fmt::format("{}{} {} on demand, {} for {} GPU(s){}, {}; {}", count > 1 ? fmt::format("{} x ", count) : "", price.provider,
                    price.instance, format(price.rent), *price.gpus, count > 1 ? " each" : "", price.snapshot, price.source)};
  }
  if (system.price) return purchase(*system.price * static_cast<double>(nodes), system.id, system.source);
  if (device.launch_price)
    return purchase(*device.launch_price * static_cast<double>(gpus),
                    fmt::format("{} x {} at launch {}", gpus, device.id, device.launch_date), device.source);
  return std::nullopt;
}

std::optional<Watts> average_power(const Device& device, double busy) {
  if (!device.power_limit) return std::nullopt;
  return *device.power_limit * (kIdleShare + (1.0 - kIdleShare) * std::clamp(busy, 0.0, 1.0));
}

}  // namespace tbdsim
