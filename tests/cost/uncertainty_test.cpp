// Spread of a step: residuals of its kernels, and independent causes beside them.
#include "model/cost/uncertainty.hpp"

#include <cmath>

#include "model/cost/kernel_model.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

NodeCost kernel(KernelFamily family, double time, Bound bound = Bound::compute, double launch = 0.0) {
  NodeCost cost;
  cost.family = family;
  cost.kernel.time = Seconds(time);
  cost.kernel.launch = Seconds(launch);
  cost.kernel.bound = bound;
  return cost;
}

constexpr FamilySigmas kSigmas{{{KernelFamily::convolution, 0.5, 0.1, 0.05, 0.3},
                                {KernelFamily::gemm, 0.5, 0.1, 0.05, 0.2},
                                {KernelFamily::recurrent, 0, 0, 0, 0},
                                {KernelFamily::attention, 0, 0, 0, 0},
                                {KernelFamily::memory_bound, 0.4, 0, 0.06, 0.1},
                                {KernelFamily::softmax, 0, 0, 0.2, 0.4},
                                {KernelFamily::layer_norm, 0, 0, 0.1, 0.3}}};

}  // namespace

TEST_CASE("kernels of a family share a part that adds linearly, their own parts add in squares") {
  const std::vector<NodeCost> costs{kernel(KernelFamily::convolution, 3e-3), kernel(KernelFamily::convolution, 4e-3)};
  const KernelSpread s = kernel_spread(costs, kSigmas);
  CHECK_THAT(s.shared, WithinRel(0.1, 1e-12));
  CHECK_THAT(s.single, WithinRel(0.3 * 5.0 / 7.0, 1e-12));  // 3, 4, 5
}

TEST_CASE("the same kernel twice errs twice alike") {
  const std::vector<NodeCost> twice{kernel(KernelFamily::gemm, 2e-3), kernel(KernelFamily::convolution, 1e-3),
                                    kernel(KernelFamily::gemm, 2e-3)};
  CHECK_THAT(kernel_spread(twice, kSigmas).single, WithinRel(std::hypot(0.2 * 4.0, 0.3 * 1.0) / 5.0, 1e-12));
}

TEST_CASE("kernels are told apart by family and time, however many there are") {
  // 1,000 pairs of equal kernels, and as many of another family that take as long: each pair errs as one.
  std::vector<NodeCost> costs;
  double total = 0.0, square = 0.0;
  for (const KernelFamily family : {KernelFamily::gemm, KernelFamily::convolution}) {
    for (int i = 1; i <= 1000; ++i) costs.push_back(kernel(family, 1e-6 * i));
    for (int i = 1000; i >= 1; --i) costs.push_back(kernel(family, 1e-6 * i));
    const double sigma = costs.back().family == KernelFamily::gemm ? 0.2 : 0.3;
    for (int i = 1; i <= 1000; ++i) {
      total += 2e-6 * i;
      square += std::pow(2e-6 * i * sigma, 2);
    }
  }
  CHECK_THAT(kernel_spread(costs, kSigmas).single, WithinRel(std::sqrt(square) / total, 1e-12));
}

TEST_CASE("softmax and layer norm err as their own families do") {
  const std::vector<NodeCost> rows{kernel(KernelFamily::softmax, 1e-3, Bound::memory)},
      norms{kernel(KernelFamily::layer_norm, 1e-3, Bound::memory)};
  CHECK_THAT(kernel_spread(rows, kSigmas).shared, WithinRel(0.2, 1e-12));
  CHECK_THAT(kernel_spread(rows, kSigmas).single, WithinRel(0.4, 1e-12));
  CHECK_THAT(kernel_spread(norms, kSigmas).shared, WithinRel(0.1, 1e-12));
}

TEST_CASE("half of the variance that families share is common to them") {
  const std::vector<NodeCost> costs{kernel(KernelFamily::convolution, 1e-3), kernel(KernelFamily::gemm, 1e-3)};
  // 0.1 of each half: 0.1 where both err alike, 0.1 / sqrt(2) where they do not.
  CHECK_THAT(kernel_spread(costs, kSigmas).shared, WithinRel(std::sqrt(0.5 * 0.01 + 0.5 * 0.005), 1e-12));
}

TEST_CASE("what bounds a kernel decides which uncertainty is its own") {
  const std::vector<NodeCost> memory{kernel(KernelFamily::gemm, 1e-3, Bound::memory)};
  const std::vector<NodeCost> launched{kernel(KernelFamily::memory_bound, 1e-5, Bound::launch, 0.5e-5)};
  CHECK_THAT(kernel_spread(memory, kSigmas).shared, WithinRel(0.05, 1e-12));
  CHECK_THAT(kernel_spread(launched, kSigmas).shared, WithinRel(0.5 * 0.4 + 0.5 * 0.06, 1e-12));
  CHECK(kernel_spread(std::vector<NodeCost>{NodeCost{}}, kSigmas).shared == 0.0);
}

TEST_CASE("causes beside the kernels add in squares and only widen") {
  SpreadConstants spread;
  spread.row = 0.04;
  spread.tensor_core = 0.12;
  spread.exchange = 0.12;
  const KernelSpread kernels{0.05, 0.0};
  CHECK_THAT(step_spread(spread, kernels, 0.6, {}), WithinRel(0.05, 1e-12));  // 0.03 and 0.04
  CHECK_THAT(step_spread(spread, kernels, 0.6, {true, false, 0.0}), WithinRel(0.13, 1e-12));
  CHECK_THAT(step_spread(spread, kernels, 0.6, {false, true, 0.0}), WithinRel(0.13, 1e-12));
  CHECK_THAT(step_spread(spread, kernels, 0.6, {false, false, 0.12}), WithinRel(0.13, 1e-12));
  CHECK(step_spread(spread, kernels, 1.0, {}) > step_spread(spread, kernels, 0.6, {}));
}
