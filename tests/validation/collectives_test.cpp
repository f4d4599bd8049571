// Published sweeps of all-reduce: how far the model is off, and that it does not get worse.
#include <algorithm>
#include <cmath>
#include <map>

#include "model/validation/assess.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

struct SweepErrors {
  double all = 0, octaves = 0, worst = 0;  ///< shares: mean over sizes, over octaves of size, largest; means over groups
};

Accuracy assessed(const char* table) {
  const auto runs = read_measured_table(std::string(TBDSIM_SOURCE_DIR) + "/scenarios/collectives/" + table);
  REQUIRE(runs);
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  return assess(*session, *runs);
}

double time_error(const RowAccuracy& row) { return std::abs(row.measured / row.predicted - 1.0); }

/// Over every size, fit rows too, as the prediction of a whole sweep would be read.
SweepErrors sweep_errors(const Accuracy& accuracy) {
  std::map<std::string, std::map<int, std::vector<double>>> groups;
  SweepErrors errors;
  for (const RowAccuracy& row : accuracy.rows) {
    INFO(row.id);
    REQUIRE(row.skipped.empty());
    const int octave = static_cast<int>(std::log2(std::stod(row.id.substr(row.id.rfind('-') + 1))));
    groups[row.group][std::min(octave, 9)].push_back(time_error(row));
    errors.worst = std::max(errors.worst, time_error(row));
  }
  const auto n = static_cast<double>(groups.size());
  for (const auto& [group, octaves] : groups) {
    double sum = 0.0, count = 0.0, means = 0.0;
    for (const auto& [octave, values] : octaves) {
      double here = 0.0;
      for (const double value : values) here += value;
      sum += here;
      count += static_cast<double>(values.size());
      means += here / static_cast<double>(values.size());
    }
    errors.all += sum / count / n;
    errors.octaves += means / static_cast<double>(octaves.size()) / n;
  }
  return errors;
}

}  // namespace

TEST_CASE("V100 cube mesh, 2 to 8 GPUs, 1 MiB to 1 GiB: one link graph, constants from 26 sizes on 8 GPUs") {
  const SweepErrors errors = sweep_errors(assessed("vtrain_v100.csv"));
  CHECK(errors.all <= 0.020);
  CHECK(errors.octaves <= 0.030);
  CHECK(errors.worst <= 0.15);
}

TEST_CASE("A100 behind NVSwitch, 2 to 8 GPUs: constants from every second size on 2 and 8 GPUs") {
  const SweepErrors errors = sweep_errors(assessed("vtrain_a100.csv"));
  CHECK(errors.all <= 0.017);
  CHECK(errors.octaves <= 0.036);
  CHECK(errors.worst <= 0.22);
}

TEST_CASE("other machines: mean over machines, and for large messages") {
  struct Table {
    const char* name;
    double mean, large;
  };
  // Large messages of single boxes were 3.4 % off while sweeps of H200 and B200 set their own plateaus; they set nothing now.
  for (const Table& table : {Table{"single_boxes.csv", 0.09, 0.045}, Table{"multi_node.csv", 0.12, 0.10}}) {
    INFO(table.name);
    const Accuracy accuracy = assessed(table.name);
    double mean = 0.0, large = 0.0, with_large = 0.0, groups = 0.0;
    for (const auto* list : {&accuracy.groups, &accuracy.fitted_groups}) {
      for (const GroupAccuracy& group : *list) {
        mean += group.mean_ape;
        groups += 1.0;
        double sum = 0.0, n = 0.0;
        for (const RowAccuracy& row : accuracy.rows) {
          const bool is_large = std::stod(row.id.substr(row.id.rfind('-') + 1)) >= 256.0 * 1048576.0;
          if (row.group != group.group || !is_large) continue;
          sum += time_error(row);
          n += 1.0;
        }
        if (n > 0.0) large += sum / n;
        if (n > 0.0) with_large += 1.0;
      }
    }
    CHECK(mean / groups <= table.mean);
    CHECK(large / with_large <= table.large);
  }
}
