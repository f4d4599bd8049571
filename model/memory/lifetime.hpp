#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/units/quantity.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// What device memory is held for. The order is that of reports.
enum class MemoryPart {
  weights,
  gradients,        ///< of the parameters
  optimizer_state,  ///< momentum, moments
  feature_maps,     ///< outputs of forward operators and what they keep for backward
  workspace,        ///< scratch memory of the kernel library
  dynamic,          ///< gradients of feature maps and other temporaries
  input,            ///< the batch
  exchange,         ///< buffers of the gradient exchange
  context,          ///< CUDA context, libraries, handles, communicators
  slack,            ///< held by the allocator without holding a tensor: rounding, holes, blocks kept for later
};
inline constexpr std::size_t kMemoryPartCount = static_cast<std::size_t>(MemoryPart::slack) + 1;
[[nodiscard]] std::string_view name(MemoryPart part);  ///< "feature_maps"

/// Bytes by part.
struct MemoryParts {
  std::array<Bytes, kMemoryPartCount> bytes{};
  [[nodiscard]] Bytes& operator[](MemoryPart part) { return bytes[static_cast<std::size_t>(part)]; }
  [[nodiscard]] Bytes operator[](MemoryPart part) const { return bytes[static_cast<std::size_t>(part)]; }
  [[nodiscard]] Bytes total() const;
};

/// Arrays that MXNet's key-value stores hold on one GPU; none elsewhere.
struct StoreArrays {
  Bytes merged;    ///< sums of the gradients of the keys at home there
  Bytes weights;   ///< the store's own
  Bytes received;  ///< gradients of other GPUs
  [[nodiscard]] Bytes total() const { return merged + weights + received; }
};

/// One array in device memory. Positions count the nodes of a training step in the order in which the device runs
/// them; the array exists from `birth` up to, not including, `death`.
struct Lifetime {
  Bytes bytes;
  MemoryPart part = MemoryPart::feature_maps;
  OpId op;  ///< whose array it is; none (-1): the step's
  std::int32_t birth = 0, death = 0;
};

/// Bytes that exist at each position, and what they are where they are most (the first such position).
struct MemoryProfile {
  std::vector<Bytes> live;
  std::int32_t peak = 0;
  MemoryParts at_peak;
};
[[nodiscard]] MemoryProfile memory_profile(std::span<const Lifetime> lifetimes, std::int32_t positions);

}  // namespace tbdsim
