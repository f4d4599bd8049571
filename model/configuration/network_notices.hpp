#pragma once
#include <string>

#include "model/configuration/configure.hpp"
#include "model/input/edits.hpp"

namespace tbdsim {

/// What to say of a network that was named; nothing where it serves as the machine's own would.
[[nodiscard]] std::string network_notice(const PredictOptions& options, const Configuration& configuration);

/// Adds notices of changed values of a network that joins no nodes.
void tell_unused_network(const Edits& edits, Configuration& configuration);

/// Adds a notice of changed RDMA that the parameter servers of the job do not use.
void tell_unused_rdma(const Edits& edits, Configuration& configuration);

}  // namespace tbdsim
