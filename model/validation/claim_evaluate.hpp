#pragma once
#include <functional>
#include <string>
#include <vector>

#include "model/support/result.hpp"
#include "model/validation/claim_expression.hpp"

namespace tbdsim {

/// What a leaf of a verb's output holds: numbers (booleans as 0 and 1) or a text each.
struct LeafValues {
  std::vector<double> numbers;
  std::vector<std::string> texts;
};

/// Answers the leaf of a claim under the options that it states, and under those of `defaults` that it does not state and
/// that mean something to it.
using LeafSource = std::function<Result<LeafValues>(const std::string& name, const std::vector<ClaimOption>& stated,
                                                    const std::vector<ClaimOption>& defaults)>;

/// How a claim turned out. Of several values that were compared, `left` and `right` are those nearest to failing.
struct ClaimOutcome {
  bool holds = false;
  double left = 0.0, right = 0.0;
  std::string left_text, right_text;  ///< of texts
};

/// Evaluates a claim; `defaults` are options of every leaf that does not state them. A leaf with several values takes
/// part with all of them: arithmetic is value by value, and a comparison must hold for all.
///
/// With a tolerance, `==` may be off by it, and the others may be missed by it. `==` and tolerances allow 1e-9 of the
/// right side more, for rounding. Errors: those of the source; lists of different lengths; a text among numbers; a value, or a
/// result on the way, that is infinite or no number.
[[nodiscard]] Result<ClaimOutcome> evaluate(const ClaimExpression& claim, const std::vector<ClaimOption>& defaults,
                                            const LeafSource& source);

}  // namespace tbdsim
