#pragma once
#include <optional>

#include "model/plan/found.hpp"
#include "model/plan/variants.hpp"
#include "model/prediction/memory_verdict.hpp"

namespace tbdsim::plan {

/// Of the GPU that holds most.
[[nodiscard]] Bytes fullest_peak(const MemoryVerdict& memory);

/// A layout that `predict` finds too large.
struct Misfit {
  PredictOptions options;
  Bytes peak;
  std::optional<HostMemory> host{};  ///< where that is too small

  [[nodiscard]] static Misfit of(PredictOptions options, const MemoryVerdict& memory);
  /// Of equal GPUs the host decides.
  [[nodiscard]] bool smaller_than(const Misfit& other) const;
};

/// Why nothing was found, with the smallest layout and what would help. `smallest`: of the layouts that were predicted; absent:
/// estimates excluded all.
[[nodiscard]] Errors nothing_found(Session& session, const Variants& variants, const Found& found,
                                   std::optional<Misfit> smallest);

}  // namespace tbdsim::plan
