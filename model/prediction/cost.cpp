#include "model/prediction/cost.hpp"

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
/// Power of all else of a node over that of its GPUs, where nothing states it. Assumed: half, as of a DGX-1 (3.5 kW with 2.4 kW
/// of GPUs); a DGX H100 may draw four fifths (10.2 kW with 5.6 kW).
constexpr double kHostPower = 0.5;
constexpr int kDigits = 6;  // of a price, which is told as it was seen

std::string in_use(int gpus) { return gpus == 1 ? "one is in use" : fmt::format("{} are in use", gpus); }

/// What `all` GPUs of a machine are paid for while fewer run the job.
std::string whole_machine(const System& system, int all, int gpus) {
  return all > gpus ? fmt::format("USD/h is that of all {} GPUs of {}; {}", all, system.id, in_use(gpus)) : "";
}

std::string dated(const std::string& date) { return date.empty() ? "" : fmt::format(" ({})", date); }

/// Only a GPU was named: any machine that holds it is as good as another.
bool only_gpus(const System& system) { return system.id == system.device.id || !system.chosen_for.empty(); }

CostBasis purchase(Usd price, std::string basis, const std::string& what, std::string source, std::string date) {
  return {{price,
           price / (kYears * kHoursOfYear),
           {std::move(basis), what + std::string(kPurchaseTerms), std::move(source), {}, std::move(date)}},
          "assumed"};
}

std::optional<CostBasis> instances(const System& system, const std::vector<Price>& prices, const std::string& kind, int gpus,
                                   int nodes) {
  std::vector<Price> offered = prices;
  if (!system.provider.empty())
    offered.erase(
        std::remove_if(offered.begin(), offered.end(), [&](const Price& price) { return price.provider != system.provider; }),
        offered.end());
  const auto whole = cheapest_instances(offered, system.device.id, kind, (gpus + nodes - 1) / nodes);
  if (!whole) return std::nullopt;
  const Price& price = whole->price;
  const int count = whole->count * nodes, all = static_cast<int>(*price.gpus) * count;
  std::string words = kind;
  std::replace(words.begin(), words.end(), '_', ' ');
  const Usd hour = price.rent * kHour * static_cast<double>(count);
  return CostBasis{
      {hour,
       hour,
       {kind,
        fmt::format("{}{} {} {}, {} for {} GPU(s){}, {}{}", count > 1 ? fmt::format("{} x ", count) : "", price.provider,
                    price.instance, words, format(price.rent), *price.gpus, count > 1 ? " each" : "", price.snapshot,
                    price.notes.empty() ? "" : fmt::format(" ({})", price.notes)),
        price.source,
        whole->count > 1
            ? fmt::format("no machine with {} of these boards is let: USD/h is the rent of {} of {}, which no wires "
                          "join, while the step is timed in {}",
                          (gpus + nodes - 1) / nodes, count, *price.gpus, nodes == 1 ? "one" : fmt::format("{}", nodes))
        : all > gpus ? fmt::format("USD/h is the rent of {} GPUs, the fewest that are let together; {}", all, in_use(gpus))
                     : "",
        price.snapshot}},
      "datasheet"};
}

/// Boards at their list price, in hosts whose price is known or left out.
std::optional<CostBasis> boards(const System& system, int gpus, int nodes) {
  const Device& device = system.device;
  if (!device.launch_price || !system.provider.empty()) return std::nullopt;
  std::string what = device.own_price ? fmt::format("{} x {} at {}", gpus, device.id, format(*device.launch_price, kDigits))
                                      : fmt::format("{} x {} at {}{}", gpus, device.id, format(*device.launch_price, kDigits),
                                                    dated(device.launch_price_date));
  Usd price = *device.launch_price * static_cast<double>(gpus), hosts(0.0);
  std::string source = device.own_price ? kAssignments : device.launch_price_source;
  if (const Host& host = system.host; host.price) {
    hosts = *host.price * static_cast<double>(nodes);
    price += hosts;
    what += fmt::format(" and {} x host without GPUs at {}{}", nodes, format(*host.price, kDigits), dated(host.price_date));
    source += "; host: " + host.price_source;
  } else {
    what += ", without a host";
  }
  CostBasis bought = purchase(price, "launch_price", what, std::move(source), device.own_price ? "" : device.launch_price_date);
  bought.payment.host = hosts;
  return bought;
}

}  // namespace

std::optional<CostBasis> rent_basis(const System& system, const std::vector<Price>& prices, int gpus, int nodes) {
  const bool set = system.price_of == kAssignments;
  if (!system.rent_kind.empty()) return instances(system, prices, system.rent_kind, gpus, nodes);
  if (system.rent) {
    const Usd hour = *system.rent * kHour * static_cast<double>(nodes);
    return CostBasis{
        {hour,
         hour,
         {"rent", fmt::format("rent of {}, {}{}", system.id, format(*system.rent), set ? "" : dated(system.price_date)),
          set ? kAssignments : system.price_source, whole_machine(system, system.gpu_count * nodes, gpus),
          set ? "" : system.price_date}},
        set ? "assumed" : "datasheet"};
  }
  // The user's price sets rents aside; another machine's rent is not this one's.
  if ((set && system.price) || system.device.own_price || !only_gpus(system)) return std::nullopt;
  return instances(system, prices, "on_demand", gpus, nodes);
}

std::optional<CostBasis> purchase_basis(const System& system, int gpus, int nodes) {
  const bool set = system.price_of == kAssignments;
  if (set && !system.price) return std::nullopt;
  if (!system.price || (system.device.own_price && !set)) return boards(system, gpus, nodes);
  CostBasis bought = purchase(*system.price * static_cast<double>(nodes), "price",
                              fmt::format("{}{} of {}{}", nodes > 1 ? fmt::format("{} x ", nodes) : "",
                                          format(*system.price, kDigits), system.id, set ? "" : dated(system.price_date)),
                              set ? kAssignments : system.price_source, set ? "" : system.price_date);
  bought.payment.basis.note = whole_machine(system, system.gpu_count * nodes, gpus);
  return bought;
}

std::optional<CostBasis> cost_basis(const System& system, const std::vector<Price>& prices, int gpus, int nodes) {
  auto rented = rent_basis(system, prices, gpus, nodes), bought = purchase_basis(system, gpus, nodes);
  if (system.device.own_price && system.price_of != kAssignments) return bought;
  const bool stated = system.rent || !system.rent_kind.empty();
  if (stated || !system.price) return rented || stated ? rented : bought;
  return bought;
}

void tell_cost(const System& described, const std::vector<Price>& prices, Prediction& p) {
  const bool own = !prices.empty() && prices.front().own;
  const std::optional<System> priced = own ? std::optional(with_own_prices(described, prices)) : std::nullopt;
  const System& system = priced ? *priced : described;
  const auto payment = [](const std::optional<CostBasis>& basis) { return basis ? std::optional(basis->payment) : std::nullopt; };
  p.cost.rented = payment(rent_basis(system, prices, p.job.gpus, p.job.nodes));
  p.cost.bought = payment(purchase_basis(system, p.job.gpus, p.job.nodes));
  if (auto basis = cost_basis(system, prices, p.job.gpus, p.job.nodes)) {
    p.cost.hour = basis->payment.hour;
    p.cost.million_samples = basis->payment.hour / kHour.base() * 1e6 / p.throughput.value;
    p.cost.price = std::move(basis->payment.basis);
    p.provenance.push_back({"price of an hour", basis->kind, fmt::format("{}; {}", p.cost.price.text, p.cost.price.source)});
    if (!p.cost.price.note.empty()) p.notices.push_back(p.cost.price.note);
  } else if (!system.rent_kind.empty()) {
    p.notices.push_back(fmt::format("rent = \"{}\": the catalogue has no such rent of {}{}, so no price is told",
                                    system.rent_kind, system.device.id,
                                    system.provider.empty() ? "" : fmt::format(" at {}", system.provider)));
  }
  if (const auto power = average_power(system.device, p.utilization.gpu_busy)) {
    p.cost.sample_energy = Joules(power->base() * p.job.gpus / p.throughput.value);
    p.cost.gpu_power = *power * static_cast<double>(p.job.gpus);
  }
  p.cost.host_power = host_power(system, p.job.gpus, p.job.nodes);
}

std::optional<Watts> host_power(const System& system, int gpus, int nodes) {
  if (system.host.power) return *system.host.power * static_cast<double>(nodes);
  if (!system.device.power_limit) return std::nullopt;
  const Watts boards = *system.device.power_limit;
  if (system.power) return std::max(Watts(0.0), *system.power - system.gpu_count * boards) * static_cast<double>(nodes);
  return kHostPower * gpus * boards;
}

std::optional<Watts> average_power(const Device& device, double busy) {
  if (!device.power_limit) return std::nullopt;
  return *device.power_limit * (kIdleShare + (1.0 - kIdleShare) * std::clamp(busy, 0.0, 1.0));
}

}  // namespace tbdsim
