#include "calibrate/cli/check_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "model/support/version.hpp"

namespace tbdsim::calibrate {
namespace {

using Json = nlohmann::ordered_json;

constexpr GroupBy kMain{true, false, true, false}, kSizes{false, false, false, true}, kDevices{true, true, false, false};
constexpr std::size_t kWorst = 10;

std::string shape_text(const Sample& sample) {
  std::string text;
  for (const auto& [key, value] : sample.shape) text += fmt::format("{}{}={}", text.empty() ? "" : ";", key, value);
  return text;
}

/// Lines of at most 80 columns: a name too long for its column has a line of its own.
std::string group_lines(const std::vector<AssessedGroup>& groups) {
  constexpr std::size_t kName = 26;
  std::string text = fmt::format("  {:<{}} {:>5} {:>6} {:>6} {:>6} {:>6} {:>6} {:>7}\n", "mean errors in %", kName, "n", "mean",
                                 "median", "signed", "in 80%", "ideal", "fitted");
  text += fmt::format("  {:<{}} {:>5} {:>6} {:>6} {:>6} {:>6} {:>14}\n", "", kName, "", "", "", "", "", "roofline");
  for (const AssessedGroup& g : groups) {
    std::string name;
    for (const std::string* word : {&g.set, &g.device, &g.family, &g.precision, &g.pass, &g.size})
      name += word->empty() ? "" : (name.empty() ? "" : " ") + *word;
    if (name.size() > kName) {
      text += fmt::format("  {}\n", name);
      name.clear();
    }
    text += fmt::format("  {:<{}} {:>5} {:>6.1f} {:>6.1f} {:>+6.1f} {:>6.0f} {:>6.1f} {:>7.1f}\n", name, kName, g.error.n,
                        100 * g.error.mean, 100 * g.error.median, 100 * g.error.signed_mean, 100 * g.coverage, 100 * g.ideal_mean,
                        100 * g.roofline_mean);
  }
  return text;
}

/// Groups by size, small ones first.
std::vector<AssessedGroup> size_groups(const std::vector<AssessedRow>& rows, const std::vector<std::string>& sets) {
  std::vector<AssessedGroup> groups = group_rows(rows, kSizes, sets);
  std::stable_sort(groups.begin(), groups.end(), [](const AssessedGroup& a, const AssessedGroup& b) {
    return std::forward_as_tuple(a.family, a.precision, a.size.size(), a.size) <
           std::forward_as_tuple(b.family, b.precision, b.size.size(), b.size);
  });
  return groups;
}

Json group_json(const std::vector<AssessedGroup>& groups) {
  Json all = Json::array();
  for (const AssessedGroup& g : groups) {
    Json row;
    const std::pair<const char*, const std::string*> words[] = {{"set", &g.set},       {"device", &g.device},
                                                                {"family", &g.family}, {"precision", &g.precision},
                                                                {"pass", &g.pass},     {"size", &g.size}};
    for (const auto& [key, word] : words) {
      if (!word->empty()) row[key] = *word;
    }
    row["n"] = g.error.n;
    row["mean_ape"] = g.error.mean;
    row["median_ape"] = g.error.median;
    row["bias"] = g.error.signed_mean;
    row["coverage"] = g.coverage;
    row["ideal_roofline_mean_ape"] = g.ideal_mean;
    row["fitted_roofline_mean_ape"] = g.roofline_mean;
    all.push_back(std::move(row));
  }
  return all;
}

Json worst_json(const std::vector<AssessedRow>& rows) {
  Json all = Json::array();
  for (const AssessedRow& row : worst_rows(rows, kWorst)) {
    all.push_back({{"line", row.sample->line},
                   {"device", row.sample->device},
                   {"family", row.family},
                   {"pass", row.sample->pass},
                   {"shape", shape_text(*row.sample)},
                   {"measured_s", row.measured.base()},
                   {"predicted_s", row.predicted.base()},
                   {"error", row.predicted / row.measured - 1.0}});
  }
  return all;
}

}  // namespace

std::string check_table(const std::vector<CheckPart>& parts, const std::vector<std::string>& sets,
                        const std::vector<UnusedSamples>& unused) {
  std::string text;
  for (const CheckPart& part : parts) {
    text += fmt::format("{}\n{}", part.name, group_lines(group_rows(part.rows, kMain, sets)));
    for (const std::string& refused : part.refused) text += fmt::format("  fit refused: {}\n", refused);
    text += "by size\n" + group_lines(size_groups(part.rows, sets));
    text += "by device\n" + group_lines(group_rows(part.rows, kDevices, sets));
    text += "largest errors\n";
    for (const AssessedRow& row : worst_rows(part.rows, kWorst)) {
      text += fmt::format("  row {} {} {} {}: {:.1f} us, predicted {:.1f} us\n      {}\n", row.sample->line, row.sample->device,
                          row.family, row.sample->pass, row.measured.base() * 1e6, row.predicted.base() * 1e6,
                          shape_text(*row.sample));
    }
    text += "\n";
  }
  for (const UnusedSamples& u : unused) text += fmt::format("not used: {}\n", to_text(u));
  return text;
}

std::string check_csv(const std::vector<CheckPart>& parts, const std::vector<std::string>& sets,
                      const std::vector<UnusedSamples>&) {
  std::string text = "part,set,line,device,family,op,precision,pass,shape,measured_s,predicted_s,sigma\n";
  for (const CheckPart& part : parts) {
    for (const AssessedRow& row : part.rows)
      text += fmt::format("{},{},{},{},{},{},{},{},{},{:.6g},{:.6g},{:.3g}\n", part.name, sets[row.set], row.sample->line,
                          row.sample->device, row.family, row.sample->op, row.precision, row.sample->pass,
                          shape_text(*row.sample), row.measured.base(), row.predicted.base(), row.sigma);
  }
  return text;
}

std::string check_json(const std::vector<CheckPart>& parts, const std::vector<std::string>& sets,
                       const std::vector<UnusedSamples>& unused) {
  Json all = Json::array();
  for (const CheckPart& part : parts) {
    all.push_back({{"name", part.name},
                   {"groups", group_json(group_rows(part.rows, kMain, sets))},
                   {"sizes", group_json(size_groups(part.rows, sets))},
                   {"devices", group_json(group_rows(part.rows, kDevices, sets))},
                   {"worst", worst_json(part.rows)},
                   {"refused", part.refused}});
  }
  Json not_used = Json::array();
  for (const UnusedSamples& u : unused)
    not_used.push_back(
        {{"family", u.family}, {"samples", u.samples}, {"row", u.line}, {"reason", u.reason}, {"measured", u.told}});
  const Json report{{"schema", "tbdsim.calibrate.check/1"},
                    {"tool", {{"name", "tbdsim"}, {"version", version()}}},
                    {"level", 0.8},
                    {"parts", all},
                    {"not_used", not_used}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tbdsim::calibrate
