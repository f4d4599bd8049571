#include "model/analysis/cost.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/input/edits.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr Seconds kHour{3600.0};
/// Depreciation of a server, assumed: three years, always in use.
constexpr double kYears = 3.0, kHoursOfYear = 8760.0;
constexpr double kIdleShare = 0.15;

std::string in_use(int gpus) { return gpus == 1 ? "one is in use" : fmt::format("{} are in use", gpus); }

/// What `all` GPUs of a machine are paid for while fewer run the job.
std::string whole_machine(const System& system, int all, int gpus) {
  return all > gpus ? fmt::format("USD/h is that of all {} GPUs of {}; {}", all, system.id, in_use(gpus)) : "";
}

CostBasis purchase(Usd price, std::string basis, const std::string& what, std::string source) {
  return {price / (kYears * kHoursOfYear),
          "assumed",
          {std::move(basis),
           fmt::format("{} of {} over {:.0f} years of constant use, without power and staff", format(price), what, kYears),
           std::move(source),
           {}}};
}

std::optional<CostBasis> instances(const System& system, const std::vector<Price>& prices, const std::string& kind, int gpus,
                                   int nodes) {
  const auto whole = cheapest_instances(prices, system.device.id, kind, (gpus + nodes - 1) / nodes);
  if (!whole) return std::nullopt;
  const Price& price = whole->price;
  const int count = whole->count * nodes, all = static_cast<int>(*price.gpus) * count;
  std::string words = kind;
  std::replace(words.begin(), words.end(), '_', ' ');
  return CostBasis{
      price.rent * kHour * static_cast<double>(count),
      "datasheet",
      {kind,
       fmt::format("{}{} {} {}, {} for {} GPU(s){}, {}{}", count > 1 ? fmt::format("{} x ", count) : "", price.provider,
                   price.instance, words, format(price.rent), *price.gpus, count > 1 ? " each" : "", price.snapshot,
                   price.notes.empty() ? "" : fmt::format(" ({})", price.notes)),
       price.source,
       all > gpus ? fmt::format("USD/h is the rent of {} GPUs, the fewest that are let together; {}", all, in_use(gpus)) : ""}};
}

/// What the machine's own file or the user says of it.
std::optional<CostBasis> stated(const System& system, int gpus, int nodes) {
  const bool set = system.price_of == kAssignments;
  const std::string source = set ? kAssignments : system.source;
  const std::string whole = whole_machine(system, system.gpu_count * nodes, gpus);
  if (system.rent)
    return CostBasis{*system.rent * kHour * static_cast<double>(nodes),
                     set ? "assumed" : "datasheet",
                     {"rent", fmt::format("rent of {}, {}", system.id, format(*system.rent)), source, whole}};
  if (!system.price) return std::nullopt;
  CostBasis bought = purchase(*system.price * static_cast<double>(nodes), "price", system.id, source);
  bought.basis.note = whole;
  return bought;
}

std::optional<CostBasis> launch_prices(const Device& device, int gpus) {
  if (!device.launch_price) return std::nullopt;
  const std::string what = device.own_price ? fmt::format("{} x {}", gpus, device.id)
                                            : fmt::format("{} x {} at launch {}", gpus, device.id, device.launch_date);
  return purchase(*device.launch_price * static_cast<double>(gpus), "launch_price", what,
                  device.own_price ? kAssignments : device.source);
}

}  // namespace

std::optional<CostBasis> cost_basis(const System& system, const std::vector<Price>& prices, int gpus, int nodes) {
  auto bought = launch_prices(system.device, gpus);
  if (system.device.own_price && system.price_of != kAssignments) return bought;
  if (!system.rent_kind.empty()) return instances(system, prices, system.rent_kind, gpus, nodes);
  if (auto own = stated(system, gpus, nodes)) return own;
  auto let = instances(system, prices, "on_demand", gpus, nodes);
  return let ? let : bought;
}

void tell_cost(const System& system, const std::vector<Price>& prices, Prediction& p) {
  if (auto basis = cost_basis(system, prices, p.gpus, p.nodes)) {
    p.hour_cost = basis->hour;
    p.million_samples_cost = basis->hour / kHour.base() * 1e6 / p.throughput.value;
    p.price = std::move(basis->basis);
    p.provenance.push_back({"price of an hour", basis->kind, fmt::format("{}; {}", p.price.text, p.price.source)});
    if (!p.price.note.empty()) p.notices.push_back(p.price.note);
  } else if (!system.rent_kind.empty()) {
    p.notices.push_back(fmt::format("rent = \"{}\": the catalogue has no such rent of {}, so no price is told", system.rent_kind,
                                    system.device.id));
  }
  if (const auto power = average_power(system.device, p.utilization.gpu_busy))
    p.sample_energy = Joules(power->base() * p.gpus / p.throughput.value);
}

std::optional<Watts> average_power(const Device& device, double busy) {
  if (!device.power_limit) return std::nullopt;
  return *device.power_limit * (kIdleShare + (1.0 - kIdleShare) * std::clamp(busy, 0.0, 1.0));
}

}  // namespace tbdsim
