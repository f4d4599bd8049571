#include "model/report/accuracy_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "model/report/text_table.hpp"
#include "model/validation/metric.hpp"

namespace tbdsim {
namespace {

constexpr std::size_t kWidth = 80, kGroupName = 40;

std::string rows_table(const Accuracy& accuracy) {
  TextTable table({{"row"},
                   {"measured", Align::right},
                   {"predicted", Align::right},
                   {"unit"},
                   {"error", Align::right},
                   {"of time", Align::right},
                   {""}});
  for (const RowAccuracy& row : accuracy.rows) {
    const bool done = row.skipped.empty();
    const bool inside = row.low <= row.measured && row.measured <= row.high;
    table.add({row.id, number_text(row.measured), done ? number_text(row.predicted) : "", row.unit,
               done ? signed_percent_text(row.error) : "skipped", done ? signed_percent_text(row.time_error) : "",
               row.fit           ? "fit"
               : done && !inside ? "out"
                                 : ""});
  }
  return table.text() +
         "(error: of the figure that was measured, predicted / measured - 1; of time: as\n"
         "the tables of groups count it, of a rate measured / predicted - 1; out: the\n"
         "measurement lies outside the 80 % range; fit: a constant was fitted to this row)\n\n";
}

void add_group(TextTable& table, const GroupAccuracy& group, const std::string& name) {
  const std::string count = std::to_string(group.n);
  if (group.n == 0) {
    table.add({name, count, "", "", "", "", "", "", ""});
    return;
  }
  const std::string baseline = group.baseline_mean_ape && group.n > 1 ? percent_text(*group.baseline_mean_ape) : "";
  table.add({name, count, percent_text(group.mean_ape), percent_text(group.median_ape), percent_text(group.p95_ape),
             signed_percent_text(group.bias), percent_text(group.coverage), percent_text(group.range_width), baseline});
}

std::string groups_table(const std::vector<GroupAccuracy>& groups, const GroupAccuracy* all) {
  TextTable table({{"group", Align::left, kGroupName},
                   {"n", Align::right},
                   {"mean", Align::right},
                   {"median", Align::right},
                   {"p95", Align::right},
                   {"bias", Align::right},
                   {"in", Align::right},
                   {"width", Align::right},
                   {"base", Align::right}});
  for (const GroupAccuracy& group : groups) add_group(table, group, group.group);
  if (all != nullptr) add_group(table, *all, "all rows");
  return table.text();
}

void add_efficiency(TextTable& table, const GroupAccuracy& group, const std::string& name) {
  const auto& e = *group.efficiency;
  const auto points = [](double value) { return fmt::format("{:.1f}", value); };
  std::vector<std::string> row{name,
                               std::to_string(e.n),
                               points(e.mean),
                               points(e.median),
                               points(e.worst),
                               fmt::format("{:+.1f}", e.bias),
                               points(e.baseline_mean)};
  for (double GroupAccuracy::EfficiencyPoints::Anchored::*figure :
       {&GroupAccuracy::EfficiencyPoints::Anchored::mean, &GroupAccuracy::EfficiencyPoints::Anchored::median,
        &GroupAccuracy::EfficiencyPoints::Anchored::worst})
    row.push_back(e.anchored ? points((*e.anchored).*figure) : "");
  table.add(std::move(row));
}

std::string efficiency_table(const std::vector<GroupAccuracy>& groups, const GroupAccuracy* all) {
  TextTable table({{"group", Align::left, kGroupName},
                   {"n", Align::right},
                   {"mean", Align::right},
                   {"median", Align::right},
                   {"worst", Align::right},
                   {"bias", Align::right},
                   {"base", Align::right},
                   {"one", Align::right},
                   {"median", Align::right},
                   {"worst", Align::right}});
  for (const GroupAccuracy& group : groups) {
    if (group.efficiency) add_efficiency(table, group, group.group);
  }
  if (all != nullptr && all->efficiency && groups.size() > 1) add_efficiency(table, *all, "all rows");
  return table.empty() ? ""
                       : "\nScaling efficiency, predicted - measured, percentage points; base: mean error\nof one constant "
                         "efficiency per group; one: mean where\nthe measured step on one GPU is taken as given\n" +
                             table.text();
}

/// What the rows of a table say about predictions like them.
std::string verdict(const Accuracy& accuracy) {
  // Fewer rows, or less of a bias, ask for nothing.
  constexpr int kFew = 5;
  constexpr double kPlain = 0.05;
  std::string text = fmt::format("{} of {} measurements lie in their 80 % range",
                                 std::lround(accuracy.all.coverage * accuracy.all.n), accuracy.all.n);
  int steps = 0;
  double bias = 0.0;
  for (const RowAccuracy& row : accuracy.rows) {
    const Metric* const metric = find_metric(row.metric);
    if (!row.skipped.empty() || row.fit || metric == nullptr || metric->flop_share == 0.0) continue;
    ++steps;
    bias += row.time_error;
  }
  if (steps >= kFew && std::abs(bias) > kPlain * steps)
    text +=
        fmt::format("; times are predicted {} too {} on average, which `tbdsim calibrate anchor` corrects by steps of your own",
                    percent_text(std::abs(bias) / steps), bias < 0.0 ? "short" : "long");
  return paragraph(text);
}

std::string skipped_list(const Accuracy& accuracy) {
  std::map<std::string, int> reasons;
  for (const RowAccuracy& row : accuracy.rows) {
    if (!row.skipped.empty()) ++reasons[row.skipped];
  }
  std::string text;
  for (const auto& [reason, count] : reasons) text += fmt::format("  {:>4}  {}\n", count, wrapped(reason, kWidth, 8));
  return text.empty() ? "" : "\nRows skipped\n" + text;
}

/// How many jobs ran although they are predicted not to fit, and with `rows` which. Empty where all fit.
std::string misfits(const Accuracy& accuracy, bool rows) {
  int count = 0;
  std::string ids;
  for (const RowAccuracy& row : accuracy.rows) {
    if (!row.skipped.empty() || row.fits_memory) continue;
    ++count;
    ids += fmt::format("  {}\n", row.id);
  }
  if (count == 0) return "";
  return fmt::format("\n{} ran although predicted not to fit into memory{}\n",
                     count == 1 ? "1 row" : fmt::format("{} rows", count), rows ? ":" : " (--rows names them)") +
         (rows ? ids : "");
}

}  // namespace

std::string accuracy_table(const Accuracy& accuracy, bool rows) {
  std::string text = rows ? rows_table(accuracy) : "";
  text +=
      "Validation: error of the time, of rates as well; in: measurements within the\n"
      "80 % range; width: half of that range; base: mean error of one constant\n"
      "utilisation per group\n";
  text += groups_table(accuracy.groups, &accuracy.all);
  if (accuracy.all.n > 0) {
    text += fmt::format("mean of groups {}, their bias {}\n", percent_text(accuracy.mean_of_groups),
                        signed_percent_text(accuracy.bias_of_groups));
    text += verdict(accuracy);
  }
  text += efficiency_table(accuracy.groups, &accuracy.all);
  if (!accuracy.fitted_groups.empty())
    text += "\nFit rows, which count for nothing\n" + groups_table(accuracy.fitted_groups, nullptr) +
            efficiency_table(accuracy.fitted_groups, nullptr);
  return text + skipped_list(accuracy) + misfits(accuracy, rows);
}

std::string accuracy_summary(const Accuracy& accuracy) {
  TextTable table({{"", Align::left, kGroupName},
                   {"groups", Align::right},
                   {"n", Align::right},
                   {"mean", Align::right},
                   {"median", Align::right},
                   {"bias", Align::right},
                   {"in", Align::right},
                   {"base", Align::right}});
  for (const TableAccuracy& t : accuracy.tables) {
    const GroupAccuracy& f = t.figures;
    const std::string name = f.group.empty() ? t.subject : "  " + f.group;
    table.add({name, std::to_string(t.groups), std::to_string(f.n), percent_text(f.mean_ape), percent_text(f.median_ape),
               signed_percent_text(f.bias), percent_text(f.coverage),
               f.baseline_mean_ape && f.n > t.groups ? percent_text(*f.baseline_mean_ape) : ""});
  }
  if (table.empty()) return "";
  return "Validation: error of the time, or of bytes; groups: of table and device; in:\nmeasurements within the 80 % range; "
         "base: "
         "mean error of one constant utilisation\nper group\n" +
         table.text();
}

}  // namespace tbdsim
