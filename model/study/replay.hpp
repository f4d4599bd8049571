#pragma once
#include <string>
#include <vector>

#include "model/configuration/session.hpp"
#include "model/prediction/prediction.hpp"
#include "model/trace/work_family.hpp"

namespace tbdsim {

/// One family of work in a measured step and in the same step under changes.
struct ReplayedFamily {
  trace::WorkFamily family = trace::WorkFamily::element_wise;
  Seconds measured, replayed;
  double factor = 1.0;  ///< predicted time after over before the changes
  bool own = true;      ///< that of this family; else of all kernels, as the network has none of the family
};

/// A traced job under changes.
struct StepReplay {
  std::string file, tool, device;  ///< of the trace
  std::size_t steps = 0;
  std::vector<std::string> changes;  ///< KEY=VALUE
  std::string model, hardware;
  std::string input_unit;
  Seconds measured;                           ///< a step
  Ranged<Seconds> replayed;                   ///< the same under the changes, with the 80 % range of what is scaled
  Seconds predicted_before, predicted_after;  ///< by the model alone
  double throughput_before = 0.0;             ///< samples/s over all GPUs, of the measured step
  Ranged<double> throughput;                  ///< of the replayed one
  double host_factor = 1.0;
  std::vector<ReplayedFamily> families;  ///< longest first
  std::vector<std::string> notices;
};

/// Replays the measured steps of a trace under changes: `options` without its assignments is the job that was traced, the
/// assignments (`--set`, `--what-if`) are the changes. Kernels, exchanges and copies take the measured time times what the model
/// predicts for their family after the changes over before; the host spends its predicted share likewise. See `trace::rerun` for
/// how they follow each other. Without changes the measured step comes out.
///
/// The range is that of the ratio of two predictions: what differs from one job to another of a board, for the share of the
/// measured step that is scaled. Errors: of the trace, of both predictions; a job that is predicted layer by layer; changes of a
/// trace without a device, to an exchange from none, or of what runs beside what.
///
/// Notices: `trace_doubts`, and changes that scale nothing.
[[nodiscard]] Result<StepReplay> replay(Session& session, const PredictOptions& options, const std::string& trace_file);

}  // namespace tbdsim
