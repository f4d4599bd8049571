#include "model/validation/accuracy_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

namespace tbdsim {
namespace {

using Rows = std::vector<const AssessedRow*>;
using SingleRows = std::map<const AssessedRow*, const AssessedRow*>;  ///< of rows that have one, their 1-GPU row

double mean(const std::vector<double>& values) {
  return values.empty() ? 0.0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double mean_absolute(std::vector<double> values) {
  for (double& value : values) value = std::abs(value);
  return mean(values);
}

bool predicted(const AssessedRow& row) { return row.row.skipped.empty(); }

/// Rows that share a use and a group, in order of first appearance.
std::vector<std::vector<std::size_t>> by_group(const std::vector<AssessedRow>& rows) {
  std::map<std::pair<bool, std::string>, std::size_t> slots;
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto [slot, fresh] = slots.emplace(std::make_pair(rows[i].row.fit, rows[i].row.group), groups.size());
    if (fresh) groups.emplace_back();
    groups[slot->second].push_back(i);
  }
  return groups;
}

void fill_baseline(std::vector<AssessedRow>& rows, const std::vector<std::size_t>& group) {
  std::vector<double> fractions;
  for (const std::size_t i : group) {
    if (predicted(rows[i]) && rows[i].peak_fraction) fractions.push_back(*rows[i].peak_fraction);
  }
  if (fractions.empty()) return;
  const double best = best_constant_fraction(std::move(fractions));
  for (const std::size_t i : group) {
    if (predicted(rows[i]) && rows[i].peak_fraction) rows[i].row.baseline_error = *rows[i].peak_fraction / best - 1.0;
  }
}

/// Percent of linear scaling. The batch per GPU is that of the series, so a time says the same as a throughput.
double efficiency(MetricKind kind, double one, double many, int gpus) {
  return 100.0 * (kind == MetricKind::rate ? many / one / gpus : one / many);
}

struct EfficiencyPair {
  double predicted, measured;  ///< percent of linear scaling
  std::optional<double> anchored;
};

/// Efficiency of a row by itself, or against its 1-GPU row; nullopt if it has neither.
std::optional<EfficiencyPair> efficiency_of(const AssessedRow& row, const AssessedRow* one) {
  if (!predicted(row)) return std::nullopt;
  if (row.row.metric == "efficiency") return EfficiencyPair{100.0 * row.row.predicted, 100.0 * row.row.measured, {}};
  if (one == nullptr) return std::nullopt;
  EfficiencyPair pair{efficiency(row.kind, one->row.predicted, row.row.predicted, row.gpus),
                      efficiency(row.kind, one->row.measured, row.row.measured, row.gpus),
                      {}};
  if (row.anchored) pair.anchored = efficiency(row.kind, one->row.measured, *row.anchored, row.gpus);
  return pair;
}

double median_absolute(std::vector<double> values) {
  for (double& value : values) value = std::abs(value);
  return quantile(std::move(values), 0.5);
}

double largest_absolute(const std::vector<double>& values) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

std::optional<GroupAccuracy::EfficiencyPoints> efficiency_points(const Rows& rows, const SingleRows& single) {
  std::vector<double> points, measured, anchored;
  for (const AssessedRow* row : rows) {
    const auto one = single.find(row);
    const auto pair = efficiency_of(*row, one == single.end() ? nullptr : one->second);
    if (!pair) continue;
    points.push_back(pair->predicted - pair->measured);
    measured.push_back(pair->measured);
    if (pair->anchored) anchored.push_back(*pair->anchored - pair->measured);
  }
  if (points.empty()) return std::nullopt;
  GroupAccuracy::EfficiencyPoints result;
  result.n = static_cast<int>(points.size());
  result.mean = mean_absolute(points);
  result.median = median_absolute(points);
  result.bias = mean(points);
  result.worst = largest_absolute(points);
  if (!anchored.empty())
    result.anchored = {static_cast<int>(anchored.size()), mean_absolute(anchored), median_absolute(anchored),
                       largest_absolute(anchored), mean(anchored)};
  const double constant = quantile(measured, 0.5);
  for (double& value : measured) value -= constant;
  result.baseline_mean = mean_absolute(std::move(measured));
  return result;
}

GroupAccuracy figures(std::string name, const Rows& rows, const SingleRows& single) {
  GroupAccuracy result;
  result.group = std::move(name);
  std::vector<double> errors, sizes, widths, baseline;
  int covered = 0;
  for (const AssessedRow* assessed : rows) {
    const RowAccuracy& row = assessed->row;
    if (!predicted(*assessed)) {
      ++result.skipped;
      continue;
    }
    errors.push_back(time_error(*assessed));
    sizes.push_back(std::abs(errors.back()));
    widths.push_back((row.high - row.low) / (2.0 * row.predicted));
    covered += row.low <= row.measured && row.measured <= row.high ? 1 : 0;
    if (row.baseline_error) baseline.push_back(std::abs(*row.baseline_error));
  }
  result.n = static_cast<int>(errors.size());
  if (errors.empty()) return result;
  result.mean_ape = mean(sizes);
  result.median_ape = quantile(sizes, 0.5);
  result.p95_ape = quantile(sizes, 0.95);
  result.bias = mean(errors);
  result.coverage = static_cast<double>(covered) / result.n;
  result.range_width = quantile(widths, 0.5);
  if (!baseline.empty()) result.baseline_mean_ape = mean(baseline);
  result.efficiency = efficiency_points(rows, single);
  return result;
}

std::string_view subject_of(const AssessedRow& row) {
  if (row.row.metric == "bus_bandwidth") return "collectives";
  if (row.kind == MetricKind::size) return "memory";
  if (row.by_layers) return "divided networks";
  if (row.gpus > 1) return "several GPUs";
  return row.fp32 ? "one GPU, fp32" : "one GPU, other precisions";
}

TableAccuracy table_figures(std::string_view subject, std::string name, const Rows& rows, const SingleRows& single) {
  std::set<std::string_view> groups;
  for (const AssessedRow* row : rows) groups.insert(row->row.group);
  return {std::string(subject), static_cast<int>(groups.size()), figures(std::move(name), rows, single)};
}

/// Figures by subject and table, in order of first appearance. Rows that could not be predicted are in no table.
std::vector<TableAccuracy> tables_of(const Rows& validation, const SingleRows& single) {
  std::vector<TableAccuracy> tables;
  for (const std::string_view subject :
       {"one GPU, fp32", "one GPU, other precisions", "several GPUs", "divided networks", "memory", "collectives"}) {
    Rows all;
    std::vector<std::string> names;
    for (const AssessedRow* row : validation) {
      if (!predicted(*row) || subject_of(*row) != subject) continue;
      all.push_back(row);
      if (std::find(names.begin(), names.end(), row->row.table) == names.end()) names.push_back(row->row.table);
    }
    if (all.empty()) continue;
    tables.push_back(table_figures(subject, "", all, single));
    for (const std::string& name : names) {
      Rows members;
      std::copy_if(all.begin(), all.end(), std::back_inserter(members),
                   [&](const AssessedRow* row) { return row->row.table == name; });
      tables.push_back(table_figures(subject, name, members, single));
    }
  }
  return tables;
}

void fill_mean_of_groups(Accuracy& accuracy) {
  std::vector<double> errors, biases;
  for (const GroupAccuracy& group : accuracy.groups) {
    if (group.n == 0) continue;
    errors.push_back(group.mean_ape);
    biases.push_back(group.bias);
  }
  accuracy.mean_of_groups = mean(errors);
  accuracy.bias_of_groups = mean(biases);
}

}  // namespace

double time_error(const AssessedRow& row) {
  const double over = row.kind == MetricKind::rate ? row.row.measured / row.row.predicted : row.row.predicted / row.row.measured;
  return over - 1.0;
}

double quantile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  const double position = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
}

double best_constant_fraction(std::vector<double> peak_fractions) {
  std::sort(peak_fractions.begin(), peak_fractions.end(), std::greater<>());  // ascending in 1/f
  const double half = std::accumulate(peak_fractions.begin(), peak_fractions.end(), 0.0) / 2.0;
  double weight = 0.0;
  for (const double fraction : peak_fractions) {
    weight += fraction;
    if (weight >= half) return fraction;
  }
  return peak_fractions.back();  // rounding left the sum a hair below its half
}

std::vector<std::optional<std::size_t>> single_gpu_rows(const std::vector<AssessedRow>& rows) {
  std::map<std::string, std::vector<std::size_t>> ones;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (predicted(rows[i]) && !rows[i].series.empty() && rows[i].gpus == 1) ones[rows[i].series].push_back(i);
  std::vector<std::optional<std::size_t>> result(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto found = ones.find(rows[i].series);
    if (found == ones.end() || !predicted(rows[i]) || rows[i].gpus < 2) continue;
    const std::vector<std::size_t>& candidates = found->second;
    const auto same = std::find_if(candidates.begin(), candidates.end(),
                                   [&](std::size_t one) { return rows[one].hardware == rows[i].hardware; });
    result[i] = same == candidates.end() ? candidates.front() : *same;
  }
  return result;
}

Accuracy summarize(std::vector<AssessedRow> rows) {
  const std::vector<std::vector<std::size_t>> groups = by_group(rows);
  for (const std::vector<std::size_t>& group : groups) fill_baseline(rows, group);
  const auto singles = single_gpu_rows(rows);
  SingleRows single;
  Rows validation;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (singles[i]) single.emplace(&rows[i], &rows[*singles[i]]);
    if (!rows[i].row.fit) validation.push_back(&rows[i]);
  }
  Accuracy accuracy;
  for (const std::vector<std::size_t>& group : groups) {
    Rows members;
    for (const std::size_t i : group) members.push_back(&rows[i]);
    const RowAccuracy& first = rows[group.front()].row;
    (first.fit ? accuracy.fitted_groups : accuracy.groups).push_back(figures(first.group, members, single));
  }
  accuracy.tables = tables_of(validation, single);
  accuracy.all = figures("all", validation, single);
  fill_mean_of_groups(accuracy);
  for (AssessedRow& row : rows) {
    if (predicted(row)) row.row.time_error = time_error(row);
    accuracy.rows.push_back(std::move(row.row));
  }
  return accuracy;
}

}  // namespace tbdsim
