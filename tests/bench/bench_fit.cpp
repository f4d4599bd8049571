// Goals set on: AMD EPYC (family 26), 2 cores of a shared virtual machine, GCC 12, Release.
#include <fmt/core.h>

#include <string>
#include <vector>

#include "calibrate/fit/board_fit.hpp"
#include "calibrate/fit/kernel_fit.hpp"
#include "model/hardware/cluster.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/step_case.hpp"

namespace tbdsim::bench {

namespace {

constexpr int kRuns = 3;
constexpr std::size_t kRows = 20'000;

/// The first `kRows` committed samples of convolutions, products and elementwise operators, and their devices.
std::vector<calibrate::Sample> committed_samples() {
  std::vector<calibrate::Sample> samples;
  for (const char* name : {"deepbench_conv", "neusight_conv", "deepbench_gemm", "neusight_linear", "neusight_bmm"}) {
    const auto file = calibrate::read_samples(fmt::format("{}/calibrate/samples/{}.csv", TBDSIM_SOURCE_DIR, name));
    samples.insert(samples.end(), file->begin(), file->end());
  }
  samples.resize(kRows);
  return samples;
}

}  // namespace

/// Fits of kernel parameters.
void bench_fit(Report& report) {
  const std::string shared = fmt::format("fit shared constants and all boards, {} samples", kRows);
  const std::string board = "fit one board, 1,513 single calls of products";
  if (!report.wanted(shared) && !report.wanted(board)) return;
  const std::vector<calibrate::Sample> samples = committed_samples();
  calibrate::DeviceMap devices;
  std::vector<calibrate::Sample> own;
  for (const calibrate::Sample& sample : samples) {
    if (devices.count(sample.device) == 0) devices[sample.device] = *load_device({TBDSIM_SOURCE_DIR}, sample.device);
    if (sample.device == "v100-pcie-32gb" && sample.family == "gemm") own.push_back(sample);
  }
  report.time(shared, Seconds(10.0), kRuns, [&] { keep(calibrate::fit_kernels(samples, devices)); });
  report.time(board, Seconds(2.0), kRuns,
              [&] { keep(calibrate::fit_board(own, devices.at("v100-pcie-32gb"), kernel_constants(), "")); });
}

}  // namespace tbdsim::bench
