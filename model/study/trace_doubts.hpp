#pragma once
#include <string>
#include <vector>

#include "model/hardware/cluster.hpp"
#include "model/prediction/prediction.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// What a trace says of the job in which it was recorded.
struct TracedJob {
  std::string device;  ///< as its tool writes it: "Tesla V100-SXM2-16GB"; empty: it does not
  Seconds step;        ///< mean of its steps
};

/// Why `predicted` may not be the job of a trace, one notice each: it runs on another device of the catalogue, or its step is
/// more than five times as long or as short. A device that the catalogue does not know by this name says nothing.
[[nodiscard]] std::vector<std::string> trace_doubts(const Catalogue& catalogue, const TracedJob& traced,
                                                    const Prediction& predicted);

}  // namespace tbdsim
