#include "model/report/claims_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/report/csv.hpp"
#include "model/report/text_table.hpp"

namespace tbdsim {
namespace {

constexpr std::size_t kWidth = 80, kId = 44;

std::string side(double value, const std::string& text) {
  constexpr double kLong = 1e6;  // bytes and rates in base units
  if (!text.empty()) return text;
  return std::abs(value) < kLong ? number_text(value) : fmt::format("{:.4g}", value);
}

std::string points_text(const AssessedClaim& claim) {
  if (claim.points < 2) return "";
  return claim.failing > 0 ? fmt::format("{} of {} fail", claim.failing, claim.points) : fmt::format("{} points", claim.points);
}

/// What a reader of a failing claim wants next: the claim, the point, why.
std::string details(const AssessedClaim& claim) {
  std::string text = "  " + wrapped(fmt::format("{}: {}", claim.id, claim.expr), kWidth - 2, 4) + '\n';
  if (!claim.point.empty()) text += "    " + wrapped("first at " + claim.point, kWidth - 4, 6) + '\n';
  if (!claim.problem.empty()) text += "    " + wrapped("not evaluated: " + claim.problem, kWidth - 4, 6) + '\n';
  if (!claim.reason.empty()) text += "    " + wrapped("known: " + claim.reason, kWidth - 4, 6) + '\n';
  return text;
}

/// "fit", "fit or trivial", "fit, trivial or own controls"
std::string kinds_not_counted(const ClaimCount& count) {
  std::vector<std::string_view> kinds;
  if (count.fit > 0) kinds.emplace_back("fit");
  if (count.trivial > 0) kinds.emplace_back("trivial");
  if (count.controls > 0) kinds.emplace_back("own controls");
  std::string text(kinds.front());
  for (std::size_t i = 1; i < kinds.size(); ++i) text += fmt::format("{}{}", i + 1 < kinds.size() ? ", " : " or ", kinds[i]);
  return text;
}

}  // namespace

std::string verdict(const AssessedClaim& claim) {
  const std::string word = claim.outcome.holds ? "holds" : "fails";
  return claim.use == ClaimUse::validation ? word : fmt::format("{} ({})", word, name(claim.use));
}

std::string count_text(const ClaimCount& count) {
  std::string text = fmt::format("{} of {} claims hold", count.holding, count.counted);
  if (count.others() > 0) text += fmt::format("; {} {} not counted", count.others(), kinds_not_counted(count));
  if (count.lookups > 0)
    text += fmt::format("; of the {}, {}", count.counted,
                        count.lookups == 1 ? "1 is a look-up" : fmt::format("{} are look-ups", count.lookups));
  return text;
}

std::string failing_text(const ClaimCount& count) {
  const int failing = count.counted - count.holding;
  std::string text;
  if (failing > 0) text = fmt::format("{} of {} claims fail", failing, count.counted);
  if (count.others_failing > 0)
    text += fmt::format("{}{} of {} not counted claims fail", text.empty() ? "" : ", and ", count.others_failing, count.others());
  return text;
}

std::string claims_table(const std::vector<AssessedClaim>& claims) {
  TextTable table({{"claim", Align::left, kId}, {"", Align::left}, {"left", Align::right}, {"right", Align::right}, {""}});
  std::string failing;
  for (const AssessedClaim& claim : claims) {
    const ClaimOutcome& outcome = claim.outcome;
    const bool evaluated = claim.problem.empty();
    table.add({claim.id, verdict(claim), evaluated ? side(outcome.left, outcome.left_text) : "",
               evaluated ? side(outcome.right, outcome.right_text) : "", points_text(claim)});
    if (!outcome.holds) failing += details(claim);
  }
  std::string text = table.text() + '\n' + count_text(count(claims)) + '\n';
  if (!failing.empty()) text += "\nClaims that fail\n" + failing;
  return text;
}

std::string claims_csv(const std::vector<AssessedClaim>& claims) {
  std::string all = csv_line({"id", "use", "holds", "left", "right", "points", "failing", "point", "problem", "expr", "source"});
  for (const AssessedClaim& claim : claims) {
    const ClaimOutcome& outcome = claim.outcome;
    const bool evaluated = claim.problem.empty();
    const auto exact = [&](double value, const std::string& text) {
      return !evaluated ? std::string() : text.empty() ? fmt::format("{}", value) : text;
    };
    all +=
        csv_line({claim.id, std::string(name(claim.use)), outcome.holds ? "true" : "false",
                  exact(outcome.left, outcome.left_text), exact(outcome.right, outcome.right_text), std::to_string(claim.points),
                  std::to_string(claim.failing), claim.point, claim.problem, claim.expr, claim.source});
  }
  return all;
}

}  // namespace tbdsim
