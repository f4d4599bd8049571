#include "model/report/diagnosis_report.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "model/report/csv.hpp"
#include "model/report/text_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

/// Causes with less evidence, and those after so many, are only named.
constexpr double kListed = 0.02;
constexpr std::size_t kMost = 8;
/// Where causes begin: after their number and weight.
constexpr std::size_t kCauseColumn = 14;

std::string speed_text(const Diagnosis& diagnosis, double value) {
  if (!diagnosis.measured.rate) return format(Seconds(value));
  return fmt::format("{} {}", number_text(value), diagnosis.measured.unit);
}

std::string number(const Diagnosis& diagnosis, double value) {
  return diagnosis.measured.rate ? number_text(value) : format(Seconds(value));
}

/// How near a cause comes.
std::string distance(const DiagnosedCause& cause) {
  constexpr double kSame = 0.005;
  const char* const range = cause.in_range ? "" : ", outside the range";
  if (std::abs(cause.off) < kSame) return fmt::format("as measured{}", range);
  return fmt::format("a step {} {} than measured{}", percent_text(std::abs(cause.off)), cause.off > 0.0 ? "longer" : "shorter",
                     range);
}

/// A line below a cause.
std::string indented(const std::string& line) {
  return std::string(kCauseColumn, ' ') + wrapped(line, kTextWidth, kCauseColumn) + '\n';
}

/// The measured speed beside the predicted one.
std::string verdict(const Diagnosis& d) {
  const std::string step = d.slower >= 1.0 ? fmt::format("the step takes {:.2f} times as long as predicted", d.slower)
                                           : fmt::format("the step takes {} of the predicted time", number_text(d.slower));
  std::string text =
      fmt::format("Measured {}, predicted {} (80 % range {}): {}.", d.measured.text, speed_text(d, d.predicted.value),
                  fmt::format("{} to {}", number(d, d.predicted.low), number(d, d.predicted.high)), step);
  if (d.expected) text += " That lies within the range: nothing has to be wrong.";
  if (d.causes.empty() && d.slower < 1.0 && !d.expected) text += " So nothing slows it; is the description of the job right?";
  return text;
}

}  // namespace

std::string diagnosis_table(const Diagnosis& d) {
  std::string text = "Why it is slow\n  " + wrapped(verdict(d), kTextWidth - 2, 2) + '\n';
  if (d.unexplained > 0.5)
    text +=
        "  " +
        wrapped(
            "No single cause comes near the measured figure: look for several together, or for a wrong description of the job.",
            kTextWidth - 2, 2) +
        '\n';
  constexpr std::array<const char*, 9> kWords{"", "", "two", "three", "four", "five", "six", "seven", "eight"};
  if (d.alike > 1 && d.unexplained <= 0.5)
    text += "  " +
            wrapped(fmt::format("The first {} fit equally well: only their tests tell them apart.",
                                d.alike < kWords.size() ? kWords[d.alike] : fmt::format("{}", d.alike).c_str()),
                    kTextWidth - 2, 2) +
            '\n';
  if (!d.causes.empty()) text += "      weight  cause\n";
  std::size_t number_in_list = 0;
  std::vector<std::string> others = d.ruled_out;
  for (const DiagnosedCause& cause : d.causes) {
    if (number_in_list >= kMost || cause.weight < kListed) {
      others.push_back(cause.name);
      continue;
    }
    const std::string amount = cause.amount.empty() ? "" : fmt::format(" ({})", cause.amount);
    text += fmt::format("{:>4}. {:>6}  ", ++number_in_list, percent_text(cause.weight)) +
            wrapped(fmt::format("{}: {}{}", cause.name, cause.text, amount), kTextWidth, kCauseColumn) + '\n';
    text += indented(fmt::format("would give {}, 80 % range {} to {}; {}", speed_text(d, cause.speed.value),
                                 number(d, cause.speed.low), number(d, cause.speed.high), distance(cause)));
    text += indented("test: " + cause.test);
  }
  if (!others.empty())
    text += "  " + wrapped(fmt::format("Unlikely or impossible here: {}", fmt::join(others, ", ")), kTextWidth - 2, 4) + '\n';
  return text;
}

std::string diagnosis_csv(const Diagnosis& d) {
  std::string all = csv_line({"cause", "amount", "speed", "low", "high", "unit", "off", "in_range", "weight", "set", "test"});
  for (const DiagnosedCause& c : d.causes)
    all += csv_line({c.name, c.amount, fmt::format("{}", c.speed.value), fmt::format("{}", c.speed.low),
                     fmt::format("{}", c.speed.high), d.measured.unit, fmt::format("{}", c.off), c.in_range ? "true" : "false",
                     fmt::format("{}", c.weight), fmt::format("{}", fmt::join(c.set, " ")), c.test});
  return all;
}

}  // namespace tbdsim
