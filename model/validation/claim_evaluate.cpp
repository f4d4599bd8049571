#include "model/validation/claim_evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

namespace tbdsim {
namespace {

using Kind = ClaimNode::Kind;

/// Room for rounding where a claim allows any.
constexpr double kRounding = 1e-9;

class Evaluator {
 public:
  Evaluator(const ClaimExpression& claim, const std::vector<ClaimOption>& defaults, const LeafSource& source)
      : claim_(claim), defaults_(defaults), source_(source) {}

  Result<ClaimOutcome> run() {
    ClaimOutcome outcome;
    outcome.holds = true;
    double nearest = std::numeric_limits<double>::infinity();
    for (const ClaimComparison& comparison : claim_.comparisons) {
      const auto left = value(comparison.left);
      if (!left) return tl::make_unexpected(left.error());
      const auto right = value(comparison.right);
      if (!right) return tl::make_unexpected(right.error());
      if (auto problem = compare(comparison, *left, *right, outcome, nearest); !problem.empty()) return fail(std::move(problem));
    }
    return outcome;
  }

 private:
  const ClaimExpression& claim_;
  const std::vector<ClaimOption>& defaults_;
  const LeafSource& source_;

  /// Returns what makes the two incomparable; empty if nothing does.
  std::string compare(const ClaimComparison& comparison, const LeafValues& left, const LeafValues& right, ClaimOutcome& outcome,
                      double& nearest) const {
    if (!left.texts.empty() || !right.texts.empty()) return compare_texts(comparison, left, right, outcome);
    const std::size_t n = std::max(left.numbers.size(), right.numbers.size());
    if (!fits(left.numbers, n) || !fits(right.numbers, n))
      return fmt::format("cannot compare {} values with {}", left.numbers.size(), right.numbers.size());
    for (std::size_t i = 0; i < n; ++i) {
      const double l = at(left.numbers, i), r = at(right.numbers, i);
      const double room = slack(comparison.kind, l, r);
      if (!std::isfinite(room)) return fmt::format("{} against {} leaves the range of numbers", l, r);
      outcome.holds = outcome.holds && (strict(comparison.kind) ? room > 0.0 : room >= 0.0);
      if (room >= nearest) continue;
      nearest = room;
      outcome.left = l;
      outcome.right = r;
    }
    return "";
  }

  static std::string compare_texts(const ClaimComparison& comparison, const LeafValues& left, const LeafValues& right,
                                   ClaimOutcome& outcome) {
    if (comparison.kind != ClaimComparison::Kind::equal) return "texts can only be compared with ==";
    if (left.texts.empty() || right.texts.size() != 1) return "cannot compare a text with a number";
    for (const std::string& text : left.texts) {
      if (text == right.texts.front() && !outcome.left_text.empty()) continue;
      outcome.holds = outcome.holds && text == right.texts.front();
      outcome.left_text = text;
    }
    outcome.right_text = right.texts.front();
    return "";
  }

  [[nodiscard]] bool strict(ClaimComparison::Kind kind) const {
    return !claim_.has_tolerance && (kind == ClaimComparison::Kind::less || kind == ClaimComparison::Kind::more);
  }

  /// By how much a comparison holds, relative to the right side; negative where it fails.
  [[nodiscard]] double slack(ClaimComparison::Kind kind, double left, double right) const {
    const double unit = right == 0.0 ? 1.0 : std::abs(right);
    double allowed = claim_.tolerance.relative ? claim_.tolerance.amount * unit : claim_.tolerance.amount;
    if (claim_.has_tolerance || kind == ClaimComparison::Kind::equal) allowed += kRounding * unit;
    switch (kind) {
      case ClaimComparison::Kind::less:
      case ClaimComparison::Kind::at_most:
        return (right - left + allowed) / unit;
      case ClaimComparison::Kind::more:
      case ClaimComparison::Kind::at_least:
        return (left - right + allowed) / unit;
      case ClaimComparison::Kind::equal:
        break;
    }
    return (allowed - std::abs(left - right)) / unit;
  }

  static bool fits(const std::vector<double>& values, std::size_t n) { return values.size() == n || values.size() == 1; }
  static double at(const std::vector<double>& values, std::size_t i) { return values.size() == 1 ? values.front() : values[i]; }

  Result<LeafValues> value(std::size_t index) {
    const ClaimNode& node = claim_.nodes[index];
    if (node.kind == Kind::number) return finite(LeafValues{{node.number}, {}}, "a number of the claim");
    if (node.kind == Kind::text) return LeafValues{{}, {node.text}};
    if (node.kind == Kind::leaf) return leaf(node);
    std::vector<std::vector<double>> parts;
    for (const std::size_t child : node.children) {
      auto part = value(child);
      if (!part) return part;
      if (!part->texts.empty()) return fail("a text takes no part in arithmetic");
      parts.push_back(std::move(part->numbers));
    }
    if (node.kind == Kind::maximum || node.kind == Kind::minimum || node.kind == Kind::mean) return reduced(node.kind, parts);
    return combined(node.kind, parts);
  }

  [[nodiscard]] Result<LeafValues> leaf(const ClaimNode& node) const {
    std::vector<ClaimOption> others;
    for (const ClaimOption& option : defaults_) {
      const bool stated =
          std::any_of(node.options.begin(), node.options.end(), [&](const ClaimOption& o) { return o.first == option.first; });
      if (!stated) others.push_back(option);
    }
    auto values = source_(node.text, node.options, others);
    return values ? finite(std::move(*values), node.text) : std::move(values);
  }

  /// What is infinite or no number compares with anything, so it is an error wherever it turns up.
  static Result<LeafValues> finite(LeafValues values, std::string_view what) {
    for (const double value : values.numbers) {
      if (!std::isfinite(value)) return fail(fmt::format("{} is {}", what, std::isnan(value) ? "not a number" : "infinite"));
    }
    return values;
  }

  static Result<LeafValues> reduced(Kind kind, const std::vector<std::vector<double>>& parts) {
    std::vector<double> all;
    for (const std::vector<double>& part : parts) all.insert(all.end(), part.begin(), part.end());
    if (all.empty()) return fail("no values to choose from");
    if (kind == Kind::maximum) return LeafValues{{*std::max_element(all.begin(), all.end())}, {}};
    if (kind == Kind::minimum) return LeafValues{{*std::min_element(all.begin(), all.end())}, {}};
    return finite(LeafValues{{std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size())}, {}}, "a mean");
  }

  static Result<LeafValues> combined(Kind kind, const std::vector<std::vector<double>>& parts) {
    const std::vector<double>& left = parts.front();
    const std::vector<double>& right = parts.back();
    const std::size_t n = std::max(left.size(), right.size());
    if (!fits(left, n) || !fits(right, n))
      return fail(fmt::format("cannot combine {} values with {}", left.size(), right.size()));
    LeafValues result;
    for (std::size_t i = 0; i < n; ++i) {
      const double l = at(left, i), r = at(right, i), value = operation(kind, l, r);
      auto one = finite(LeafValues{{value}, {}}, fmt::format("{} {} {}", l, sign(kind), r));
      if (!one) return one;
      result.numbers.push_back(value);
    }
    return result;
  }

  static char sign(Kind kind) {
    return kind == Kind::add ? '+' : kind == Kind::subtract ? '-' : kind == Kind::multiply ? '*' : '/';
  }

  static double operation(Kind kind, double left, double right) {
    switch (kind) {
      case Kind::negate:
        return -left;
      case Kind::add:
        return left + right;
      case Kind::subtract:
        return left - right;
      case Kind::multiply:
        return left * right;
      default:
        return left / right;
    }
  }
};

}  // namespace

Result<ClaimOutcome> evaluate(const ClaimExpression& claim, const std::vector<ClaimOption>& defaults, const LeafSource& source) {
  return Evaluator(claim, defaults, source).run();
}

}  // namespace tbdsim
