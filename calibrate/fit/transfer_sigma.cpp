#include "calibrate/fit/transfer_sigma.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "model/cost/transfer.hpp"
#include "model/cost/uncertainty.hpp"

namespace tbdsim::calibrate {
namespace {

constexpr int kBelievedBoards = 3;

/// Residuals of boards left out, each with the variance that is explained already.
class Residuals {
 public:
  explicit Residuals(double believed) : believed_(believed) {
    for (int i = 0; i < kBelievedBoards; ++i) rows_.push_back({believed * believed, 0.0});
  }
  void add(double own, double borrowed, double stated) {
    const double residual = std::log(own / borrowed);
    rows_.push_back({residual * residual, stated * stated - believed_ * believed_});
  }
  [[nodiscard]] int boards() const { return static_cast<int>(rows_.size()) - kBelievedBoards; }
  /// The most likely standard deviation beside what is explained; wider by as much as Student's distribution is at the ends of
  /// the central 80 %, since few boards tell it.
  [[nodiscard]] double sigma() const {
    constexpr double kLeast = 0.05, kMost = 0.5, kStep = 1.02;  // published boards of one chip and library differ by 0.05
    double best = INFINITY, most_likely = kLeast;
    double sigma = kLeast;
    while (sigma < kMost) {
      const double cost = unlikelihood(sigma * sigma);
      if (cost < best) {
        best = cost;
        most_likely = sigma;
      }
      sigma *= kStep;
    }
    return most_likely * (1.0 + (kCentral80 * kCentral80 + 1.0) / (4.0 * static_cast<double>(rows_.size())));
  }

 private:
  struct Row {
    double square, explained;
  };
  [[nodiscard]] double unlikelihood(double variance) const {
    double sum = 0.0;
    for (const Row& row : rows_) sum += std::log(variance + row.explained) + row.square / (variance + row.explained);
    return sum;
  }
  double believed_;
  std::vector<Row> rows_;
};

bool same_chip(const BoardParameters& a, const BoardParameters& b) {
  return std::tie(a.architecture, a.multiprocessors, a.fp32_lanes) == std::tie(b.architecture, b.multiprocessors, b.fp32_lanes);
}

bool same_family(const BoardParameters& a, const BoardParameters& b) {
  return a.parameters.family == b.parameters.family && a.parameters.precision == b.parameters.precision &&
         a.parameters.sustained_efficiency.has_value() == b.parameters.sustained_efficiency.has_value();
}

}  // namespace

void fit_transfers(const DeviceMap& devices, KernelConstants& constants) {
  const TransferSigma believed;
  std::map<std::string, std::pair<Residuals, Residuals>> families;
  for (const BoardParameters& board : constants.boards) {
    KernelConstants others;
    others.pipelined = constants.pipelined;
    for (const BoardParameters& other : constants.boards) {
      if (same_family(board, other) && !same_chip(board, other)) others.boards.push_back(other);
    }
    if (others.boards.empty()) continue;
    const FamilyParameters& own = board.parameters;
    const FamilyParameters borrowed = resolve_parameters(devices.at(board.device), own.family, own.precision, others).parameters;
    auto& [compute, bandwidth] =
        families
            .try_emplace(own.family + "-" + own.precision + (own.sustained_efficiency ? "-pipelined" : ""),
                         Residuals(believed.compute), Residuals(believed.bandwidth))
            .first->second;
    compute.add(own.compute_efficiency, borrowed.compute_efficiency, borrowed.compute_sigma);
    bandwidth.add(own.bandwidth_efficiency, borrowed.bandwidth_efficiency, borrowed.bandwidth_sigma);
  }
  for (const auto& [name, residuals] : families)
    constants.transfers[name] = {residuals.first.sigma(), residuals.second.sigma(), residuals.first.boards()};
}

}  // namespace tbdsim::calibrate
