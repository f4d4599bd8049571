// Goals set on: AMD EPYC (family 26), 2 cores of a shared virtual machine, GCC 12, Release.
#include <fmt/core.h>

#include <array>
#include <vector>

#include "model/cost/convolution.hpp"
#include "model/cost/fused_attention.hpp"
#include "model/cost/gemm.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/step_case.hpp"

namespace tbdsim::bench {

namespace {

constexpr int kRuns = 20;
constexpr Bytes kElement(4.0);
// A V100 at plausible efficiencies; what they are does not change the work.
constexpr KernelRates kRates{FlopPerSecond(12e12), BytesPerSecond(700e9), Seconds(4e-6), 80};

struct NamedConvolution {
  const char* name;
  ConvolutionShape shape;
};
// Every filter class that ResNet and Inception have; the algorithms that exist differ between them.
const std::array<NamedConvolution, 6> kConvolutions{{
    {"7x7 stride 2, first layer", {32, 3, 224, 224, 64, 7, 7, 112, 112, 2, 2, 1}},
    {"3x3, 64 channels", {32, 64, 56, 56, 64, 3, 3, 56, 56, 1, 1, 1}},
    {"1x1, 256 to 64 channels", {32, 256, 56, 56, 64, 1, 1, 56, 56, 1, 1, 1}},
    {"3x3 stride 2, 128 channels", {32, 128, 56, 56, 128, 3, 3, 28, 28, 2, 2, 1}},
    {"3x3, 512 channels", {32, 512, 7, 7, 512, 3, 3, 7, 7, 1, 1, 1}},
    {"5x5, 48 to 64 channels", {32, 48, 35, 35, 64, 5, 5, 35, 35, 1, 1, 1}},
}};
constexpr std::array kAll{ConvolutionAlgorithm::implicit_gemm, ConvolutionAlgorithm::direct, ConvolutionAlgorithm::winograd_fused,
                          ConvolutionAlgorithm::winograd_nonfused, ConvolutionAlgorithm::fft};

/// Shapes that differ from call to call, as the layers of a network do.
std::vector<GemmShape> gemm_shapes() {
  std::vector<GemmShape> shapes;
  for (const double m : {64.0, 512.0, 2048.0, 25088.0, 100352.0}) {
    for (const double n : {64.0, 256.0, 1000.0, 4096.0}) {
      for (const double k : {64.0, 576.0, 4096.0, 25088.0}) shapes.push_back({m, n, k});
    }
  }
  return shapes;
}

/// Causal attention from 64 to 131,072 rows: as long as a product, whatever the length.
void attention(Report& report) {
  constexpr int kRounds = 100;
  std::vector<AttentionShape> shapes;
  for (double rows = 64; rows <= 131072; rows *= 2) {
    for (const double width : {64.0, 128.0, 256.0})
      for (const double window : {0.0, 1024.0}) shapes.push_back({4, 32, rows, rows, width, true, 8, 0, window});
  }
  const int calls = kRounds * static_cast<int>(shapes.size());
  for (const AttentionKernel kernel : {AttentionKernel::flash_2, AttentionKernel::flash_3}) {
    for (const bool backward : {false, true}) {
      report.each(fmt::format("attention, {}{}", info(kernel).name, backward ? ", backward" : ""), Seconds(300e-9), kRuns, calls,
                  [&] {
                    FusedAttention means;
                    means.kernel = &info(kernel);
                    for (int round = 0; round < kRounds; ++round) {
                      for (const AttentionShape& shape : shapes) keep(fused_attention_time(shape, backward, means, kRates));
                    }
                  });
    }
  }
}

void gemm(Report& report) {
  constexpr int kRounds = 100;
  const std::vector<GemmShape> shapes = gemm_shapes();
  const int calls = kRounds * static_cast<int>(shapes.size());
  for (const int max_split : {1, 32, 128}) {
    TileConstants constants;
    constants.max_split = max_split;
    report.each(fmt::format("gemm, k split by up to {}", max_split), Seconds(200e-9), kRuns, calls, [&] {
      for (int round = 0; round < kRounds; ++round) {
        for (const GemmShape& shape : shapes) keep(gemm_time(shape, kElement, constants, kRates));
      }
    });
  }
}

void convolution(Report& report) {
  constexpr int kCalls = 10'000;
  const ConvolutionConstants constants = kernel_constants().convolution.at("cudnn7");
  for (const auto& [name, shape] : kConvolutions) {
    for (const auto& [pass, pass_name] : {std::pair{ConvolutionPass::forward, "forward"},
                                          {ConvolutionPass::backward_data, "data gradient"},
                                          {ConvolutionPass::backward_weights, "weight gradient"}}) {
      report.each(fmt::format("convolution {}, {}", name, pass_name), Seconds(1e-6), kRuns, kCalls, [&, s = shape, p = pass] {
        for (int i = 0; i < kCalls; ++i) keep(fastest_convolution(s, p, kAll, std::nullopt, kElement, constants, kRates));
      });
    }
  }
}

}  // namespace

void bench_cost(Report& report) {
  gemm(report);
  attention(report);
  convolution(report);
}

}  // namespace tbdsim::bench
