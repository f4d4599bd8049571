#pragma once
#include <cstdint>

namespace tbdsim::plan {

/// Layouts by what became of them.
struct PlanCounts {
  std::int64_t tried = 0;          ///< that divide everything they must
  std::int64_t out_of_memory = 0;  ///< of them
  std::int64_t slow = 0;           ///< of the others: slower than all that are kept, so that their memory was not looked at
  std::int64_t dominated = 0;      ///< that fit, where another one is as fast and takes as little memory, or better in one
  std::int64_t timed = 0;          ///< whose closed form and memory were computed
  std::int64_t refined = 0;        ///< whose recurrence was computed
  std::int64_t predicted = 0;      ///< in full

  PlanCounts& operator+=(const PlanCounts& more) {
    tried += more.tried;
    out_of_memory += more.out_of_memory;
    slow += more.slow;
    dominated += more.dominated;
    timed += more.timed;
    refined += more.refined;
    predicted += more.predicted;
    return *this;
  }
};

}  // namespace tbdsim::plan
