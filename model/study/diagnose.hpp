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
  double unexplained = 0.0;            ///< share of the evidence for none of them
  std::vector<std::string> ruled_out;  ///< cannot make this job slower by what is missing, or do not apply
};

/// Ranks what would make a job as slow as it was measured. Every cause of `slow_causes` is predicted, at several amounts where it
/// has degrees; between these, ln(step time) is taken to be linear.
///
/// The weight of a cause is its frequency times the mean, over its amounts, of the density of the measured figure around the
/// predicted one: normal in ln(time), with the deviation that predictions have from one job to another of a board. The part that
/// belongs to the board widens the printed ranges, but is not counted here: it moves all causes alike. Amounts that are noticed
/// are equally likely up to the worst. So a cause that is there or not and hits the figure counts for more than one that could
/// give any figure. One cause is at work at a time. `base`: the job's prediction. Errors: a text that is no speed, or that of
/// another network.
[[nodiscard]] Result<Diagnosis> diagnose(Session& session, const PredictOptions& options, const Prediction& base,
                                         const std::string& measured);

}  // namespace tbdsim
