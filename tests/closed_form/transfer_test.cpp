// The worked example "Transfer between boards" of model/cost/README.md.
#include "model/cost/transfer.hpp"
#include "model/cost/board_rates.hpp"

#include <cmath>

#include "model/cost/kernel_model.hpp"
#include "model/cost/uncertainty.hpp"
#include "tests/architectures.hpp"
#include "tests/catch.hpp"
#include "tests/closed_form/cost_example.hpp"

using namespace tbdsim;
using example::documented;

TEST_CASE("worked example: a Kepler board between two Maxwell boards that weigh the same") {
  Device device;
  device.id = "kepler";
  device.name = "Tesla K";
  name_architecture(device, "Kepler");
  device.fp32_lanes = 192;
  device.peak.fp32 = FlopPerSecond(4e12);
  device.power_limit = Watts(200.0);
  device.memory_kind = "GDDR5";
  KernelConstants constants;
  for (const auto& [id, share, launch] : {std::tuple{"maxwell-a", 0.9, 4e-6}, std::tuple{"maxwell-b", 0.72, 9e-6}}) {
    BoardParameters board;
    board.device = id;
    name_architecture(board, "Maxwell");
    board.memory_kind = "GDDR5";
    board.limits.power_limit = Watts(250.0);
    board.limits.peak_fp32 = FlopPerSecond(5e12);
    board.parameters = {"gemm", "fp32", share, 0.8, Seconds(launch), 0.1, 50, "fitted: an example"};
    constants.boards.push_back(board);
  }
  const ResolvedParameters resolved = resolve_parameters(device, "gemm", "fp32", constants);
  CHECK_THAT(resolved.parameters.compute_efficiency, WithinRel(std::sqrt(0.9 * 0.72) * 128 / 192, 1e-12));
  CHECK_THAT(resolved.parameters.bandwidth_efficiency, WithinRel(0.8, 1e-12));
  CHECK_THAT(resolved.parameters.launch.base(), WithinRel(6e-6, 1e-12));
  CHECK(resolved.transferred);
  CHECK(resolved.distance == 2.0);
  CHECK(resolved.parameters.source == "transferred: from maxwell-a, maxwell-b");
  CHECK(documented(fmt::format("x 128/192 = {:.6f}", resolved.parameters.compute_efficiency)));
  CHECK(documented(fmt::format("sqrt(4 x 9) = {:g} us", std::round(resolved.parameters.launch.base() * 1e9) / 1e3)));
}

TEST_CASE("worked example: what 75 W leave a Pascal board of its listed clock") {
  KernelConstants constants;
  BoardParameters board;
  board.device = "lender";
  name_architecture(board, "Pascal");
  board.limits.power_limit = Watts(250.0);
  board.limits.peak_fp32 = FlopPerSecond(10e12);
  board.parameters = {"gemm", "fp32", 0.9, 0.8, Seconds(5e-6), 0.1, 50, "fitted: an example"};
  constants.boards = {board};
  Device device;
  device.id = "small";
  name_architecture(device, "Pascal");
  device.peak.fp32 = FlopPerSecond(6e12);
  device.power_limit = Watts(75.0);
  const double share = resolve_parameters(device, "gemm", "fp32", constants).parameters.compute_efficiency;
  // 75 W over 3e12 lane cycles a second are 25 pJ of the 42 pJ needed.
  CHECK_THAT(share, WithinRel(0.9 * std::pow(25.0 / 42.0, 0.55), 1e-9));
  CHECK(documented(fmt::format("0.9 x (25/42)^0.55 = {:.4f}", share)));
}

TEST_CASE("worked example: tensor cores of another rate, fed and powered otherwise than the lender's") {
  BoardParameters volta;
  volta.device = "volta";
  name_architecture(volta, "Volta");
  volta.fp32_lanes = 64;
  volta.limits.power_limit = Watts(300.0);
  volta.limits.peak_fp32 = FlopPerSecond(15.625e12);
  volta.limits.peak_fp16_tensor = FlopPerSecond(125e12);
  volta.parameters = {"gemm", "fp16", 0.93, 0.8, Seconds(5e-6), 0.1, 50, "fitted: an example"};
  KernelConstants constants;
  constants.boards = {volta};
  Device device;
  device.id = "ampere";
  name_architecture(device, "Ampere");
  device.fp32_lanes = 64;
  device.peak.fp32 = FlopPerSecond(19.5e12);
  device.peak.fp16_tensor = FlopPerSecond(312e12);
  device.power_limit = Watts(250.0);
  const auto share = [&] { return resolve_parameters(device, "gemm", "fp16", constants).parameters.compute_efficiency; };
  CHECK_THAT(share(), WithinRel(0.93 * std::pow(250.0 / 312.0 / 1.28, 0.55), 1e-9));
  CHECK(documented(fmt::format("0.93 x ({:.4f}/1.28)^0.55 = {:.4f}", 250.0 / 312.0, share())));
  const auto overhead = [&](std::string_view precision) {
    return sustained_rates(device, *device.peak.fp16_tensor, 1.0, BytesPerSecond(1e12), Seconds(5e-6), precision).step_overhead;
  };
  CHECK_THAT(overhead("fp16"), WithinRel(2.0, 1e-12));  // 2 x 64 x 312/19.5 FLOP a cycle of 1,024
  CHECK(overhead("tf32") == overhead("fp16"));
  CHECK(overhead("fp32") == 1.0);
  device.peak.fp16_tensor = FlopPerSecond(624e12);
  CHECK(overhead("fp16") == 2.0);
  device.peak.fp16_tensor = FlopPerSecond(78e12);  // 3.2 pJ a FLOP
  CHECK_THAT(overhead("fp16"), WithinRel(0.5, 1e-12));
  CHECK_THAT(share(), WithinRel(std::cbrt(1.0 / (1.0 + (std::pow(0.93, -3) - 1.0) / 64.0)), 1e-9));
  CHECK(documented(fmt::format("(1 + {:.4f}/64)^(-1/3) = {:.4f}.", std::pow(0.93, -3) - 1.0, share())));
}

TEST_CASE("worked example: the range of a step from its kernels") {
  const FamilySigmas sigmas{
      {{KernelFamily::convolution, 0, 0.15, 0.1, 0.2}, {}, {}, {}, {KernelFamily::memory_bound, 0, 0, 0.08, 0.1}, {}, {}}};
  // 60 ms in 16 convolutions of unlike shapes, 40 ms in one elementwise kernel that runs 64 times.
  std::vector<NodeCost> costs(16);
  for (std::size_t i = 0; i < costs.size(); ++i) {
    costs[i].family = KernelFamily::convolution;
    costs[i].kernel.time = Seconds(3.75e-3 + 1e-15 * static_cast<double>(i));
  }
  NodeCost elementwise;
  elementwise.family = KernelFamily::memory_bound;
  elementwise.kernel.time = Seconds(0.625e-3);
  elementwise.kernel.bound = Bound::memory;
  costs.resize(80, elementwise);
  const KernelSpread kernels = kernel_spread(costs, sigmas);
  CHECK(documented(fmt::format("shared = {:.4f}", kernels.shared)));
  CHECK(documented(fmt::format("single = {:.4f}", kernels.single)));
  SpreadConstants spread;
  spread.row = 0.07;
  const double sd = step_spread(spread, kernels, 0.9, {});
  CHECK(documented(
      fmt::format("sd = {:.4f}, range = t / {:.4f} to t x {:.4f}", sd, std::exp(kCentral80 * sd), std::exp(kCentral80 * sd))));
}
