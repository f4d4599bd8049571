// Samples that the cost models themselves made: the fit must find the efficiencies they were made with.
#include "calibrate/fit/kernel_fit.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "calibrate/fit/fit_family.hpp"
#include "calibrate/fit/transfer_sigma.hpp"
#include "model/cost/transfer.hpp"
#include "tests/architectures.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;

namespace {

constexpr unsigned kSeed = 7;

Device board(const std::string& id, double tera_flops, double giga_bytes, int multiprocessors) {
  Device d;
  d.id = d.name = id;
  name_architecture(d, "Pascal");
  d.memory_kind = "HBM2";
  d.multiprocessors = multiprocessors;
  d.peak.fp32 = FlopPerSecond(tera_flops * 1e12);
  d.memory_bandwidth = BytesPerSecond(giga_bytes * 1e9);
  d.power_limit = Watts(250.0);
  return d;
}

/// What two boards really reach; in logarithms their mean lies near the prior, so shared scales have nothing to absorb.
struct Truth {
  Device device;
  double compute, bandwidth;
};
const std::vector<Truth> kTruth{{board("slow", 6, 320, 24), 0.78, 0.84}, {board("fast", 11, 700, 56), 0.92, 0.76}};

std::map<std::string, Device> devices() {
  std::map<std::string, Device> all;
  for (const Truth& t : kTruth) all[t.device.id] = t.device;
  return all;
}

KernelRates rates(const Truth& t, Seconds launch) {
  return {t.device.peak.fp32 * t.compute, t.device.memory_bandwidth * t.bandwidth, launch, t.device.multiprocessors};
}

Sample sample(const Truth& t, const char* family, const char* op, const char* pass) {
  Sample s;
  s.device = t.device.id;
  s.family = family;
  s.op = op;
  s.precision = "fp32";
  s.pass = pass;
  s.library = "cudnn 7.0.5";
  return s;
}

double scatter(std::mt19937& random) { return std::exp(std::normal_distribution<double>(0.0, 0.05)(random)); }

std::vector<Sample> products(std::mt19937& random) {
  TileConstants tiles;  // the shared constants that the fit starts from
  tiles.reread = 0.05;
  std::vector<Sample> all;
  for (const Truth& t : kTruth) {
    for (const std::int64_t m : {128, 512, 1760, 4096}) {
      for (const std::int64_t n : {16, 64, 700, 3000}) {
        for (const std::int64_t k : {512, 1760, 4096}) {
          Sample s = sample(t, "gemm", "matmul", "forward");
          s.shape = {{"b", 1}, {"m", m}, {"n", n}, {"k", k}, {"ta", 0}, {"tb", 0}};
          const GemmShape shape{static_cast<double>(m), static_cast<double>(n), static_cast<double>(k), 1};
          s.time = scatter(random) * gemm_time(shape, Bytes(4.0), tiles, rates(t, 8.0_us)).time;
          all.push_back(s);
        }
      }
    }
  }
  return all;
}

std::vector<Sample> convolutions(std::mt19937& random) {
  ConvolutionConstants constants;  // the shared constants that the fit starts from
  constants.tiles.prologue_depth = 14;
  constants.tiles.tile_penalty = 5;
  constants.backward_data = {1, 1, 2, 3};
  constants.scatter_passes = 2;
  constants.winograd_filter_passes = 1;
  std::vector<Sample> all;
  for (const Truth& t : kTruth) {
    for (const std::int64_t n : {16, 64}) {
      for (const auto& [c, h, k, r, stride] : std::vector<std::array<std::int64_t, 5>>{{64, 56, 64, 1, 1},
                                                                                       {256, 28, 512, 1, 2},
                                                                                       {128, 28, 128, 3, 1},
                                                                                       {512, 14, 512, 3, 1},
                                                                                       {128, 56, 128, 3, 2},
                                                                                       {3, 224, 64, 7, 2},
                                                                                       {192, 27, 256, 5, 1},
                                                                                       {256, 56, 64, 1, 1},
                                                                                       {1024, 14, 256, 1, 1},
                                                                                       {256, 14, 256, 3, 2}}) {
        for (const char* pass : {"forward", "backward_data", "backward_weights"}) {
          Sample s = sample(t, "conv", "conv", pass);
          s.shape = {{"n", n},
                     {"c", c},
                     {"h", h},
                     {"w", h},
                     {"k", k},
                     {"r", r},
                     {"s", r},
                     {"stride_h", stride},
                     {"stride_w", stride},
                     {"pad_h", r / 2},
                     {"pad_w", r / 2},
                     {"dilation", 1},
                     {"groups", 1}};
          s.time = Seconds(1.0);
          const Observation row = convolution_observation(s).value();
          s.time = scatter(random) * family_of_samples("conv")->time(row, constants, rates(t, 20.0_us));
          all.push_back(s);
        }
      }
    }
  }
  return all;
}

std::vector<Sample> elementwise(std::mt19937& random) {
  std::vector<Sample> all;
  for (const Truth& t : kTruth) {
    for (std::int64_t elements = 20'000'000; elements < 200'000'000; elements += 10'000'000) {
      Sample s = sample(t, "elementwise", "add", "forward");
      s.shape = {{"elements", elements}, {"inputs", 2}, {"outputs", 1}};
      s.time = scatter(random) * (Bytes(static_cast<double>(elements) * 12) / rates(t, 0.0_us).bandwidth);
      all.push_back(s);
    }
  }
  return all;
}

const BoardParameters& fitted(const KernelFit& fit, const std::string& device, std::string_view family) {
  for (const BoardParameters& b : fit.constants.boards)
    if (b.device == device && b.parameters.family == family) return b;
  FAIL("no " << family << " of " << device);
  return fit.constants.boards.front();
}

void check_recovered(const std::vector<Sample>& samples, const char* family, bool compute) {
  const auto fit = fit_kernels(samples, devices());
  REQUIRE(fit);
  INFO("seed " << kSeed);
  for (const Truth& t : kTruth) {
    const FamilyParameters& p = fitted(*fit, t.device.id, family).parameters;
    INFO(t.device.id << " compute " << p.compute_efficiency << " bandwidth " << p.bandwidth_efficiency);
    if (compute)
      CHECK_THAT(p.compute_efficiency, WithinRel(t.compute, 0.03));
    else
      CHECK_THAT(p.bandwidth_efficiency, WithinRel(t.bandwidth, 0.03));
    // Kernels below 5 us do not count.
    const auto counted = std::count_if(samples.begin(), samples.end(),
                                       [&](const Sample& s) { return s.device == t.device.id && s.time >= Seconds(5e-6); });
    CHECK(p.samples == counted);
    CHECK(p.spread < 0.10);  // the scatter that was put in is 0.05
    CHECK(p.source.rfind("fitted: ", 0) == 0);
  }
}

std::string refusal(const std::vector<Sample>& samples) {
  const auto fit = fit_kernels(samples, devices());
  return fit ? "" : to_text(fit.error());
}

}  // namespace

TEST_CASE("matrix products: compute efficiencies within 3 %") {
  std::mt19937 random(kSeed);
  check_recovered(products(random), "gemm", true);
}

TEST_CASE("convolutions of three passes: compute efficiencies within 3 %") {
  std::mt19937 random(kSeed);
  check_recovered(convolutions(random), "convolution", true);
}

TEST_CASE("elementwise kernels: bandwidth efficiencies within 3 %") {
  std::mt19937 random(kSeed);
  check_recovered(elementwise(random), "memory_bound", false);
}

TEST_CASE("a fit of everything describes its boards and reads back as written") {
  std::mt19937 random(kSeed);
  std::vector<Sample> all = products(random);
  for (auto part : {convolutions(random), elementwise(random)}) all.insert(all.end(), part.begin(), part.end());
  auto fit = fit_kernels(all, devices());
  REQUIRE(fit);
  CHECK(fit->constants.boards.size() == 6);
  CHECK(fit->constants.convolution.count("cudnn7") == 1);
  CHECK(fit->constants.convolution.count("cudnn8") == 1);  // inherited, and said so
  CHECK_FALSE(fit->notes.empty());
  const BoardParameters& b = fitted(*fit, "slow", "gemm");
  CHECK(b.architecture == "Pascal");
  CHECK(b.limits.power_limit == Watts(250.0));
  fit->constants.source = "fitted: a test";
  AttentionConstants& attention = fit->constants.attention["flash-2"];
  attention.forward = {0.91, 0.5, 60.0, 0.4};
  attention.backward = {0.6, 0.4, 150.0, 0.9};
  attention.wide = 0.9;
  attention.window = 70.0;
  attention.start = Seconds(3.2e-6);
  fit->constants.row_kernels["rope-vllm"] = {Seconds(0.7e-6), 1.0, 6.6, 668.0, 1340.0};
  fit->constants.experts["cutlass"] = {Seconds(29e-6), 1.0, 220.0, 1.4, 0.33, 0.96};
  fit->constants.spread.source = "assumed: a test";
  const std::string path = TBDSIM_BINARY_DIR "/fitted_kernels.toml";
  std::ofstream(path) << to_toml(*fit);
  const auto read = read_kernel_constants(path, all_architectures());
  INFO((read ? std::string() : to_text(read.error())));
  REQUIRE(read);
  REQUIRE(read->boards.size() == 6);
  for (const BoardParameters& written : fit->constants.boards) {  // the file holds every board once, with its families
    const auto found = std::find_if(read->boards.begin(), read->boards.end(), [&](const BoardParameters& board) {
      return board.device == written.device && board.parameters.family == written.parameters.family &&
             board.parameters.precision == written.parameters.precision;
    });
    REQUIRE(found != read->boards.end());
    CHECK_THAT(found->parameters.compute_efficiency, WithinRel(written.parameters.compute_efficiency, 1e-3));
    CHECK_THAT(found->parameters.launch.base(), WithinRel(written.parameters.launch.base(), 1e-2));
  }
  const AttentionConstants& flash = read->attention.at("flash-2");
  CHECK(flash.forward.share == 0.91);
  CHECK(flash.forward.tail == 0.4);
  CHECK(flash.backward.prologue == 150.0);
  CHECK(flash.wide == 0.9);
  CHECK(flash.window == 70.0);
  CHECK_THAT(flash.start.base(), WithinRel(3.2e-6, 1e-12));
  CHECK(read->row_kernels.at("rope-vllm").row_clocks == 1340.0);
  CHECK(read->row_kernels.at("rope-vllm").flight == 6.6);
  CHECK(read->experts.at("cutlass").reread == 0.33);
  CHECK_THAT(read->gemm.at("fp32").prologue_depth, WithinRel(fit->constants.gemm.at("fp32").prologue_depth, 1e-3));
}

TEST_CASE("samples nobody can use, to the letter") {
  std::mt19937 random(kSeed);
  Sample stranger = elementwise(random).front();
  stranger.device = "unheard-of";
  stranger.line = 7;
  Sample other = stranger;
  other.line = 9;
  CHECK(refusal({stranger, other}) ==
        "line 7: device \"unheard-of\" is not described\nline 9: device \"unheard-of\" is not described\n");
  std::vector<Sample> few = elementwise(random);
  few.resize(3);
  const auto timed = [&](double seconds, bool call) {
    for (Sample& s : few) {
      s.time = Seconds(seconds);
      s.call_timing = call;
    }
    return few;
  };
  const std::string nothing =
      "nothing can be fitted: no family has 3 shapes, enough to tell arithmetic, bandwidth and launch apart, of 5 us or more\n";
  CHECK(refusal(timed(4.9e-6, false)) == nothing);
  CHECK(refusal(timed(5e-6, false)).empty());
  CHECK(refusal(timed(5e-6, true)).empty());                    // short calls tell of their host
  CHECK(refusal({few[0], few[0], few[0], few[1]}) == nothing);  // two shapes
}

TEST_CASE("which library generation describes a sample") {
  CHECK(library_generation("cudnn 4; torch7") == "cudnn5");
  CHECK(library_generation("cudnn 5.1") == "cudnn5");
  CHECK(library_generation("cudnn 6.0") == "cudnn6");
  CHECK(library_generation("cudnn 7.0.5") == "cudnn7");
  CHECK(library_generation("pytorch 2.1.0; cuda 12.1; cudnn 8.9.2") == "cudnn8");
  CHECK(library_generation("cudnn 9.1") == "cudnn8");
  CHECK(library_generation("miopen 1.3; rocm 1.7.1") == "miopen1");
  CHECK(library_generation("") == "cudnn7");
}

TEST_CASE("kernels of matrix products by architecture, what is missing comes from the nearest") {
  CHECK(product_kernels("cudnn5", chip("Kepler 2.0")) == "cudnn5-maxwell");
  CHECK(product_kernels("cudnn6", chip("Pascal")) == "cudnn6-maxwell");
  CHECK(product_kernels("cudnn7", chip("Turing")) == "cudnn7-volta");
  CHECK(product_kernels("cudnn8", chip("Ada Lovelace")) == "cudnn8-ampere");
  CHECK(product_kernels("miopen1", chip("GCN 5.0")) == "miopen1");
  KernelConstants constants;
  CHECK(gemm_constants(constants, false, "cudnn8", chip("Pascal")) == nullptr);
  for (const char* name : {"fp32", "fp32-cudnn5-maxwell", "fp32-cudnn6-maxwell", "fp32-cudnn8-maxwell", "fp32-cudnn8-volta",
                           "fp32-miopen1", "tensor-cudnn7-volta"})
    constants.gemm[name] = {};
  const auto takes = [&](bool tensor, const char* generation, const char* architecture) {
    const TileConstants* found = gemm_constants(constants, tensor, generation, chip(architecture));
    for (const auto& [name, tiles] : constants.gemm) {
      if (&tiles == found) return name;
    }
    return std::string("nothing");
  };
  CHECK(takes(false, "cudnn6", "Pascal") == "fp32-cudnn6-maxwell");
  CHECK(takes(false, "cudnn7", "Pascal") == "fp32-cudnn8-maxwell");  // the newer of two as near
  CHECK(takes(false, "cudnn4", "Kepler") == "fp32-cudnn5-maxwell");
  CHECK(takes(false, "cudnn8", "Hopper") == "fp32-cudnn8-volta");
  CHECK(takes(true, "cudnn8", "Ampere") == "tensor-cudnn7-volta");
  CHECK(takes(false, "miopen1", "CDNA 1") == "fp32-miopen1");
  CHECK(takes(false, "cudnn8", "CDNA 1") == "fp32");
}

TEST_CASE("boards that disagree widen what others may borrow, those that agree narrow it, and borrowing is never surer") {
  const auto sigma_of = [](const std::vector<double>& shares) {
    KernelConstants constants;
    DeviceMap map;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      Device d = board("board " + std::to_string(i), 10.0, 500.0, 20 + static_cast<int>(i));
      BoardParameters row;
      row.device = d.id;
      name_architecture(row, d.architecture);
      row.memory_kind = d.memory_kind;
      row.multiprocessors = d.multiprocessors;
      row.limits = clock_limits(d);
      row.parameters = {"gemm", "fp32", shares[i], 0.8, Seconds(5e-6), 0.1, 50, "fitted: an example", 0.01, 0.01};
      constants.boards.push_back(row);
      map[d.id] = d;
    }
    fit_transfers(map, constants);
    CHECK(constants.transfers.at("gemm-fp32").boards == static_cast<int>(shares.size()));
    const FamilyParameters borrowed = resolve_parameters(board("another", 10.0, 500.0, 40), "gemm", "fp32", constants).parameters;
    CHECK(borrowed.compute_sigma > 0.05);  // that of every board above: 0.01
    return borrowed.compute_sigma;
  };
  CHECK(sigma_of({0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8}) < 0.1);
  CHECK(sigma_of({0.5, 1.1, 0.5, 1.1, 0.5, 1.1, 0.5, 1.1}) > 0.39);  // their own disagreement
}

TEST_CASE("every precision of tensor cores takes the constants of tensor kernels, where the board has a rate of it") {
  KernelConstants constants;
  constants.gemm["fp32"].reread = 1.0;
  constants.gemm["tensor"].reread = 2.0;
  Device d = board("hopper", 60.0, 3000.0, 132);
  const auto takes = [&](const char* precision) {
    Sample s = sample({d, 1.0, 1.0}, "gemm", "matmul", "forward");
    s.precision = precision;
    s.shape = {{"b", 1}, {"m", 64}, {"n", 64}, {"k", 64}, {"ta", 0}, {"tb", 1}};
    return std::get<TileConstants>(family_of_samples("gemm")->form(*gemm_observation(s), constants, d)).reread;
  };
  CHECK(takes("fp8") == 1.0);
  d.peak.tf32_tensor = d.peak.fp16_tensor = d.peak.bf16_tensor = d.peak.fp8_tensor = FlopPerSecond(1e15);
  for (const char* precision : {"tf32", "fp16", "bf16", "fp8"}) {
    INFO(precision);
    CHECK(takes(precision) == 2.0);
    CHECK(has_rate(d, precision));
  }
  CHECK(takes("fp32") == 1.0);
}
