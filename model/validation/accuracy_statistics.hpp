#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/validation/accuracy.hpp"
#include "model/validation/metric.hpp"

namespace tbdsim {

/// A row with what its group's figures need besides.
struct AssessedRow {
  RowAccuracy row;  ///< `baseline_error` and `time_error` are filled in by `summarize`
  MetricKind kind = MetricKind::time;
  /// Time at 100 % of peak FLOP/s over the measured time: the row's own fraction of peak. Absent: no baseline.
  std::optional<double> peak_fraction;
  std::string series;    ///< rows that differ only in GPUs, machine and exchange; empty: in no series
  std::string hardware;  ///< as the row says; of several 1-GPU rows of a series, the same machine's is taken
  int gpus = 1;
  bool fp32 = true;
  bool by_layers = false;          ///< the network or its state is divided over GPUs
  std::optional<double> anchored;  ///< `predicted` with one GPU's step as measured; see anchored_efficiency.hpp
};

/// For each row of several GPUs in a series the index of the 1-GPU row that it is compared with: of the same machine if there
/// is one, else the first. None for other rows.
[[nodiscard]] std::vector<std::optional<std::size_t>> single_gpu_rows(const std::vector<AssessedRow>& rows);

/// Predicted against measured time: predicted/measured - 1, and measured/predicted - 1 for a rate.
[[nodiscard]] double time_error(const AssessedRow& row);

/// Value at `fraction` (0..1) of the sorted `values`, linear between neighbours (position fraction x (n - 1)).
/// Expects values not to be empty.
[[nodiscard]] double quantile(std::vector<double> values, double fraction);

/// The fraction f of peak that minimises the mean of |peak_fraction / f - 1|; exact. With u = 1/f the sum is
/// convex and linear between the points 1/peak_fraction, so one of these, their median weighted by peak_fraction, is
/// the optimum (ties: the largest f). Expects fractions > 0 and not empty.
[[nodiscard]] double best_constant_fraction(std::vector<double> peak_fractions);

/// The figures of accuracy.hpp from rows already predicted. Rows keep their order.
///
/// Efficiency of a row on N > 1 GPUs: its throughput (global batch over step time, that is) over N times that of the
/// 1-GPU row of its series, in percent; the points are predicted - measured. A skipped row gives no points. A row
/// whose metric is `efficiency` states it itself. Baseline: the median of the measured efficiencies.
[[nodiscard]] Accuracy summarize(std::vector<AssessedRow> rows);

}  // namespace tbdsim
