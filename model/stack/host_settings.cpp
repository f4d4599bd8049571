#include "model/stack/host_settings.hpp"

#include <fmt/format.h>

namespace tbdsim {

HostSettings read_host_settings(TomlTable table) {
  HostSettings settings;
  const std::string coupling = table.text("coupling");
  if (coupling == "serialized")
    settings.coupling = HostCoupling::serialized;
  else if (coupling != "queued")
    table.problem("coupling", fmt::format("expected \"queued\" or \"serialized\", got \"{}\"", coupling));
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
