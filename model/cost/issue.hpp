#pragma once
#include "model/hardware/cluster.hpp"
#include "model/stack/stack.hpp"
#include "model/workload/training_step.hpp"

namespace tbdsim {

/// How long the host takes to issue operators, in operators' worth of the stack's `dispatch`. With classes of operators
/// (`HostSettings::issue`) that is one elementwise operator forward; without, every operator is one.

/// One operator in one pass. `launches`: whether it has a kernel of the framework's own, which a view has not; asked only of
/// operators that no library serves. The two gradients of a layer share the framework's work.
/// Expects no pass of the update, no sum of gradients, and no recurrent operator.
[[nodiscard]] double issued_operators(const OpGraph& graph, const Op& op, Pass pass, bool launches, const Stack& stack);

/// Attention of single products and kernels, `kernels` of them in this pass.
[[nodiscard]] double issued_attention(int kernels, bool backward, const HostSettings& host);

/// A kernel that autograd adds: a sum of gradients, or of one with what is kept.
[[nodiscard]] double issued_sum(const HostSettings& host);

/// How much less a batch norm of the framework's own kernels (two forward, one backward) takes than one of the library.
[[nodiscard]] double issued_own_norm(Pass pass, const HostSettings& host);

/// An array that autocast casts, with its kernel.
[[nodiscard]] double issued_cast(const HostSettings& host);

/// Of the update of one array that is one of a list, in update kernels' worth: what the script does for it.
[[nodiscard]] double listed_array(const HostSettings& host);

/// Host time of making one array of a replica of `nn.DataParallel`; without classes an operator's.
[[nodiscard]] Seconds replica_array(const HostSettings& host);

/// Host time of this host over that of the host which the stack's times are of.
[[nodiscard]] double issue_scale(const Host& host, const HostSettings& stack);

}  // namespace tbdsim
