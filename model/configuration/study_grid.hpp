#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "model/configuration/predict_options.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

/// One option with the values that it takes in turn; `option` is the command-line option without its dashes.
struct GridAxis {
  std::string option;
  std::vector<std::string> values;
};

/// A grid of configurations: every combination of the axes' values, the last axis running fastest.
struct StudyGrid {
  std::vector<GridAxis> axes;
  std::vector<std::string> set;  ///< KEY=VALUE, the same at every point

  [[nodiscard]] std::size_t points() const;
  /// Option and value of every axis at one point. Expects point < points().
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> at(std::size_t point) const;
};

/// The axis that a list stands for: words between commas, and for numbers ranges as well (`1..8`, `4..128*2`).
/// Errors: an empty item, no number, a range that runs down.
[[nodiscard]] Result<GridAxis> parse_axis(const std::string& option, const std::string& text);

/// Why `option` is no axis of a sweep, with those that are; empty: it is one.
[[nodiscard]] std::string axis_problem(const std::string& option);

/// Options of one point. Errors: a value that its option does not take; an option that is none of a job.
[[nodiscard]] Result<PredictOptions> options_of(const std::vector<std::pair<std::string, std::string>>& point,
                                                const std::vector<std::string>& set);

}  // namespace tbdsim
