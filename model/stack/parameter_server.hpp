#pragma once
#include "model/input/toml_reader.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// A framework's parameter server: one process beside the workers of every node, keys spread over all of them.
struct ParameterServer {
  BytesPerSecond sum;              ///< gradients that one server adds up
  BytesPerSecond update;           ///< weights that one server updates
  Seconds message;                 ///< host time of one message at its sender and at its server
  Bytes slice;                     ///< P3: largest piece of an array that travels alone; 0: no such scheduler
  bool reduces_on_device = true;   ///< gradients of a node's GPUs are added on a GPU, else on the host
  bool pulls_at_step = false;      ///< workers fetch everything when a step begins, once all is updated, in no order
  bool variables_on_host = false;  ///< one node too keeps variables on the host (TensorFlow), else on the GPUs
};

/// Reads a [parameter_server] table.
[[nodiscard]] ParameterServer read_parameter_server(TomlTable table);

}  // namespace tbdsim
