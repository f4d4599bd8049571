#include "calibrate/fit/fit_family.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "calibrate/fit/attention_family.hpp"
#include "calibrate/fit/expert_family.hpp"
#include "calibrate/fit/recurrent_family.hpp"
#include "calibrate/fit/row_family.hpp"
#include "model/cost/memory_bound.hpp"
#include "model/cost/pipelined_gemm.hpp"
#include "model/cost/transfer.hpp"

namespace tbdsim::calibrate {
namespace {

// ---- matrix products ------------------------------------------------------------------------------------------------

FormConstants gemm_form(const Observation& row, const KernelConstants& constants, const Device& device) {
  const TileConstants* found = gemm_constants(constants, on_tensor_cores(device, row.precision), row.generation, device.chip);
  TileConstants tiles = found == nullptr ? TileConstants{} : *found;
  if (on_tensor_cores(device, row.precision) && has_pipelined_products(device, row.precision, constants))
    tiles.pipelined = pipelined_constants(constants, row.precision, row.generation, device);
  return tiles;
}

Seconds gemm_prediction(const Observation& row, const FormConstants& form, const KernelRates& rates) {
  const auto& shape = std::get<GemmShape>(row.arguments);
  const auto& constants = std::get<TileConstants>(form);
  const Seconds product = gemm_time(shape, row.element, constants, rates).time;
  if (!row.quantizes || !constants.pipelined) return product;
  return product + quantize_time(shape.m * shape.k, *constants.pipelined, rates);
}

// ---- convolution ----------------------------------------------------------------------------------------------------

/// Constants of the generation; of cuDNN 7 where this one was never fitted. Kernels that load ahead are those of products.
FormConstants convolution_form(const Observation& row, const KernelConstants& constants, const Device& device) {
  const std::string suffix = on_tensor_cores(device, row.precision) ? "-tensor" : "";
  auto found = constants.convolution.find(std::string(row.generation) + suffix);
  if (found == constants.convolution.end()) found = constants.convolution.find("cudnn7" + suffix);
  ConvolutionConstants form = found == constants.convolution.end() ? ConvolutionConstants{} : found->second;
  if (on_tensor_cores(device, row.precision) && has_pipelined_products(device, row.precision, constants))
    form.pipelined = pipelined_constants(constants, row.precision, row.generation, device);
  return form;
}

/// Time of the fastest offered algorithm.
Seconds convolution_prediction(const Observation& row, const FormConstants& form, const KernelRates& rates) {
  const auto& arguments = std::get<ConvolutionArguments>(row.arguments);
  const auto& constants = std::get<ConvolutionConstants>(form);
  Seconds best(INFINITY);
  for (const ConvolutionAlgorithm algorithm : arguments.offered) {
    if (const auto time = convolution_time(arguments.shape, arguments.pass, algorithm, row.element, constants, rates))
      best = std::min(best, time->time);
  }
  // The named algorithm cannot run this shape (a library's own variant): the plain product then stands for it.
  if (!std::isfinite(best.base()))
    best = convolution_time(arguments.shape, arguments.pass, ConvolutionAlgorithm::implicit_gemm, row.element, constants, rates)
               ->time;
  return best;
}

FormConstants no_form(const Observation&, const KernelConstants&, const Device&) { return {}; }

// ---- memory-bound operators -----------------------------------------------------------------------------------------

Seconds memory_prediction(const Observation& row, const FormConstants&, const KernelRates& rates) {
  const auto& arguments = std::get<MemoryArguments>(row.arguments);
  const double again = reread_passes(arguments.rows, arguments.row_elements, row.element, rates);
  constexpr double kPasses = 2.0;  // that `bytes` of a row-wise kernel count
  const Seconds more = (arguments.kernels - 1.0) * rates.launch;
  return more + memory_bound_time((1.0 + again / kPasses) * arguments.bytes, 1.0, rates).time;
}

/// Numbers moved one at a time, on top of the bytes: what a pass reads again comes from the cache where that holds the array.
Seconds single_access_prediction(const Observation& row, const FormConstants&, const KernelRates& rates) {
  const auto& arguments = std::get<BatchNormArguments>(row.arguments);
  const Bytes all = arguments.passes * arguments.array;
  const Bytes moved = arguments.array > rates.cache ? all : row.bytes;
  return single_access_time(all, row.element, all / moved, rates).time;
}

// Launches believed of kernels back to back: DeepBench floors are 1 to 30 us; a convolution runs several kernels, a step of
// a recurrent layer a few and waits for each.
constexpr std::array<FitFamily, 12> kFamilies{{
    {"convolution", "conv", true, Seconds(20e-6), 0.8, convolution_observation, convolution_form, convolution_prediction},
    {"gemm", "gemm", true, Seconds(8e-6), 0.8, gemm_observation, gemm_form, gemm_prediction},
    {"recurrent", "rnn", true, Seconds(30e-6), 0.7, recurrent_observation, recurrent_form, recurrent_prediction},
    {"attention", "attention", true, Seconds(1e-6), 0.8, attention_observation, attention_form, attention_prediction, 1.0, 0.05,
     true},
    {"memory_bound", "elementwise", false, Seconds(4e-6), 0.8, memory_observation, no_form, memory_prediction},
    {"single_access", "batch_norm", true, Seconds(4e-6), 0.8, batch_norm_observation, no_form, single_access_prediction, 0.0,
     0.15, false, true},
    {"softmax", "softmax", false, Seconds(4e-6), 0.7, row_observation, no_form, memory_prediction},
    {"layer_norm", "layer_norm", false, Seconds(4e-6), 0.6, row_observation, no_form, memory_prediction},
    {"rms_norm", "rms_norm", false, Seconds(1e-6), 0.85, row_kernel_observation, row_kernel_form, row_kernel_prediction, 0.0,
     0.15, true},
    {"rope", "rope", false, Seconds(1e-6), 0.85, row_kernel_observation, row_kernel_form, row_kernel_prediction, 0.0, 0.15, true},
    {"gated_activation", "gated_activation", false, Seconds(1e-6), 0.85, row_kernel_observation, row_kernel_form,
     row_kernel_prediction, 0.0, 0.15, true},
    {"experts", "experts", true, Seconds(1e-6), 0.85, expert_observation, expert_form, expert_prediction, 0.7, 0.15, true},
}};

}  // namespace

std::span<const FitFamily> fit_families() { return kFamilies; }

const FitFamily* family_of_samples(std::string_view samples) {
  // One read and one write of every element, as elementwise kernels do.
  if (samples == "dropout" || samples == "optimizer" || samples == "copy") samples = "elementwise";
  const auto* const found =
      std::find_if(kFamilies.begin(), kFamilies.end(), [&](const FitFamily& row) { return row.samples == samples; });
  return found == kFamilies.end() ? nullptr : &*found;
}

const FitFamily* family_of_parameters(std::string_view name) {
  const auto* const found =
      std::find_if(kFamilies.begin(), kFamilies.end(), [&](const FitFamily& row) { return row.name == name; });
  return found == kFamilies.end() ? nullptr : &*found;
}

}  // namespace tbdsim::calibrate
