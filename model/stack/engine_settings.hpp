#pragma once
#include "model/input/toml_reader.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// How a framework's dependency engine runs the operators of a graph (MXNet): as operations that each hold several
/// operators, after each of which the host waits for the device. Absent from a stack: every operator is one, at no cost of
/// its own.
struct EngineSettings {
  Seconds operation;            ///< host time of one operation beside its operators': push, dependencies, waiting thread
  int operators = 1;            ///< that one operation may hold
  bool stops_at_arrays = true;  ///< an operator with arrays of its own begins one; where it completes a gradient it is one
};

[[nodiscard]] EngineSettings read_engine_settings(TomlTable table);

}  // namespace tbdsim
