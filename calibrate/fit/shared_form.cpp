#include "calibrate/fit/shared_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "calibrate/fit/attention_family.hpp"
#include "calibrate/fit/expert_family.hpp"
#include "calibrate/fit/recurrent_family.hpp"
#include "calibrate/fit/row_family.hpp"
#include "model/cost/tiled_gemm.hpp"
#include "model/hardware/constant_bounds.hpp"

namespace tbdsim::calibrate {
namespace {

constexpr std::array<std::string_view, 3> kPassNames{"forward", "backward_data", "backward_weights"};
constexpr std::size_t kSharedConvolution = 11, kFirstLayerGradient = 8, kPerConvolutionGeneration = 14;
constexpr std::size_t kClasses = 4, kScales = 3 * kClasses;
constexpr std::size_t kSharedGemm = 1, kGemmPerGeneration = 7;

/// An unknown that is the constant `key` itself.
Unknown bounded(std::string name, double prior, double sigma, std::string_view key, bool tensor) {
  const ConstantBounds& bounds = constant_bounds(key);
  return {std::move(name), prior, sigma, bounds.low, bounds.most(tensor)};
}

/// What is no product counts in k-steps: at the rate that lanes sustain, but at the full rate of tensor cores, of which 0.7 is
/// believed to be sustained. So a priori it is more of those.
double beside(double k_steps, bool tensor) {
  constexpr double kSustained = 0.7;
  return tensor ? k_steps / kSustained : k_steps;
}

std::vector<Unknown> convolution_unknowns(std::span<const std::string> generations, bool tensor) {
  const auto own = [&](const char* key, double prior, double sigma) { return bounded(key, prior, sigma, key, tensor); };
  std::vector<Unknown> unknowns{own("prologue_depth", beside(tensor ? 64.0 : 14.0, tensor), tensor ? 0.7 : 0.1),
                                own("tile_penalty", beside(5, tensor), 0.1), own("reread", 0.15, 0.5),
                                own("winograd_fused_cost", 1.25, 0.15), own("winograd_gemm_scale", 0.83, 0.15),
                                own("transform_bandwidth", 0.67, 0.15), own("transform_bandwidth_weights", 0.93, 0.15),
                                own("fft_scale", 1.1, 0.1), bounded("first layer backward_data", 3, 0.3, "scale", tensor),
                                // Two boards of two generations tell little of tensor cores.
                                own("gather_penalty", beside(10, tensor), tensor ? 0.2 : 1.0),
                                own("scatter_passes", 2, tensor ? 0.2 : 0.5)};
  for (const std::string& generation : generations) {
    for (std::size_t pass = 0; pass < 3; ++pass) {
      for (std::size_t cls = 0; cls < kClasses; ++cls) {
        // Large stride-1 filters mostly run as Winograd or FFT, so little is known of their implicit GEMM: it stays
        // near the plain product. A strided input gradient that gathers wastes half its tiles.
        const bool data = pass == 1;
        const double prior = data && cls == 2 ? 2.0 : 1.0;
        const double sigma = cls == 1 ? 0.08 : 0.3;
        unknowns.push_back(bounded(fmt::format("{} {} {}", generation, kPassNames[pass], cls), prior, sigma, "scale", tensor));
      }
    }
    unknowns.push_back(bounded(generation + " scatter_scale", 1.8, 0.3, "scatter_scale", tensor));
    unknowns.push_back(bounded(generation + " winograd_filter_passes", 1.0, 0.5, "winograd_filter_passes", tensor));
  }
  return unknowns;
}

// Tensor cores take channels in loads of 16 bytes: NVIDIA, "Deep Learning Performance: Convolutional Layers" (channels are padded
// to multiples of 8 numbers of 16 bits, 4 of tf32).
constexpr Bytes kTensorLoad(16.0);

ConvolutionConstants convolution_constants(std::span<const double> v, std::size_t generation, bool tensor) {
  ConvolutionConstants c;
  c.tiles.prologue_depth = v[0];
  c.tiles.tile_penalty = v[1];
  c.tiles.reread = v[2];
  c.winograd_fused_cost = v[3];
  c.winograd_gemm_scale = v[4];
  c.transform_bandwidth = v[5];
  c.transform_bandwidth_weights = v[6];
  c.fft_scale = v[7];
  c.gather_penalty = v[9];
  c.scatter_passes = v[10];
  if (tensor) c.aligned = kTensorLoad;
  const double* own = &v[kSharedConvolution + kPerConvolutionGeneration * generation];
  for (std::size_t i = 0; i < kClasses; ++i) {
    c.forward[i] = own[i];
    c.backward_data[i] = own[kClasses + i];
    c.backward_weights[i] = own[2 * kClasses + i];
  }
  c.scatter_scale = own[kScales];
  c.winograd_filter_passes = own[kScales + 1];
  // Few sheets time the gradient of the image itself: one value for all generations.
  c.backward_data[3] = v[kFirstLayerGradient];
  return c;
}

constexpr std::size_t kPerPipelined = 10;

std::vector<Unknown> pipelined_unknowns(const SharedForm& form) {
  std::vector<Unknown> unknowns;
  for (std::size_t g = 0; g < form.generations.size(); ++g) {
    const PipelinedConstants& believed = form.pipelined[g];
    const auto own = [&](const char* key, double prior, double sigma, std::string_view bounds) {
      unknowns.push_back(bounded(fmt::format("{} {}", form.generations[g], key), prior, sigma, bounds, true));
    };
    constexpr double kSigma = 0.7;
    own("tile_penalty", believed.tile_penalty, kSigma, "pipelined_tile_penalty");
    own("wave_smoothing", believed.wave_smoothing, kSigma, "wave_smoothing");
    own("resident_waves", believed.resident_waves, 1.0, "resident_waves");
    unknowns.push_back({form.generations[g] + " load_latency", believed.load_latency.base(), kSigma, 1e-11, 1e-7});
    unknowns.push_back({form.generations[g] + " epilogue", believed.epilogue.base(), kSigma, 1e-13, 1e-8});
    own("split_cycles", believed.split_cycles, believed.splits ? kSigma : 0.0, "split_cycles");
    // Kernels of the library that quantises alone: what a board's memory does for them is its own share.
    unknowns.push_back(
        {form.generations[g] + " quantize_launch", std::max(believed.quantize_launch.base(), 1e-9), form.narrow ? kSigma : 0.0});
    own("quantize_passes", believed.quantize_passes, form.narrow && g > 0 ? kSigma : 0.0, "quantize_passes");
    // A board's share of peak is of the kernels that split, cuBLAS's.
    own("compute_scale", 1.0, believed.splits ? 0.0 : kSigma, "pipelined_compute_scale");
    // cuBLAS walks its tiles so that operands beyond the cache are read once (a free value stayed below 0.01).
    own("reread", std::max(believed.reread, 0.01), believed.reread > 0.0 ? 1.0 : 0.0, "reread");
  }
  return unknowns;
}

TileConstants pipelined_constants(const SharedForm& form, std::span<const double> values, std::size_t generation) {
  const double* v = &values[kPerPipelined * generation];
  TileConstants tiles;
  tiles.pipelined = form.pipelined[generation];
  PipelinedConstants& c = *tiles.pipelined;
  c.tile_penalty = v[0];
  c.wave_smoothing = v[1];
  c.resident_waves = v[2];
  c.load_latency = Seconds(v[3]);
  c.epilogue = Seconds(v[4]);
  c.split_cycles = v[5];
  if (form.narrow) c.quantize_launch = Seconds(v[6]);
  c.quantize_passes = v[7];
  c.compute_scale = v[8];
  if (c.reread > 0.0) c.reread = v[9];
  return tiles;
}

std::vector<Unknown> gemm_unknowns(std::span<const std::string> generations, bool tensor) {
  // What small tiles lose is geometry, and a board's share of peak counts from it: all generations share it.
  std::vector<Unknown> unknowns{bounded("tile_penalty", beside(4, tensor), 0.3, "tile_penalty", tensor)};
  for (const std::string& generation : generations) {
    const auto own = [&](const char* key, double prior, double sigma) {
      unknowns.push_back(bounded(fmt::format("{} {}", generation, key), prior, sigma, key, tensor));
    };
    own("prologue_depth", beside(tensor ? 128.0 : 16.0, tensor), 0.3);
    own("reread", 0.05, 1.0);
    own("transpose_penalty", beside(4, tensor), 1.0);
    own("few_rows_bandwidth", 0.8, 0.7);
    // What they cost beyond a large tile.
    const ConstantBounds& whole = constant_bounds("short_tiles");
    unknowns.push_back({generation + " short_tiles", 0.1, 1.0, 1e-3, whole.most(tensor) - whole.low});
    own("narrow_tiles", 1.1, 0.3);
    own("few_rows_transposed", 0.8, 0.7);
  }
  return unknowns;
}

// cuBLAS 8 runs products of at most 16 rows or columns in kernels of their own even where those for more rows are faster: on four
// Pascal boards 16 rows take 1.3 to 3.8 times as long as 32 (DeepBench). Of the other libraries no sheet shows that: 16 rows take
// as long as 32 on Maxwell, a little less on Volta, Turing and AMD's boards.
constexpr std::string_view kMissesFasterKernels = "cudnn6";

TileConstants gemm_tiles(std::span<const double> values, std::size_t generation, std::string_view name) {
  const double* v = &values[kSharedGemm + kGemmPerGeneration * generation];
  TileConstants tiles;
  tiles.tile_penalty = values[0];
  tiles.prologue_depth = v[0];
  tiles.reread = v[1];
  tiles.transpose_penalty = v[2];
  tiles.few_rows_bandwidth = v[3];
  tiles.short_tiles = 1.0 + v[4];  // a short tile feeds its lanes no better than a large one
  tiles.narrow_tiles = v[5];
  tiles.few_rows_transposed = v[6];
  if (name.substr(0, kMissesFasterKernels.size()) == kMissesFasterKernels) tiles.few_rows_until = kFewRows;
  return tiles;
}

}  // namespace

std::vector<Unknown> shared_unknowns(const SharedForm& form) {
  if (!form.pipelined.empty()) return pipelined_unknowns(form);
  if (form.family == "convolution") return convolution_unknowns(form.generations, form.tensor);
  if (form.family == "gemm") return gemm_unknowns(form.generations, form.tensor);
  if (form.family == "recurrent") return recurrent_unknowns(form.generations, form.tensor);
  if (form.family == "attention") return attention_unknowns(form.generations);
  if (is_row_family(form.family)) return row_unknowns(form.generations);
  if (form.family == "experts") return expert_unknowns(form.generations);
  return {};
}

bool depends_on_shared(const SharedForm& form, std::size_t unknown, std::size_t generation) {
  const std::string_view family = form.family;
  if (!form.pipelined.empty()) return unknown / kPerPipelined == generation;
  if (family == "recurrent") return recurrent_depends(unknown, generation);
  if (family == "attention") return attention_depends(unknown, generation);
  if (is_row_family(family)) return row_depends(unknown, generation);
  if (family == "experts") return expert_depends(unknown, generation);
  if (family == "gemm") return unknown < kSharedGemm || (unknown - kSharedGemm) / kGemmPerGeneration == generation;
  if (family != "convolution" || unknown < kSharedConvolution) return true;
  return (unknown - kSharedConvolution) / kPerConvolutionGeneration == generation;
}

FormConstants shared_constants(const SharedForm& form, std::span<const double> values, std::size_t generation) {
  if (!form.pipelined.empty()) return pipelined_constants(form, values, generation);
  if (form.family == "convolution") return convolution_constants(values, generation, form.tensor);
  if (form.family == "gemm") return gemm_tiles(values, generation, form.generations[generation]);
  if (form.family == "recurrent") return recurrent_constants(values, generation, form.generations[generation]);
  if (form.family == "attention") return attention_values(values, generation);
  if (is_row_family(form.family)) return row_values(values, generation, form.generations[generation]);
  if (form.family == "experts") return expert_values(values, generation);
  return {};
}

}  // namespace tbdsim::calibrate
