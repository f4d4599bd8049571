#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/fit/assessment.hpp"
#include "model/stack/nccl.hpp"

namespace tbdsim::calibrate {

/// Predicts samples of collectives: groups of GPUs of one node behind a switch, which a device's own description tells.
class CollectiveForms {
 public:
  /// `catalogue_root`: the folder that holds hardware/nccl.toml.
  explicit CollectiveForms(std::string catalogue_root) : root_(std::move(catalogue_root)) {}

  /// Why no form describes the sample; empty where one does.
  [[nodiscard]] std::string undescribed(const Sample& sample, const Device& device);
  /// Time of the sample where the board's latencies are `pace` times those of its architecture. Expects a sample that is
  /// described. Single calls start as one process starts them on all GPUs.
  [[nodiscard]] Seconds time(const Sample& sample, const Device& device, double pace);
  /// Standard deviation of ln(measured / predicted), from published sweeps.
  [[nodiscard]] double sigma(const Sample& sample, const Device& device);

 private:
  const Result<NcclLibrary>& library(const Sample& sample, const Device& device);

  std::string root_;
  std::map<std::pair<std::string, std::string>, Result<NcclLibrary>> known_;  // release, architecture
};

/// The pace of a board from its own samples.
struct PaceFit {
  double pace = 1, sigma = 0;  ///< standard deviation of its logarithm
  int samples = 0;
  ErrorSummary before, after;
};
/// Fits the pace, with 1 as a prior of standard deviation 0.3: boards of one architecture have differed by less. Nothing where
/// no sample is described. Samples that no board can have taken are passed over, and `missing` says so.
[[nodiscard]] std::optional<PaceFit> fit_pace(const std::vector<Sample>& samples, const Device& device, CollectiveForms& forms,
                                              std::vector<std::string>& missing);

/// Predictions of the described samples, by each device's own pace. Baselines: the bytes of the busiest port at its line
/// rate, and start + bytes / rate fitted to the rows of one device, operation and number of ranks.
[[nodiscard]] std::vector<AssessedRow> assess_collectives(const std::vector<Sample>& samples, const DeviceMap& devices,
                                                          CollectiveForms& forms, std::size_t set = 0);

}  // namespace tbdsim::calibrate
