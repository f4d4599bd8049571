#include "model/schedule/divided/host_copies.hpp"

#include <algorithm>

namespace tbdsim {
namespace {

/// What one thing takes longer than another that runs beside it.
Seconds beyond(Seconds longer, Seconds other) { return std::max(Seconds(0.0), longer - other); }

}  // namespace

Seconds copy_wait(Bytes bytes, BytesPerSecond rate, Seconds pass) { return beyond(bytes / rate, pass); }

Seconds host_wait(const HostUpdate& host, OffloadOverlap overlap, Seconds backward, Seconds gpu_update) {
  switch (overlap) {
    case OffloadOverlap::none:
      break;
    case OffloadOverlap::backward:
      return host.turns * beyond(host.to_host, backward) + beyond(host.update, gpu_update) + host.from_host;
    case OffloadOverlap::update:
      return (host.turns - 1.0) * host.to_host + beyond(std::max({host.to_host, host.update, host.from_host}), gpu_update);
  }
  return host.turns * host.to_host + beyond(host.update, gpu_update) + host.from_host;
}

}  // namespace tbdsim
