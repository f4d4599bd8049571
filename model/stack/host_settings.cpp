#include "model/stack/host_settings.hpp"

#include <array>
#include <string_view>

#include "model/input/known_word.hpp"

namespace tbdsim {
namespace {

constexpr std::array<std::string_view, 2> kCouplings{"queued", "serialized"};

}  // namespace

HostSettings read_host_settings(TomlTable table) {
  HostSettings settings;
  settings.coupling = read_word<HostCoupling>(table, "coupling", kCouplings, "coupling").value_or(settings.coupling);
  settings.eager = table.boolean_or("eager", false);
  settings.waits_each_step = table.boolean_or("waits_each_step", false);
  settings.dispatch = table.quantity<Seconds>("dispatch", kNotNegative);
  settings.update_dispatch = table.quantity<Seconds>("update_dispatch", kNotNegative);
  settings.start_up = table.quantity<Seconds>("start_up", kNotNegative);
  if (auto issue = table.table_if("issue")) settings.issue = read_issue_settings(*issue);
  if (settings.issue && !settings.eager) table.problem("issue", "has no effect without eager = true");
  (void)table.text("source");
  table.finish();
  return settings;
}

}  // namespace tbdsim
