#pragma once
#include <optional>

#include "model/input/toml_reader.hpp"
#include "model/stack/issue_settings.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// How the host and the device wait for each other.
enum class HostCoupling {
  queued,      ///< operators are queued ahead; the device idles only when the host is late (PyTorch, TensorFlow)
  serialized,  ///< the device idles while the host handles each operator (MXNet and Torch7, as their batch curves show)
};

/// What the host does for a step, and for a run.
struct HostSettings {
  HostCoupling coupling = HostCoupling::queued;
  bool eager = false;  ///< kernels are issued as the script reaches them (PyTorch), not from a graph that is known before
  bool waits_each_step = false;  ///< the script waits for the device after every step, as loops that time single steps do
  Seconds dispatch;              ///< host time per operator (forward, backward, gradient sum); with `issue` of an elementwise one
  Seconds update_dispatch;       ///< host time per kernel launch of the optimiser update
  Seconds start_up;              ///< of one run, outside steady iterations
  /// Host time by class of operator. Times of the stack are then those of the reference host; else of the host that its
  /// `source` names, whatever runs it.
  std::optional<IssueSettings> issue;
};

/// Reads a [host] table.
[[nodiscard]] HostSettings read_host_settings(TomlTable table);

}  // namespace tbdsim
