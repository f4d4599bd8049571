#include "model/stack/nccl_switched.hpp"

#include <algorithm>

#include "model/stack/quantity_list.hpp"

namespace tbdsim {
namespace {

constexpr Bounds kShare{0.0, 1.0, true};

std::array<Seconds, kSwitchedProtocols> protocol_times(TomlTable& table, std::string_view key) {
  std::array<Seconds, kSwitchedProtocols> times{};
  const auto found = quantity_list<Seconds>(table, key, "a time", "3.6 us");
  if (found.size() == times.size())
    std::copy(found.begin(), found.end(), times.begin());
  else
    table.problem(key, fmt::format("expected {} times, for LL, LL128 and Simple, got {}", times.size(), found.size()));
  return times;
}

NcclSwitchedPairs read_pairs(TomlTable table) {
  NcclSwitchedPairs pairs;
  pairs.start = table.quantity<Seconds>("start", kNotNegative);
  pairs.peer = table.quantity<Seconds>("peer", kNotNegative);
  pairs.simple_start = table.quantity<Seconds>("simple_start", kNotNegative);
  pairs.ll_rate = table.quantity<BytesPerSecond>("ll_rate");
  pairs.efficiency = table.number("efficiency", kShare);
  pairs.own_part = table.number("own_part", kNotNegative);
  pairs.drain = table.number("drain", kNotNegative);
  pairs.drain_full = table.quantity<Bytes>("drain_full");
  return pairs;
}

NcclSwitchedReduction read_reduction(TomlTable table) {
  NcclSwitchedReduction reduction;
  constexpr int kMostRanks = 4096;
  reduction.fewest = static_cast<int>(table.integer("fewest", 2, kMostRanks));
  reduction.planned_share = table.number("planned_share", kShare);
  reduction.planned_start = table.quantity<Seconds>("planned_start", kNotNegative);
  reduction.start = table.quantity<Seconds>("start", kNotNegative);
  reduction.efficiency = table.number("efficiency", kShare);
  reduction.ramp = table.quantity<Seconds>("ramp", kNotNegative);
  reduction.ramp_full = table.quantity<Bytes>("ramp_full");
  return reduction;
}

NcclSwitched read_one(const std::string& architecture, TomlTable& table) {
  NcclSwitched costs;
  costs.architecture = architecture;
  costs.planned_link = table.quantity<BytesPerSecond>("planned_link");
  costs.speeds = quantity_list<BytesPerSecond>(table, "speeds", "a rate", "20 GB/s");
  if (costs.speeds.empty()) table.problem("speeds", "expected the rates of a channel that the search tries");
  costs.keeps_slow_channels = table.boolean_or("keeps_slow_channels", false);
  costs.planned_ll = table.quantity<BytesPerSecond>("planned_ll");
  costs.planned_ll128 = table.quantity_if<BytesPerSecond>("planned_ll128").value_or(BytesPerSecond(0.0));
  costs.base = table.quantity<Seconds>("base", kNotNegative);
  costs.start = protocol_times(table, "start");
  costs.step = protocol_times(table, "step");
  costs.ll_slice = table.quantity<BytesPerSecond>("ll_slice");
  costs.ll_lag = table.number("ll_lag", kNotNegative);
  costs.efficiency = table.number("efficiency", kShare);
  costs.ll_share = table.number("ll_share", kShare);
  costs.ll128_share = table.number_or("ll128_share", 1.0, kShare);
  TomlTable drain = table.table("drain");
  costs.drain = {drain.number("all_reduce", kNotNegative), drain.number("all_gather", kNotNegative),
                 drain.number("reduce_scatter", kNotNegative)};
  costs.pairs = read_pairs(table.table("pairs"));
  if (auto reduction = table.table_if("reduction")) costs.reduction = read_reduction(std::move(*reduction));
  (void)table.text("source");
  return costs;
}

}  // namespace

std::vector<NcclSwitched> read_switched(TomlTable switched) {
  std::vector<NcclSwitched> all;
  for (auto& [architecture, table] : switched.named_tables()) all.push_back(read_one(architecture, table));
  return all;
}

}  // namespace tbdsim
