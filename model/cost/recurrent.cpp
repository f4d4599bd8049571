#include "model/cost/recurrent.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "model/cost/gemm.hpp"
#include "model/hardware/architecture.hpp"

namespace tbdsim {
namespace {

struct Tile {
  double m, n;
};
constexpr std::array<Tile, 9> kTiles{
    {{128, 128}, {128, 64}, {64, 128}, {64, 64}, {128, 32}, {32, 128}, {64, 32}, {32, 64}, {32, 32}}};

// Blocks of 64 to 128 registers a thread: four share a multiprocessor. Three to eight fit the samples equally well.
constexpr double kResidentBlocks = 4.0;

/// Samples are of 16, 32 and 64 sequences (and 8 and 128, which wait as their neighbours). No sample says where between them a
/// library changes its kernels, so the wait grows or falls evenly from one to the next.
double load_cycles(const RecurrentConstants& constants, double batch) {
  constexpr double kFew = 16.0, kSome = 32.0, kMany = 64.0;
  const auto between = [&](double low, double high, double from) { return low * std::pow(high / low, std::log2(batch / from)); };
  if (batch <= kFew) return constants.cycles_batch_16;
  if (batch <= kSome) return between(constants.cycles_batch_16, constants.cycles_batch_32, kFew);
  if (batch <= kMany) return between(constants.cycles_batch_32, constants.cycles_more, kSome);
  return constants.cycles_more;
}

struct StepProduct {
  Seconds time, compute, memory;
  Seconds loads;           ///< of `compute`: fills a tile, and what a k-step waits for its loads beyond its arithmetic
  Flop executed;           ///< of whole tiles
  double busy_part = 1.0;  ///< of the multiprocessors, in the waves that run
};

StepProduct step_product(const GemmShape& s, Bytes element, double cycles, const TileConstants& tiles, const KernelRates& rates) {
  const double sms = rates.multiprocessors;
  const double latency = cycles / rates.clock.base();
  const Seconds memory = (s.m * s.k + s.k * s.n + s.m * s.n) * element / rates.bandwidth;
  double least = INFINITY, arithmetic = 0.0;
  StepProduct result;
  for (const Tile& tile : kTiles) {
    const double blocks = std::ceil(s.m / tile.m) * std::ceil(s.n / tile.n);
    const double area = tile.m * tile.n;
    const double step = 2.0 * area * (1.0 + tiles.tile_penalty * (tile.m + tile.n) / area) * sms / rates.flops.base();
    const double waves = std::ceil(blocks / sms);
    const double k_step = std::max(waves * step, std::ceil(blocks / (kResidentBlocks * sms)) * latency);
    if (k_step >= least) continue;
    least = k_step;
    arithmetic = waves * step;
    result.executed = Flop(2.0 * area * blocks * s.k);
    result.busy_part = blocks / (waves * sms);
  }
  const double compute = (s.k + tiles.prologue_depth) * least;
  const double m = memory.base();
  result.time = Seconds(std::cbrt(compute * compute * compute + m * m * m));
  result.compute = Seconds(compute);
  result.memory = memory;
  result.loads = Seconds(compute - s.k * std::min(arithmetic, least));
  return result;
}

GemmShape step_shape(const RecurrentShape& s, RecurrentPass pass) {
  return pass == RecurrentPass::forward ? GemmShape{s.gates * s.hidden, s.batch, s.hidden}
                                        : GemmShape{s.hidden, s.batch, s.gates * s.hidden};
}

/// Element by element: gates and state read and written once forward; their gradients, states and gates backward.
Bytes pointwise_bytes(const RecurrentShape& s, RecurrentPass pass, Bytes element) {
  const double passes = pass == RecurrentPass::forward ? 2.0 : 3.0;
  return passes * s.gates * s.hidden * s.batch * element;
}

}  // namespace

KernelTimeModel recurrent_time(const RecurrentShape& s, RecurrentPass pass, Bytes element, const RecurrentConstants& constants,
                               const KernelRates& rates) {
  if (pass == RecurrentPass::backward_weights)
    return gemm_time({s.gates * s.hidden, s.hidden, s.batch * s.steps}, element, constants.tiles, rates);
  const GemmShape shape = step_shape(s, pass);
  const StepProduct product = step_product(shape, element, load_cycles(constants, s.batch), constants.tiles, rates);
  const Bytes pointwise = pointwise_bytes(s, pass, element);
  const Seconds moving = pointwise / rates.bandwidth;
  KernelTimeModel step;
  step.time = rates.launch + product.time + moving;
  step.flop = Flop(2.0 * shape.m * shape.n * shape.k);
  step.bytes = (shape.m * shape.k + shape.k * shape.n + shape.m * shape.n) * element + pointwise;
  step.launch = rates.launch;
  step.kernels = 2;
  step.executing = std::min(product.executed / rates.peak, product.time);
  split_issue(step, product.compute, product.loads, step.executing / product.busy_part);
  step.bound = rates.launch > product.time + moving        ? Bound::launch
               : product.compute > product.memory + moving ? Bound::compute
                                                           : Bound::memory;
  return repeated(step, s.steps);
}

KernelTimeModel persistent_recurrent_time(const RecurrentShape& s, RecurrentPass pass, Bytes element, const KernelRates& rates) {
  // All blocks wait for each other through memory: two round trips of about a microsecond, and the next state's load.
  constexpr Seconds kSynchronisation(4e-6);
  const GemmShape shape = step_shape(s, pass);
  KernelTimeModel step;
  step.flop = Flop(2.0 * shape.m * shape.n * shape.k);
  step.bytes = pointwise_bytes(s, pass, element);
  const Seconds compute = step.flop / rates.flops, memory = step.bytes / rates.bandwidth;
  step.time = kSynchronisation + std::max(compute, memory);
  step.bound = kSynchronisation > std::max(compute, memory) ? Bound::launch : compute > memory ? Bound::compute : Bound::memory;
  step.executing = std::min(step.flop / rates.peak, compute);
  step.issue = {step.executing, compute - step.executing, std::max(Seconds(0.0), memory - compute), kSynchronisation};
  KernelTimeModel result = repeated(step, s.steps);
  result.time += rates.launch;
  result.launch = rates.launch + s.steps * kSynchronisation;
  result.kernels = 1;
  return result;
}

std::string_view recurrent_generation(Vendor vendor, const std::string& cuda, const Architecture& chip) {
  if (!info(vendor).recurrent_kernels.empty()) return info(vendor).recurrent_kernels;
  if (!chip.recurrent_kernels.empty()) return chip.recurrent_kernels;
  constexpr int kFirstOfVolta = 9;
  const int release = std::atoi(cuda.c_str());
  return release == 0 || release >= kFirstOfVolta ? "cuda10" : release == 8 ? "cuda8" : "cuda7";
}

bool waits_less_at_64(const RecurrentConstants& constants) {
  return constants.cycles_more < std::max(constants.cycles_batch_16, constants.cycles_batch_32);
}

}  // namespace tbdsim
