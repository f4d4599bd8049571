#include "model/cost/convolution.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "model/cost/gemm.hpp"
#include "model/cost/pipelined_gemm.hpp"

namespace tbdsim {
namespace {

struct Volumes {
  Bytes x, w, y;
  [[nodiscard]] Bytes sum() const { return x + w + y; }
};

Volumes volumes(const ConvolutionShape& s, Bytes element) {
  return {s.n * s.c * s.h * s.w * element, s.k * (s.c / s.groups) * s.r * s.s * element, s.n * s.k * s.p * s.q * element};
}

/// Part of the rows, or columns, of x that a pass reads: a stride longer than the filter skips some.
double rows_read(const ConvolutionShape& s) { return std::min(1.0, s.r / s.stride_h); }
double columns_read(const ConvolutionShape& s) { return std::min(1.0, s.s / s.stride_w); }

Flop direct_flop(const ConvolutionShape& s) { return Flop(2.0 * s.n * s.k * s.p * s.q * (s.c / s.groups) * s.r * s.s); }

enum FilterClass : std::size_t { kPointwise, kDense, kStrided, kFirstLayer };

/// Images, for which libraries have kernels of their own beside those for every shape.
bool few_channels(const ConvolutionShape& s) {
  constexpr double kImageChannels = 4.0;
  return s.c <= kImageChannels;
}

FilterClass filter_class(const ConvolutionShape& s, ConvolutionPass pass) {
  const bool strided = s.stride_h > 1 || s.stride_w > 1, one = s.r == 1 && s.s == 1;
  // Forward and in backward weights a stride only spaces what a 1x1 filter reads.
  if (one && (!strided || pass != ConvolutionPass::backward_data)) return kPointwise;
  return strided ? kStrided : kDense;
}

KernelTimeModel describe(const ConvolutionShape& s, Bytes element, Seconds compute, Seconds memory, Seconds launch,
                         Seconds time) {
  KernelTimeModel result;
  result.time = launch + time;
  result.launch = launch;
  result.flop = direct_flop(s);
  result.bytes = volumes(s, element).sum();
  result.bound = launch > time ? Bound::launch : compute > memory ? Bound::compute : Bound::memory;
  return result;
}

Seconds join(Seconds compute, Seconds memory) {
  return Seconds(std::cbrt(std::pow(compute.base(), 3) + std::pow(memory.base(), 3)));
}

// A weight gradient has few output tiles and a very long k, so the library splits it. The kernels of the other passes do not
// split (DeepBench: maps of 7 x 7 take longer than any split would).
constexpr int kWeightGradientSplit = 128;
// Kernels for weight gradients of more than one tap have tiles of 128 columns: few channels leave a part of one empty. 1 x 1 is a
// plain product. Seen in first layers of three channels (DeepBench), assumed for others.
constexpr double kGatheredColumns = 128.0;

/// Each position's product with every filter, its results then added up where they overlap: nothing is multiplied in vain.
TiledGemm scattered(const ConvolutionShape& s, Bytes element, const ConvolutionConstants& constants, TileConstants tiles,
                    const KernelRates& rates) {
  const Volumes v = volumes(s, element);
  const double positions = s.n * s.p * s.q, results = s.c / s.groups * s.r * s.s;
  tiles.compute_scale = constants.scatter_scale;
  const Bytes added = constants.scatter_passes * positions * results * s.groups * element;
  return tiled_gemm({positions, results, s.k / s.groups, s.groups}, {v.sum() + added, v.y, {}}, tiles, rates);
}

/// Channels with those that fill a load of tensor cores up.
double padded(double channels, double at_once) { return at_once > 1.0 ? at_once * std::ceil(channels / at_once) : channels; }

bool on_tensor_cores(const ConvolutionConstants& constants) { return constants.aligned > Bytes(0.0); }

/// Whether tiles of weight gradients hold the channels of a single tap each.
bool taps_apart(const ConvolutionConstants& constants, const KernelRates& rates) {
  return on_tensor_cores(constants) && rates.taps_apart;
}

KernelTimeModel implicit_gemm(const ConvolutionShape& s, ConvolutionPass pass, FilterClass cls, Bytes element,
                              const ConvolutionConstants& constants, const KernelRates& rates) {
  const double c = cls == kFirstLayer ? s.c : padded(s.c / s.groups, constants.aligned / element), k = s.k / s.groups,
               taps = s.r * s.s;
  const Volumes v = volumes(s, element);
  TileConstants tiles = constants.tiles;
  tiles.max_split = 1;
  GemmShape shape;
  const Bytes x = rows_read(s) * v.x;  // skipped columns lie in sectors with others; `reread` is a share of all
  GemmTraffic traffic{x + v.w + v.y, v.x, {}};
  switch (pass) {
    case ConvolutionPass::forward:
      shape = {s.n * s.p * s.q, k, c * taps, s.groups};
      tiles.compute_scale = constants.forward[cls];
      break;
    case ConvolutionPass::backward_data:
      // Only one filter tap in stride^2 meets an output, so the products are as many as in the forward pass.
      shape = {s.n * s.h * s.w, c, k * taps / (s.stride_h * s.stride_w), s.groups};
      tiles.compute_scale = constants.backward_data[cls];
      traffic = {v.sum(), v.y, {}};
      break;
    case ConvolutionPass::backward_weights:
      shape = {k, c * taps, s.n * s.p * s.q, s.groups};
      if (taps > 1.0) shape.n = std::max(shape.n, kGatheredColumns);
      if (taps_apart(constants, rates)) shape = {k, c, s.n * s.p * s.q, s.groups * taps};
      tiles.compute_scale = constants.backward_weights[cls];
      tiles.max_split = kWeightGradientSplit;
      tiles.tile_penalty += constants.gather_penalty;
      traffic.rows = v.y;
      traffic.partial = v.w;
      break;
  }
  const bool tensor = on_tensor_cores(constants) && cls != kFirstLayer;
  const bool gathers = pass == ConvolutionPass::backward_weights && taps > 1.0;
  if (tensor && (gathers || (pass == ConvolutionPass::backward_data && cls != kStrided))) tiles.largest_tile_only = true;
  TiledGemm tiled = tiled_gemm(shape, traffic, tiles, rates);
  if (pass == ConvolutionPass::backward_data && cls == kStrided) {
    const TiledGemm other = scattered(s, element, constants, tiles, rates);
    if (other.time < tiled.time) tiled = other;
  }
  KernelTimeModel result = describe(s, element, tiled.compute, tiled.memory, rates.launch, tiled.time);
  describe_issue(result, tiled, rates);
  return result;
}

/// The implicit GEMM of kernels that load ahead: a product of which one operand, backward in the weights both, is gathered from
/// tensors that are read once. Few channels are filled up to a load, as those of images are.
KernelTimeModel pipelined_implicit_gemm(const ConvolutionShape& s, ConvolutionPass pass, Bytes element,
                                        const ConvolutionConstants& constants, const KernelRates& rates) {
  // What gathering costs beside the product of the same shape; a filter of one tap gathers nothing. Fitted: 22 samples of 3x3
  // filters on a T4 and a V100 in 16 bits that multiply more than they move (calibrate/samples/deepbench_conv.csv) take 1.14 and
  // 1.20 times their product on the mean.
  constexpr double kGathered = 1.15;
  const double c = padded(s.c / s.groups, constants.aligned / element), k = s.k / s.groups, taps = s.r * s.s;
  const double x = rows_read(s) * columns_read(s) * s.n * s.c * s.h * s.w, y = s.n * s.k * s.p * s.q;
  GemmShape shape{s.n * s.p * s.q, k, c * taps, s.groups};
  shape.rows_held = x;
  if (pass == ConvolutionPass::backward_data) {
    shape = {s.n * s.h * s.w, c, k * taps / (s.stride_h * s.stride_w), s.groups};
    shape.rows_held = y;
  } else if (pass == ConvolutionPass::backward_weights) {
    shape = {k, c * taps, s.n * s.p * s.q, s.groups};
    shape.rows_held = y;
    shape.weights_held = x;
  }
  PipelinedConstants kernels = *constants.pipelined;
  if (taps > 1.0) kernels.compute_scale *= kGathered;
  TiledGemm tiled = pipelined_gemm(shape, element, kernels, rates);
  if (pass == ConvolutionPass::backward_data && filter_class(s, pass) == kStrided) {
    const TiledGemm other = scattered(s, element, constants, constants.tiles, rates);
    if (other.time < tiled.time) tiled = other;
  }
  KernelTimeModel result = describe(s, element, tiled.compute, tiled.memory, rates.launch, tiled.time);
  describe_issue(result, tiled, rates);
  return result;
}

/// A kernel without tiles: what it multiplies is all that it executes.
KernelTimeModel untiled(KernelTimeModel kernel, Seconds compute, const KernelRates& rates) {
  kernel.executing = std::min(kernel.flop / rates.peak, kernel.time - kernel.launch);
  split_issue(kernel, compute, Seconds(0.0), kernel.executing);
  return kernel;
}

/// Gradient of the image: a direct kernel, for a tile of so few channels would be empty.
KernelTimeModel image_gradient(const ConvolutionShape& s, Bytes element, const ConvolutionConstants& constants,
                               const KernelRates& rates) {
  const Seconds memory = volumes(s, element).sum() / rates.bandwidth;
  const double taps = s.r * s.s, around = (taps + rates.step_overhead * constants.tiles.prologue_depth) / taps;
  const Seconds compute = constants.backward_data[kFirstLayer] * around * (direct_flop(s) / rates.flops);
  return untiled(describe(s, element, compute, memory, rates.launch, join(compute, memory)), compute, rates);
}

/// What a library offers for every shape.
KernelTimeModel plain(const ConvolutionShape& s, ConvolutionPass pass, Bytes element, const ConvolutionConstants& constants,
                      const KernelRates& rates) {
  const KernelTimeModel any = constants.pipelined ? pipelined_implicit_gemm(s, pass, element, constants, rates)
                                                  : implicit_gemm(s, pass, filter_class(s, pass), element, constants, rates);
  const bool image = pass == ConvolutionPass::backward_data;
  const bool by_taps = pass == ConvolutionPass::backward_weights && taps_apart(constants, rates);
  if (!few_channels(s) || by_taps || (constants.pipelined && !image)) return any;
  const KernelTimeModel own =
      image ? image_gradient(s, element, constants, rates) : implicit_gemm(s, pass, kFirstLayer, element, constants, rates);
  return own.time < any.time ? own : any;
}

/// Depthwise: a thread for each result, without tiles. It looks up every tap by itself, so that index arithmetic takes longer
/// than the products; a weight gradient has a block for each filter tap, which walks through all images.
KernelTimeModel direct(const ConvolutionShape& s, ConvolutionPass pass, Bytes element, const ConvolutionConstants& constants,
                       const KernelRates& rates) {
  const Seconds memory = volumes(s, element).sum() / (rates.bandwidth * constants.depthwise_bandwidth);
  const bool weights = pass == ConvolutionPass::backward_weights, data = pass == ConvolutionPass::backward_data;
  // Integer instructions a tap: position, four bounds, two addresses, loop; of the data gradient also strides, of the weight
  // gradient a division by the width of the image for every tap (counted in aten DepthwiseConv2d.cu; their sum is firm to a
  // fifth, as ConvMixer's published steps show).
  const double instructions = weights ? 26.0 : data ? 12.0 : 11.0;
  const double taps = (data ? s.n * s.c * s.h * s.w : s.n * s.k * s.p * s.q) * s.r * s.s;
  constexpr double kIntegerLanes = 64.0;
  double cycles = instructions * taps / (kIntegerLanes * rates.multiprocessors);
  if (weights) {
    // Eight warps share the images of a block, each walks through its own; nothing is loaded ahead.
    constexpr double kWarps = 8.0, kLanes = 32.0, kLoad = 400.0;
    cycles = std::max(cycles, std::ceil(s.n / kWarps) * std::ceil(s.p * s.q / kLanes) * kLoad);
  }
  const Seconds compute = cycles / rates.clock;
  return untiled(describe(s, element, compute, memory, rates.launch, join(compute, memory)), compute, rates);
}

/// Fused F(2x2,3x3): a kernel transforms the filters, another does the rest in whole waves of blocks of 32 tiles by 64 or 32
/// filters.
std::optional<KernelTimeModel> winograd_fused(const ConvolutionShape& s, ConvolutionPass pass, Bytes element,
                                              const ConvolutionConstants& constants, const KernelRates& rates) {
  if (s.r != 3 || s.s != 3 || s.stride_h != 1 || s.stride_w != 1 || s.groups != 1 || pass == ConvolutionPass::backward_weights)
    return {};
  const bool data = pass == ConvolutionPass::backward_data;
  const double in = data ? s.k : s.c, out = data ? s.c : s.k;
  const double height = data ? s.h : s.p, width = data ? s.w : s.q;
  const double tiles = s.n * std::ceil(height / 2.0) * std::ceil(width / 2.0);
  constexpr double kTilesPerBlock = 32.0, kProductsPerTile = 16.0;
  Seconds compute(INFINITY);
  TiledGemm tiled;  // of the faster blocks
  for (const double filters : {64.0, 32.0}) {
    const double blocks = std::ceil(tiles / kTilesPerBlock) * std::ceil(out / filters);
    const double small = filters == 32.0 ? 1.15 : 1.0;  // half the reuse of the transformed input
    const double block_flop =
        2.0 * kProductsPerTile * kTilesPerBlock * filters * (in + rates.step_overhead * constants.tiles.prologue_depth / 2.0);
    const double waves = std::ceil(blocks / rates.multiprocessors);
    const Seconds time = Flop(waves * block_flop * rates.multiprocessors * constants.winograd_fused_cost * small) / rates.flops;
    if (time >= compute) continue;
    compute = tiled.compute = time;
    tiled.executed = Flop(2.0 * kProductsPerTile * kTilesPerBlock * filters * in * blocks);
    tiled.busy_part = blocks / (waves * rates.multiprocessors);
    tiled.first = time * (1.0 - tiled.executed / Flop(block_flop * blocks));
  }
  const Volumes v = volumes(s, element);
  const Bytes turned = kProductsPerTile / (s.r * s.s) * v.w;
  const Seconds memory = (v.x + v.y + turned) / rates.bandwidth;
  const Seconds before = constants.winograd_filter_passes * (v.w + turned) / rates.bandwidth;
  KernelTimeModel result = describe(s, element, compute, memory + before, rates.launch, before + join(compute, memory));
  describe_issue(result, tiled, rates);
  return result;
}

/// Products of transformed tiles: `points` matrix products between transforms that pass through memory.
struct Transformed {
  double tiles = 0, points = 0, bytes_per_point = 1;  ///< bytes relative to a real element
  double flop_scale = 1;
};

KernelTimeModel transformed_products(const ConvolutionShape& s, ConvolutionPass pass, Bytes element, const Transformed& t,
                                     const ConvolutionConstants& constants, const KernelRates& rates, int transforms) {
  const Bytes unit = element * t.bytes_per_point;
  const double points = t.points;
  const Bytes x = points * t.tiles * s.c * unit, w = points * s.c * s.k * unit, y = points * t.tiles * s.k * unit;
  TileConstants tiles = constants.tiles;
  tiles.compute_scale = t.flop_scale;
  GemmShape shape{t.tiles, s.k, s.c, points};
  GemmTraffic traffic{x + w + y, x, y};
  double bandwidth = constants.transform_bandwidth;
  if (pass == ConvolutionPass::backward_data) {
    shape = {t.tiles, s.c, s.k, points};
    traffic = {x + w + y, y, x};
  } else if (pass == ConvolutionPass::backward_weights) {
    shape = {s.k, s.c, t.tiles, points};
    traffic = {x + w + y, y, w};
    tiles.largest_tile_only = true;
    tiles.max_split = 1;
    bandwidth = constants.transform_bandwidth_weights;
  }
  const TiledGemm products = tiled_gemm(shape, traffic, tiles, rates);
  const Seconds moved = (volumes(s, element).sum() + x + w + y) / (rates.bandwidth * bandwidth);
  KernelTimeModel result =
      describe(s, element, products.compute, products.memory + moved, transforms * rates.launch, products.time + moved);
  result.workspace = x + w + y;
  result.bytes = result.bytes + 2.0 * (x + w + y);
  result.kernels = transforms + 1;
  describe_issue(result, products, rates);
  return result;
}

/// Non-fused Winograd on 6x6 tiles: F(4x4,3x3) or F(2x2,5x5). Its workspace, 36 elements a tile and channel,
/// equals the 47,185,920 B that a published allocation trace shows for 16 x 512 x 7 x 7.
std::optional<KernelTimeModel> winograd_nonfused(const ConvolutionShape& s, ConvolutionPass pass, Bytes element,
                                                 const ConvolutionConstants& constants, const KernelRates& rates) {
  const bool three = s.r == 3 && s.s == 3, five = s.r == 5 && s.s == 5;
  if (!(three || five) || s.stride_h != 1 || s.stride_w != 1 || s.groups != 1) return {};
  const bool data = pass == ConvolutionPass::backward_data;
  const double side = three ? 4.0 : 2.0;
  const double tiles = s.n * std::ceil((data ? s.h : s.p) / side) * std::ceil((data ? s.w : s.q) / side);
  return transformed_products(s, pass, element, {tiles, 36.0, 1.0, constants.winograd_gemm_scale}, constants, rates, 3);
}

/// Tiled FFT: complex products at each of n (n/2 + 1) frequencies; 8 bytes and 4 real multiply-adds a point.
std::optional<KernelTimeModel> fft(const ConvolutionShape& s, ConvolutionPass pass, Bytes element,
                                   const ConvolutionConstants& constants, const KernelRates& rates) {
  if (s.stride_h != 1 || s.stride_w != 1 || s.groups != 1 || (s.r == 1 && s.s == 1)) return {};
  const bool weights = pass == ConvolutionPass::backward_weights;
  const bool data = pass == ConvolutionPass::backward_data;
  const double height = data ? s.h : s.p, width = data ? s.w : s.q;
  std::optional<KernelTimeModel> best;
  for (const double side : {16.0, 32.0}) {
    const double step_h = side - s.r + 1, step_w = side - s.s + 1;
    if (step_h < 1 || step_w < 1) continue;
    // The weight gradient correlates whole images: they must fit one tile.
    if (weights && (s.h > side || s.w > side)) continue;
    const double tiles = weights ? s.n : s.n * std::ceil(height / step_h) * std::ceil(width / step_w);
    const Transformed t{tiles, side * (side / 2 + 1), 2.0, 4.0 * constants.fft_scale};
    const KernelTimeModel time = transformed_products(s, pass, element, t, constants, rates, 4);
    if (!best || time.time < best->time) best = time;
  }
  return best;
}

// While it searches, the library asks for more than the transformed arrays it will keep. Assumed: any factor from 1.25 to
// 2 makes the same algorithms drop out of a 1 GiB limit, where the published AlexNet batch curve of MXNet falls; the least of
// them, because GoogLeNet's training memory at batch 64 (DGX-1V study) holds a workspace of 0.85 GB.
constexpr double kLimitMargin = 1.25;

}  // namespace

bool has_tensor_kernels(ConvolutionAlgorithm algorithm, std::string_view arithmetic) {
  return algorithm == ConvolutionAlgorithm::implicit_gemm ||
         (algorithm == ConvolutionAlgorithm::winograd_nonfused && arithmetic == "none");
}

std::optional<KernelTimeModel> convolution_time(const ConvolutionShape& shape, ConvolutionPass pass,
                                                ConvolutionAlgorithm algorithm, Bytes element,
                                                const ConvolutionConstants& constants, const KernelRates& rates) {
  switch (algorithm) {
    case ConvolutionAlgorithm::implicit_gemm:
      return plain(shape, pass, element, constants, rates);
    case ConvolutionAlgorithm::direct:
      if (shape.groups == 1 || shape.c / shape.groups > 1) return {};
      return direct(shape, pass, element, constants, rates);
    case ConvolutionAlgorithm::winograd_fused:
      return winograd_fused(shape, pass, element, constants, rates);
    case ConvolutionAlgorithm::winograd_nonfused:
      return winograd_nonfused(shape, pass, element, constants, rates);
    case ConvolutionAlgorithm::fft:
      return fft(shape, pass, element, constants, rates);
  }
  return {};
}

ConvolutionTime fastest_convolution(const ConvolutionShape& shape, ConvolutionPass pass,
                                    std::span<const ConvolutionAlgorithm> offered, std::optional<Bytes> workspace_limit,
                                    Bytes element, const ConvolutionConstants& constants, const KernelRates& rates) {
  std::array<SmallerWorkspace, SmallerWorkspaces::kMost + 1> tried;  // with whole times
  std::size_t count = 0;
  const KernelTimeModel without = plain(shape, pass, element, constants, rates);
  tried[count++] = {without.workspace, without.time};
  ConvolutionTime best{without, ConvolutionAlgorithm::implicit_gemm, {}};
  for (const ConvolutionAlgorithm algorithm : offered) {
    if (algorithm == ConvolutionAlgorithm::implicit_gemm || count == tried.size()) continue;
    const auto time = convolution_time(shape, pass, algorithm, element, constants, rates);
    if (!time || (workspace_limit && kLimitMargin * time->workspace > *workspace_limit)) continue;
    tried[count++] = {time->workspace, time->time};
    if (time->time < best.kernel.time) best = {*time, algorithm, {}};
  }
  const std::span<const SmallerWorkspace> all(tried.data(), count);
  for (Bytes least = best.kernel.workspace;;) {
    const SmallerWorkspace* next = nullptr;
    for (const SmallerWorkspace& choice : all)
      if (choice.workspace < least && (next == nullptr || choice.longer < next->longer)) next = &choice;
    if (next == nullptr) break;
    least = next->workspace;
    best.smaller.choices[best.smaller.count++] = {least, next->longer - best.kernel.time};
  }
  return best;
}

}  // namespace tbdsim
