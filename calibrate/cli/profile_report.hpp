#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "calibrate/decode/steady_state.hpp"
#include "model/hardware/device.hpp"

namespace tbdsim::calibrate {

/// What the user tells about a recorded program.
struct ProfileSubject {
  std::optional<Device> device;   ///< that ran it; without it no occupancy
  int batch = 0;                  ///< samples of an iteration; 0: not told
  std::optional<Flop> step_flop;  ///< useful arithmetic of an iteration, forward and backward, as the network defines it
};

/// Theoretical occupancy of a recorded kernel on the subject's device; empty where no device is told.
[[nodiscard]] KernelOccupancy occupancy_on(const ProfileSubject& subject);

/// Step and its spread, rate window, busy share, arithmetic against the peaks of the device while busy, tensor-core share, and
/// the longest kernels; `<` marks those whose occupancy is below the mean of all by time. What the iterations do not say (some
/// run more, others were left out, records were lost) is told. 80 columns.
[[nodiscard]] std::string profile_text(const ActivityLog& log, const SteadyIterations& steady, const ProfileSummary& summary,
                                       const ProfileSubject& subject);

/// First line of `kernel_table`.
[[nodiscard]] std::string_view kernel_table_header();
/// CSV, one row a kernel: kernel, calls and seconds per iteration, mean seconds, share, occupancy (empty: not told), tensor_core.
[[nodiscard]] std::string kernel_table(const ProfileSummary& summary);

}  // namespace tbdsim::calibrate
