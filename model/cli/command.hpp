#pragma once
#include "model/cli/arguments.hpp"
#include "model/hardware/cluster.hpp"

namespace tbdsim {

/// One function per verb: one analysis, one report. Each returns the program's exit code.
[[nodiscard]] int run(const PredictArguments& arguments, const Catalogue& catalogue);
[[nodiscard]] int run(const MemoryArguments& arguments, const Catalogue& catalogue);
[[nodiscard]] int run(const ValidateArguments& arguments, const Catalogue& catalogue);
[[nodiscard]] int run(const ListArguments& arguments, const Catalogue& catalogue);
[[nodiscard]] int run(const ShowArguments& arguments, const Catalogue& catalogue);
[[nodiscard]] int run(const TopologyArguments& arguments, const Catalogue& catalogue);

/// Replaces this process by tbdsim-calibrate, which lies beside this program, as git starts its verbs.
/// Expects argv[1] to be "calibrate". Returns only if that fails, having reported why.
[[nodiscard]] int run_calibrate(char** argv);

}  // namespace tbdsim
