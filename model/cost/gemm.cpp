#include "model/cost/gemm.hpp"

namespace tbdsim {

KernelTimeModel gemm_time(const GemmShape& shape, Bytes element, const TileConstants& constants, const KernelRates& rates) {
  const Bytes a = shape.m * shape.k * shape.count * element;
  const Bytes b = shape.k * shape.n * shape.count * element;
  const Bytes c = shape.m * shape.n * shape.count * element;
  const TiledGemm tiled = tiled_gemm(shape, {a + b + c, a, c}, constants, rates);
  KernelTimeModel result;
  result.time = rates.launch + tiled.time;
  result.launch = rates.launch;
  result.flop = Flop(2.0 * shape.m * shape.n * shape.k * shape.count);
  result.bytes = a + b + c;
  result.bound = rates.launch > tiled.time ? Bound::launch : tiled.compute > tiled.memory ? Bound::compute : Bound::memory;
  result.kernels = tiled.split > 1 ? 2 : 1;
  return result;
}

}  // namespace tbdsim
