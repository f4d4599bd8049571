#include "calibrate/cli/check_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

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

std::string group_lines(const std::vector<AssessedGroup>& groups) {
  std::string text = fmt::format("  {:<48} {:>6} {:>7} {:>7} {:>8} {:>9} {:>12} {:>10}\n", "", "n", "mean %", "median", "signed",
                                 "in 80 %", "ideal roof.", "fitted r.");
  for (const AssessedGroup& g : groups) {
    std::string name;
    for (const std::string* word : {&g.set, &g.device, &g.family, &g.precision, &g.pass, &g.size})
      name += word->empty() ? "" : (name.empty() ? "" : " ") + *word;
    text += fmt::format("  {:<48} {:>6} {:>7.1f} {:>7.1f} {:>+8.1f} {:>9.0f} {:>12.1f} {:>10.1f}\n", name, g.error.n,
                        100 * g.error.mean, 100 * g.error.median, 100 * g.error.signed_mean, 100 * g.coverage, 100 * g.ideal_mean,
                        100 * g.roofline_mean);
  }
  return text;
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

std::string check_table(const std::vector<CheckPart>& parts, const std::vector<std::string>& sets) {
  std::string text;
  for (const CheckPart& part : parts) {
    text += fmt::format("{}\n{}", part.name, group_lines(group_rows(part.rows, kMain, sets)));
    text += "by size\n" + group_lines(group_rows(part.rows, kSizes, sets));
    text += "by device\n" + group_lines(group_rows(part.rows, kDevices, sets));
    text += "largest errors\n";
    for (const AssessedRow& row : worst_rows(part.rows, kWorst)) {
      text += fmt::format("  row {:<6} {:<18} {:<12} {:<17} {:>10.1f} us, predicted {:>10.1f} us  {}\n", row.sample->line,
                          row.sample->device, row.family, row.sample->pass, row.measured.base() * 1e6, row.predicted.base() * 1e6,
                          shape_text(*row.sample));
    }
    text += "\n";
  }
  return text;
}

std::string check_csv(const std::vector<CheckPart>& parts, const std::vector<std::string>& sets) {
  std::string text = "part,set,line,device,family,op,precision,pass,shape,measured_s,predicted_s,sigma\n";
  for (const CheckPart& part : parts) {
    for (const AssessedRow& row : part.rows)
      text += fmt::format("{},{},{},{},{},{},{},{},{},{:.6g},{:.6g},{:.3g}\n", part.name, sets[row.set], row.sample->line,
                          row.sample->device, row.family, row.sample->op, row.precision, row.sample->pass,
                          shape_text(*row.sample), row.measured.base(), row.predicted.base(), row.sigma);
  }
  return text;
}

std::string check_json(const std::vector<CheckPart>& parts, const std::vector<std::string>& sets) {
  Json all = Json::array();
  for (const CheckPart& part : parts) {
    all.push_back({{"name", part.name},
                   {"groups", group_json(group_rows(part.rows, kMain, sets))},
                   {"sizes", group_json(group_rows(part.rows, kSizes, sets))},
                   {"devices", group_json(group_rows(part.rows, kDevices, sets))},
                   {"worst", worst_json(part.rows)}});
  }
  const Json report{{"schema", "tbdsim.calibrate.check/1"},
                    {"tool", {{"name", "tbdsim"}, {"version", TBDSIM_VERSION}}},
                    {"level", 0.8},
                    {"parts", all}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tbdsim::calibrate
