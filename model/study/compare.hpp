#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/configuration/study_grid.hpp"
#include "model/prediction/predict.hpp"
#include "model/study/payment.hpp"
#include "model/support/progress.hpp"

namespace tbdsim {

/// One candidate of a comparison.
struct Candidate {
  std::vector<std::pair<std::string, std::string>> varied;  ///< the options that differ between candidates
  std::string label;                                        ///< their values
  std::string problem;                                      ///< why it cannot be predicted; then the rest is empty
  Prediction prediction;
  std::size_t base = 0;    ///< what its speed-up is against: the candidate that counts the same samples
  Ranged<double> speedup;  ///< throughput over that of its base
  bool apart = true;       ///< false: the range of the speed-up holds 1, so no better or worse can be said
  std::optional<double> bought_ratio, rented_ratio;  ///< price over that of its base; absent: one of both is not known
};

struct Comparison {
  std::vector<Candidate> candidates;  ///< in grid order
  std::size_t base = 0;
};

/// Every point of a grid, predicted, in grid order; held against nothing. Errors: too many points.
[[nodiscard]] Result<std::vector<Candidate>> candidates_of(Session& session, const StudyGrid& grid, Progress* progress = nullptr);

/// Whether the samples of two candidates may stand for each other. Files of the user's are taken as variants of one network.
[[nodiscard]] bool comparable(const Prediction& a, const Prediction& b);

/// Sets every candidate against the one of its samples, as `compare` does. Expects a base that is predicted.
void hold_against_base(Comparison& comparison);

/// Predicts every point of a grid and sets it against the point `base`.
///
/// Samples of different networks are no measure of each other: candidates of another network, or of samples of another
/// kind, are set against the one of theirs whose other options are the base's; if there is none, against their first.
/// The user's own network files count as variants of one network.
/// Ranges of speed-ups: speedup.hpp. Errors: a point that cannot be read; the base cannot be predicted.
[[nodiscard]] Result<Comparison> compare(Session& session, const StudyGrid& grid, std::size_t base, Progress* progress = nullptr);

}  // namespace tbdsim
