#pragma once
#include <optional>
#include <string>
#include <vector>

namespace tbdsim {

/// Prediction against one measured run. `error` = predicted / measured - 1 of the row's own metric.
struct RowAccuracy {
  std::string id, group, metric, unit;
  std::string table;  ///< name of the file that the row is from, without its ending
  bool fit = false;
  bool fits_memory = true;  ///< the job that ran is predicted to fit the memory of its GPUs and hosts
  std::string skipped;      ///< reason; empty: predicted
  double predicted = 0, low = 0, high = 0, measured = 0, error = 0;
  double time_error = 0;                 ///< as the figures of groups count it: of a rate measured / predicted - 1
  std::optional<double> baseline_error;  ///< of the fitted constant-utilisation baseline, over time
};

/// Figures of one group. Errors are over time: a throughput row enters as measured/predicted - 1.
struct GroupAccuracy {
  std::string group;
  int n = 0, skipped = 0;
  double mean_ape = 0, median_ape = 0, p95_ape = 0, bias = 0;
  double coverage = 0;     ///< share of rows whose measurement lies in [low, high]
  double range_width = 0;  ///< median of (high - low) / (2 predicted)
  std::optional<double> baseline_mean_ape;
  struct EfficiencyPoints {
    int n = 0;
    double mean = 0, median = 0, worst = 0, bias = 0;
    double baseline_mean = 0;  ///< of the one constant efficiency that fits the group's points best
    /// The same points with the step on one GPU as measured: what the exchange alone gets wrong.
    struct Anchored {
      int n = 0;
      double mean = 0, median = 0, worst = 0, bias = 0;
    };
    std::optional<Anchored> anchored;
  };
  std::optional<EfficiencyPoints> efficiency;  ///< of series with a 1-GPU row
};

/// All rows of one published table that are about one subject, whatever the device.
struct TableAccuracy {
  std::string
      subject;     ///< "one GPU, fp32", "one GPU, other precisions", "several GPUs", "divided networks", "memory", "collectives"
  int groups = 0;  ///< of table and device
  GroupAccuracy figures;  ///< named after the table; of a subject as a whole: after nothing
};

struct Accuracy {
  std::vector<RowAccuracy> rows;             ///< table order
  std::vector<GroupAccuracy> groups;         ///< validation rows only, in order of first appearance
  std::vector<GroupAccuracy> fitted_groups;  ///< fit rows, apart
  std::vector<TableAccuracy> tables;         ///< by subject: all of it, then its tables; validation rows only
  GroupAccuracy all;                         ///< every validation row
  double mean_of_groups = 0;                 ///< mean of the groups' mean_ape
  double bias_of_groups = 0;
};

}  // namespace tbdsim
