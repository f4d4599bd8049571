// Accuracy of recurrent layers on the published kernel samples: forward and backward summed per layer, in sample with three
// parameters a board, and on a board that the fit has not seen. Bars are what a reader may rely on, not targets of tuning.
#include "calibrate/fit/recurrent_family.hpp"

#include <cmath>
#include <map>

#include "calibrate/fit/kernel_fit.hpp"
#include "model/cost/board_rates.hpp"
#include "model/cost/transfer.hpp"
#include "model/hardware/cluster.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;

namespace {

const std::vector<Sample>& samples() {
  static const std::vector<Sample> kSamples = [] {
    std::vector<Sample> nvidia;
    const auto all = read_samples(TBDSIM_SOURCE_DIR "/calibrate/samples/deepbench_rnn.csv").value();
    for (const Sample& s : all)
      if (s.precision == "fp32" && s.library.find("cuda") != std::string::npos) nvidia.push_back(s);
    return nvidia;
  }();
  return kSamples;
}

const DeviceMap& devices() {
  static const DeviceMap kDevices = [] {
    DeviceMap all;
    for (const Sample& s : samples())
      if (all.count(s.device) == 0) all[s.device] = load_device({TBDSIM_SOURCE_DIR}, s.device).value();
    return all;
  }();
  return kDevices;
}

/// Mean error of the sums over all passes of each layer that `board` ran, with what `constants` say of it.
double mean_error(const std::string& board, const KernelConstants& constants) {
  const Device& device = devices().at(board);
  const KernelRates rates =
      kernel_rates(device, device.peak.fp32, resolve_parameters(device, "recurrent", "fp32", constants).parameters, "fp32");
  std::map<std::string, std::pair<double, double>> layers;  // predicted and measured time
  for (const Sample& s : samples()) {
    if (s.device != board) continue;
    const Observation row = recurrent_observation(s).value();
    std::string key = s.kind;
    for (const auto& [name, value] : s.shape) key += " " + std::to_string(value);
    auto& [predicted, measured] = layers[key];
    predicted += recurrent_prediction(row, recurrent_form(row, constants, device), rates).base();
    measured += s.time.base();
  }
  double sum = 0.0;
  for (const auto& [key, times] : layers) sum += std::abs(times.first / times.second - 1.0);
  return sum / static_cast<double>(layers.size());
}

KernelConstants fitted_without(const std::string& board) {
  std::vector<Sample> rest;
  for (const Sample& s : samples())
    if (s.device != board) rest.push_back(s);
  return fit_kernels(rest, devices()).value().constants;
}

}  // namespace

TEST_CASE("recurrent layers of seven boards: mean error of forward and backward, in sample") {
  const KernelConstants constants = fitted_without("none");
  double sum = 0.0;
  for (const auto& [board, device] : devices()) {
    const double error = mean_error(board, constants);
    INFO(board << " " << error);
    CHECK(error < 0.17);
    sum += error;
  }
  CAPTURE(sum / static_cast<double>(devices().size()));
  CHECK(devices().size() == 7);
  CHECK(sum / static_cast<double>(devices().size()) <= 0.135);
}

TEST_CASE("recurrent layers of a board left out, others of its library generation known") {
  double sum = 0.0;
  int boards = 0;
  for (const auto& [board, device] : devices()) {
    if (board == "v100-sxm2-16gb") continue;  // the only board of its library generation
    const double error = mean_error(board, fitted_without(board));
    INFO(board << " " << error);
    CHECK(error < 0.2);
    sum += error;
    ++boards;
  }
  CAPTURE(sum / boards);
  CHECK(sum / boards <= 0.15);
}
