#include "model/stack/parameter_server.hpp"

namespace tbdsim {

ParameterServer read_parameter_server(TomlTable table) {
  ParameterServer server;
  server.sum = table.quantity<BytesPerSecond>("sum");
  server.update = table.quantity<BytesPerSecond>("update");
  server.message = table.quantity<Seconds>("message", kNotNegative);
  server.slice = table.quantity_if<Bytes>("slice").value_or(Bytes(0.0));
  server.reduces_on_device = table.boolean_or("reduces_on_device", true);
  server.pulls_at_step = table.boolean_or("pulls_at_step", false);
  server.variables_on_host = table.boolean_or("variables_on_host", false);
  (void)table.text("source");
  table.finish();
  return server;
}

}  // namespace tbdsim
