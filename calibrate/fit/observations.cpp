#include "calibrate/fit/observations.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tbdsim::calibrate {
namespace {

// Times in the published sheets are rounded to 1 us: of shorter kernels more than a tenth.
constexpr Seconds kShortestKernel(5e-6);
// F(4x4,3x3) multiplies a fourth as often as the direct method; FFT of large filters can save more.
constexpr double kMostSaved = 6.0;

/// Algorithms that may have run: what the sample names, else everything. Empty where a plan asked for a variant that a
/// library takes only for lack of workspace: its time says nothing of the forms below.
std::vector<ConvolutionAlgorithm> menu(const Sample& sample) {
  using A = ConvolutionAlgorithm;
  const std::string& algorithm = sample.algorithm;
  if (algorithm.find("winograd") != std::string::npos) return {A::winograd_fused, A::winograd_nonfused};
  if (algorithm.find("fft") != std::string::npos) return {A::fft};
  if (!sample.flagged("named-algorithm")) {
    std::vector<A> any{A::implicit_gemm, A::winograd_fused, A::winograd_nonfused, A::fft};
    const std::string arithmetic = arithmetic_class(sample);
    if (arithmetic != "fp32") std::erase_if(any, [&](A a) { return !has_tensor_kernels(a, arithmetic); });
    return any;
  }
  const bool precomputed = algorithm == "implicit_precomp_gemm" || algorithm == "algo_1";
  return precomputed ? std::vector{A::implicit_gemm} : std::vector<A>{};
}

}  // namespace

Bytes element_of(std::string_view precision) {
  return precision == "fp32" || precision == "tf32" ? Bytes(4.0) : precision == "fp8" ? Bytes(1.0) : Bytes(2.0);
}

std::string arithmetic_class(const Sample& sample) {
  return sample.precision == "fp32" && sample.flagged("matrix-cores") ? "fp32-tensor" : sample.precision;
}

Observation common_observation(const Sample& sample) {
  Observation result;
  result.pass = sample.pass;
  result.op = sample.op;
  result.precision = arithmetic_class(sample);
  result.element = element_of(sample.precision);
  result.time = sample.time;
  result.call = sample.call_timing;
  result.quantizes = sample.flagged("quantizes");
  result.shapes_before = sample.flag_value("shapes_before").value_or(0.0);
  result.long_enough = sample.time >= kShortestKernel;
  result.line = sample.line;
  return result;
}

std::string_view library_generation(std::string_view library) {
  if (library.find("rocm 6") != std::string_view::npos) return "miopen3";
  if (library.find("miopen") != std::string_view::npos) return "miopen1";
  for (const std::string_view name : {"cutlass", "deepgemm", "trtllm"}) {
    if (library.rfind(name, 0) == 0) return name;
  }
  if (library.rfind("cublas;", 0) == 0) return "cudnn8";  // the cuBLAS of its day
  const std::size_t at = library.find("cudnn ");
  // What `calibrate collect` writes on a machine without cuDNN.
  if (at == std::string_view::npos && library.find("cublaslt ") != std::string_view::npos) return "cudnn8";
  const char major = at == std::string_view::npos || at + 6 >= library.size() ? '7' : library[at + 6];
  return major <= '5' ? "cudnn5" : major == '6' ? "cudnn6" : major == '7' ? "cudnn7" : "cudnn8";
}

std::optional<Observation> convolution_observation(const Sample& sample) {
  if (sample.flagged("fp16-in-fp32-math") || sample.at("groups") != 1 || sample.at("dilation") != 1) return std::nullopt;
  const bool data = sample.pass == "backward_data";
  if (!data && sample.pass != "forward" && sample.pass != "backward_weights") return std::nullopt;
  // One input channel: another kernel (a direct one) runs, except for the gradient that hardly anybody needs.
  if (sample.at("c") == 1 && !data) return std::nullopt;
  ConvolutionShape s{sample.at("n"),
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
  Observation result = common_observation(sample);
  const ConvolutionPass pass = sample.pass == "forward" ? ConvolutionPass::forward
                               : data                   ? ConvolutionPass::backward_data
                                                        : ConvolutionPass::backward_weights;
  result.flop = Flop(2.0 * s.n * s.k * s.p * s.q * s.c * s.r * s.s);
  const bool clever = s.r * s.s > 1 && s.stride_h == 1 && s.stride_w == 1;
  result.least_flop = clever ? result.flop / kMostSaved : result.flop;
  result.bytes = (s.n * s.c * s.h * s.w + s.k * s.c * s.r * s.s + s.n * s.k * s.p * s.q) * result.element;
  // Convolution kernels of cuDNN 4 to 6 are alike; matrix products changed with cuBLAS 8.0.88, of cuDNN 6's day.
  result.generation = library_generation(sample.library);
  if (result.generation == "cudnn6") result.generation = "cudnn5";
  // The gradient of an image with one channel is scored, but no guide to that of three.
  if (s.c == 1) result.long_enough = false;
  const auto offered = menu(sample);
  if (offered.empty()) return std::nullopt;
  result.arguments = ConvolutionArguments{s, pass, offered};
  return result;
}

std::optional<Observation> gemm_observation(const Sample& sample) {
  if (sample.flagged("fp16-in-fp32-math")) return std::nullopt;
  const GemmShape shape{sample.at("m"), sample.at("n"),       sample.at("k"),
                        sample.at("b"), sample.at("tb") != 0, static_cast<int>(sample.flag_value("weight_copies").value_or(0.0))};
  Observation result = common_observation(sample);
  result.flop = result.least_flop = Flop(2.0 * shape.m * shape.n * shape.k * shape.count);
  result.bytes = (shape.m * shape.k + shape.k * shape.n + shape.m * shape.n) * shape.count * result.element;
  result.generation = library_generation(sample.library);
  result.arguments = shape;
  return result;
}

std::optional<Observation> memory_observation(const Sample& sample) {
  if (sample.op == "pow" || sample.flagged("hot")) return std::nullopt;  // it computes; no bytes move
  if (sample.family == "copy" && sample.kind != "d2d") return std::nullopt;
  Observation result = common_observation(sample);
  result.precision = "fp32";  // bytes alone count
  double kernels = 1.0;
  if (sample.family == "copy") {
    result.bytes = Bytes(2.0 * sample.at("bytes"));
  } else if (sample.family == "optimizer") {
    // Weight and gradient read, weight written; each state read and written.
    result.bytes = sample.at("elements") * (3.0 + 2.0 * sample.at("states")) * result.element;
    kernels = sample.at("tensors");
  } else {
    result.bytes = sample.at("elements") * (sample.at("inputs") + sample.at("outputs")) * result.element;
  }
  if (result.bytes == Bytes(0.0)) return std::nullopt;
  result.arguments = MemoryArguments{result.bytes, RowKernel::none, 0.0, kernels};
  return result;
}

std::optional<Observation> batch_norm_observation(const Sample& sample) {
  const bool forward = sample.pass == "forward";
  if (element_of(sample.precision) != Bytes(2.0) || sample.flagged("hot") || (!forward && sample.pass != "backward"))
    return std::nullopt;
  Observation result = common_observation(sample);
  result.precision = "fp16";  // one at a time, whichever 16 bits
  const Bytes array = sample.at("n") * sample.at("c") * sample.at("hw") * result.element;
  // Input read, output written; input and gradient read, gradient written.
  result.bytes = (forward ? 2.0 : 3.0) * array;
  result.arguments = BatchNormArguments{array, forward ? 3.0 : 5.0};
  return result;
}

std::optional<Observation> row_observation(const Sample& sample) {
  if (sample.pass != "forward") return std::nullopt;
  Observation result = common_observation(sample);
  result.precision = "fp32";  // bytes alone count
  result.bytes = 2.0 * sample.at("rows") * sample.at("cols") * result.element;
  const RowKernel rows = sample.family == "softmax" ? RowKernel::softmax : RowKernel::layer_norm;
  result.arguments = MemoryArguments{result.bytes, rows, sample.at("cols")};
  return result;
}

bool on_tensor_cores(const Device& device, std::string_view precision) {
  if (precision == "fp32-tensor") return true;
  if (precision == "tf32") return device.peak.tf32_tensor.has_value();
  if (precision == "bf16") return device.peak.bf16_tensor.has_value();
  if (precision == "fp8") return device.peak.fp8_tensor.has_value();
  return precision == "fp16" && device.peak.fp16_tensor.has_value();
}

bool has_rate(const Device& device, std::string_view precision) {
  if (precision == "fp32-tensor") return device.peak.fp32_tensor.has_value();
  return precision == "fp32" || precision == "fp16" || on_tensor_cores(device, precision);
}

std::string rate_key(std::string_view precision) {
  return precision == "fp32-tensor" ? "peak_fp32_tensor" : fmt::format("peak_{}_tensor", precision);
}

FlopPerSecond peak_for(const Device& device, std::string_view precision) {
  if (precision == "fp32") return device.peak.fp32;
  if (precision == "fp32-tensor") return device.peak.fp32_tensor.value_or(device.peak.fp32);
  if (precision == "tf32") return device.peak.tf32_tensor.value_or(device.peak.fp32);
  if (precision == "bf16") return device.peak.bf16_tensor.value_or(device.peak.fp32);
  if (precision == "fp8") return device.peak.fp8_tensor.value_or(device.peak.fp32);
  // Without tensor cores every framework has its libraries multiply in fp32, also where lanes multiply 16 bits faster (P100).
  return device.peak.fp16_tensor.value_or(device.peak.fp32);
}

}  // namespace tbdsim::calibrate
