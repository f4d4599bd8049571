#include "model/cost/gemm.hpp"

#include <algorithm>

#include "model/cost/address_translation.hpp"
#include "model/cost/pipelined_gemm.hpp"

namespace tbdsim {

void describe_issue(KernelTimeModel& kernel, const TiledGemm& tiled, const KernelRates& rates) {
  kernel.executing = std::min(tiled.executed / rates.peak, kernel.time - kernel.launch);
  split_issue(kernel, tiled.compute, tiled.first, kernel.executing / tiled.busy_part);
}

KernelTimeModel gemm_time(const GemmShape& shape, Bytes element, const TileConstants& constants, const KernelRates& rates) {
  const Bytes a = shape.m * shape.k * shape.count * element;
  const Bytes b = shape.k * shape.n * shape.count * element;
  const Bytes c = shape.m * shape.n * shape.count * (constants.pipelined ? product_elements(element).result : element);
  GemmTraffic traffic{a + b + c, a, c};
  // Both operands lie along k, so that the rows of a tile are k apart. Products of few rows run in kernels that read longer
  // pieces (DeepBench: 8 and 16 rows of 500,000 show no limit).
  constexpr double kFewestRows = 128.0;
  if (shape.transposed_b && rates.translations > Hertz(0.0) && std::min(shape.m, shape.n) >= kFewestRows)
    traffic.missed_translations = missed_translations(shape.k * element, (a + b) / shape.count);
  const TiledGemm tiled = constants.pipelined ? pipelined_gemm(shape, element, *constants.pipelined, rates)
                                              : tiled_gemm(shape, traffic, constants, rates);
  KernelTimeModel result;
  result.time = rates.launch + tiled.time;
  result.launch = rates.launch;
  result.flop = Flop(2.0 * shape.m * shape.n * shape.k * shape.count);
  result.bytes = a + b + c;
  result.bound = rates.launch > tiled.time ? Bound::launch : tiled.compute > tiled.memory ? Bound::compute : Bound::memory;
  result.kernels = tiled.split > 1 ? 2 : 1;
  describe_issue(result, tiled, rates);
  return result;
}

}  // namespace tbdsim
