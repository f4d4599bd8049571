#include "calibrate/fit/observations.hpp"

#include <algorithm>
#include <cmath>

namespace tbdsim::calibrate {
namespace {

// Shorter kernels are rounded to 1 us in the published sheets, a tenth of such a time.
constexpr Seconds kShortestKernel(20e-6);
// A single call also times the launch from the host, 25 to 65 us in the published tables.
constexpr Seconds kShortestCall(200e-6);

Bytes element_of(const std::string& precision) { return precision == "fp32" || precision == "tf32" ? Bytes(4.0) : Bytes(2.0); }

bool too_short(const Sample& sample) { return sample.time < (sample.call_timing ? kShortestCall : kShortestKernel); }

/// Algorithms that may have run: what the sample names, else everything.
std::vector<ConvolutionAlgorithm> menu(const std::string& algorithm) {
  using A = ConvolutionAlgorithm;
  if (algorithm.find("winograd") != std::string::npos) return {A::winograd_fused, A::winograd_nonfused};
  if (algorithm.find("fft") != std::string::npos) return {A::fft};
  return {A::implicit_gemm, A::winograd_fused, A::winograd_nonfused, A::fft};
}

}  // namespace

std::string library_generation(const std::string& library) {
  if (library.find("miopen") != std::string::npos) return "miopen1";
  const std::size_t at = library.find("cudnn ");
  const char major = at == std::string::npos || at + 6 >= library.size() ? '7' : library[at + 6];
  return major <= '6' ? "cudnn5" : major == '7' ? "cudnn7" : "cudnn8";
}

std::optional<ConvolutionObservation> convolution_observation(const Sample& sample) {
  if (sample.family != "conv" || too_short(sample) || sample.flagged("fp16-in-fp32-math") || sample.at("groups") != 1 ||
      sample.at("dilation") != 1)
    return std::nullopt;
  const bool data = sample.pass == "backward_data";
  // One input channel: another kernel (a direct one) runs, except for the gradient that hardly anybody needs.
  if (sample.at("c") == 1 && !data) return std::nullopt;
  ConvolutionObservation result;
  ConvolutionShape& s = result.shape;
  s = {sample.at("n"),
       sample.at("c"),
       sample.at("h"),
       sample.at("w"),
       sample.at("k"),
       sample.at("r"),
       sample.at("s"),
       1,
       1,
       sample.at("stride_h"),
       sample.at("stride_w"),
       1};
  s.p = std::floor((s.h + 2 * sample.at("pad_h") - s.r) / s.stride_h) + 1;
  s.q = std::floor((s.w + 2 * sample.at("pad_w") - s.s) / s.stride_w) + 1;
  if (s.p < 1 || s.q < 1) return std::nullopt;
  result.pass = sample.pass == "forward" ? ConvolutionPass::forward
                : data                   ? ConvolutionPass::backward_data
                                         : ConvolutionPass::backward_weights;
  result.offered = menu(sample.algorithm);
  result.element = element_of(sample.precision);
  result.time = sample.time;
  return result;
}

std::optional<GemmObservation> gemm_observation(const Sample& sample) {
  if (sample.family != "gemm" || too_short(sample) || sample.flagged("fp16-in-fp32-math") || sample.flagged("matrix-cores"))
    return std::nullopt;
  return GemmObservation{
      {sample.at("m"), sample.at("n"), sample.at("k"), sample.at("b")}, element_of(sample.precision), sample.time, 0};
}

std::optional<MemoryObservation> memory_observation(const Sample& sample) {
  if (sample.family != "elementwise" || too_short(sample) || sample.op == "pow") return std::nullopt;  // pow computes
  const Bytes bytes = sample.at("elements") * (sample.at("inputs") + sample.at("outputs")) * element_of(sample.precision);
  // Below several times the last-level cache, data may come from there.
  constexpr Bytes kBeyondCache(64e6);
  if (bytes < kBeyondCache) return std::nullopt;
  return MemoryObservation{bytes, sample.time, 0};
}

Seconds fastest_of(const ConvolutionObservation& row, const ConvolutionConstants& constants, const KernelRates& rates) {
  Seconds best(INFINITY);
  for (const ConvolutionAlgorithm algorithm : row.offered) {
    if (const auto time = convolution_time(row.shape, row.pass, algorithm, row.element, constants, rates))
      best = std::min(best, time->time);
  }
  // The named algorithm cannot run this shape (a library's own variant): the plain product then stands for it.
  if (!std::isfinite(best.base()))
    best = convolution_time(row.shape, row.pass, ConvolutionAlgorithm::implicit_gemm, row.element, constants, rates)->time;
  return best;
}

FlopPerSecond peak_for(const Device& device, const std::string& precision) {
  if (precision == "fp32") return device.peak.fp32;
  if (precision == "tf32") return device.peak.tf32_tensor.value_or(device.peak.fp32);
  if (precision == "bf16") return device.peak.bf16_tensor.value_or(device.peak.fp32);
  return device.peak.fp16_tensor.value_or(device.peak.fp16_vector.value_or(device.peak.fp32));
}

}  // namespace tbdsim::calibrate
