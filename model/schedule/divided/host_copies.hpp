#pragma once
#include "model/stack/parallel/offload_settings.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// What a pass waits for a copy to or from the host that runs beside it.
[[nodiscard]] Seconds copy_wait(Bytes bytes, BytesPerSecond rate, Seconds pass);

/// What an update of states on the host takes for each rank.
struct HostUpdate {
  Seconds to_host, from_host;  ///< copies of the gradients of a turn; of updated weights
  Seconds update;              ///< by the host, of all its ranks at once
  double turns = 1;            ///< in which gradients leave, each beside a backward pass
};

/// What a rank waits for that: the GPU updates its own part meanwhile.
/// Neglects that the last gradients leave when backward is over. Source: Ren et al., arXiv:2101.06840.
[[nodiscard]] Seconds host_wait(const HostUpdate& host, OffloadOverlap overlap, Seconds backward, Seconds gpu_update);

}  // namespace tbdsim
