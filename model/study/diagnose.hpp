#pragma once
#include <string>
#include <vector>

#include "model/configuration/session.hpp"
#include "model/study/measured_speed.hpp"

namespace tbdsim {

/// One cause with what it would make of the job.
struct DiagnosedCause {
  std::string name, text, test;
  std::string amount;            ///< how much of it comes nearest: "2 workers"; empty: it has no degrees
  std::vector<std::string> set;  ///< the change, as `--set` takes it
  std::string stack;             ///< the other stack, where the change is one
  Ranged<double> speed;          ///< then, in the unit of the measured figure
  double off = 0.0;              ///< predicted over measured step time, minus 1; of rates measured over predicted
  bool in_range = false;         ///< the measured figure lies within the 80 % range
  double weight = 0.0;           ///< share of the evidence, `unexplained` included
};

/// Which causes would give a measured speed.
struct Diagnosis {
  MeasuredSpeed measured;
  Ranged<double> predicted;            ///< without any cause, in the unit of the measured figure
  double slower = 1.0;                 ///< measured over predicted step time
  bool expected = false;               ///< the measured figure lies within the prediction's own 80 % range
  std::vector<DiagnosedCause> causes;  ///< most likely first; none where the job is faster than predicted
  std::size_t alike = 0;               ///< how many of the first have about the same weight: only their tests tell them apart
  double unexplained = 0.0;            ///< share of the evidence for none of them
  std::vector<std::string> ruled_out;  ///< cannot make this job slower by what is missing, or do not apply
};

/// Ranks what would make a job as slow as it was measured. Every cause of `slow_causes` is predicted, at several amounts where it
/// has degrees; between these, ln(step time) is taken to be linear.
///
/// The weight of a cause is its frequency times the density of the measured figure around the predicted one: normal in ln(time),
/// with the deviation that predictions have from one job to another of a board. The part that belongs to the board widens the
/// printed ranges, but is not counted here: it moves all causes alike. Half of the weight is that of the amount that comes
/// nearest, half the mean over all amounts that are noticed. So a cause that is there or not counts for up to twice as much as
/// one that could give any figure, where both hit it; one that misses it counts for less than either. One cause is at work at a
/// time. `base`: the job's prediction. Errors: a text that is no speed, or that of
/// another network.
[[nodiscard]] Result<Diagnosis> diagnose(Session& session, const PredictOptions& options, const Prediction& base,
                                         const std::string& measured);

}  // namespace tbdsim
