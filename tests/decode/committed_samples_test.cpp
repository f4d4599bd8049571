// The sample files of calibrate/samples: they parse, name devices of the catalogue, and claim nothing a GPU cannot do.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "calibrate/decode/sample_table.hpp"
#include "model/hardware/cluster.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;

namespace {

const std::string kRoot = TBDSIM_SOURCE_DIR;

const std::map<std::string, std::vector<Sample>>& committed() {
  static const auto kFiles = [] {
    std::map<std::string, std::vector<Sample>> files;
    for (const auto& entry : std::filesystem::directory_iterator(kRoot + "/calibrate/samples")) {
      if (entry.path().extension() != ".csv") continue;
      auto samples = read_samples(entry.path().string());
      if (!samples) FAIL(to_text(samples.error()));
      files[entry.path().stem().string()] = std::move(*samples);
    }
    return files;
  }();
  return kFiles;
}

const Device& device(const std::string& id) {
  static std::map<std::string, Device> cache;
  if (const auto found = cache.find(id); found != cache.end()) return found->second;
  auto loaded = load_device({kRoot}, id);
  if (!loaded) FAIL(to_text(loaded.error()));
  return cache.emplace(id, std::move(*loaded)).first->second;
}

/// Achieved over listed rate of a matrix product; 16-bit storage alone leaves fp32 arithmetic.
double share_of_peak(const Sample& s) {
  const Flop work(2.0 * s.at("b") * s.at("m") * s.at("n") * s.at("k"));
  const PeakRates& peak = device(s.device).peak;
  const FlopPerSecond rate = s.precision == "fp32" || s.flagged("fp16-in-fp32-math") ? peak.fp32
                             : s.precision == "fp8"                                  ? *peak.fp8_tensor
                                                                                     : *peak.fp16_tensor;
  return work / s.time / rate;
}

}  // namespace

TEST_CASE("every sample file parses, says where it comes from and names boards of the catalogue by id") {
  REQUIRE(committed().size() == 19);
  std::uintmax_t bytes = 0;
  for (const auto& [name, samples] : committed()) {
    INFO(name);
    bytes += std::filesystem::file_size(kRoot + "/calibrate/samples/" + name + ".csv");
    for (const Sample& sample : samples) {
      if (sample.source.empty() || sample.library.empty()) FAIL_CHECK("line " << sample.line);
      if (!std::filesystem::exists(kRoot + "/hardware/gpus/" + sample.device + ".toml")) FAIL_CHECK(sample.device);
    }
  }
  CHECK(bytes < 10'000'000);  // what a checkout is asked to carry
}

TEST_CASE("no matrix product is faster than its board") {
  // Boards run up to a tenth above the listed boost clock; fp32 matrix cores of the MI100 have twice the vector rate.
  constexpr double kAboveBoost = 1.1, kMatrixCores = 2.0;
  std::map<std::string, double> best;
  for (const auto& [name, samples] : committed()) {
    for (const Sample& sample : samples) {
      if (sample.family != "gemm") continue;
      const double share = share_of_peak(sample);
      const double limit = sample.flagged("matrix-cores") ? kMatrixCores : kAboveBoost;
      if (share > limit) FAIL_CHECK(name << " line " << sample.line << ": " << share << " of the peak");
      double& top = best[sample.device + " " + sample.precision];
      top = std::max(top, share);
    }
  }
  // A wrong unit, precision or board in the other direction: some large product gets half of every board's rate.
  CHECK(best.size() == 27);  // boards, with each of their precisions
  for (const auto& [board, share] : best) {
    INFO(board << " reaches " << share);
    CHECK(share > 0.5);
  }
}

TEST_CASE("no attention kernel is faster than its board, passes, windows and heads of keys came over") {
  std::map<std::string, int> count;
  for (const char* name : {"modern_attention", "modern_attention_training"}) {
    for (const Sample& s : committed().at(name)) {
      INFO(name << " line " << s.line);
      const PeakRates& peak = device(s.device).peak;
      const double seen = s.at("window") > 0 ? std::min(1.0, 2.0 * s.at("window") / s.at("sk")) : 1.0;
      const double scores = s.at("b") * s.at("heads") * s.at("sq") * s.at("sk") * (s.at("causal") != 0 ? 0.5 * seen : 1.0);
      const double values = s.at("d_v") == 0 ? s.at("d") : s.at("d_v");
      const Flop work(2.0 * scores * (s.at("d") + values) * (s.pass == "backward" ? 2.0 : 1.0));
      CHECK(work / s.time < (s.precision == "fp8" ? *peak.fp8_tensor : *peak.bf16_tensor));
      CHECK((s.at("kv_heads") == 0 || std::fmod(s.at("heads"), s.at("kv_heads")) == 0.0));
      ++count[s.pass];
      ++count[s.at("window") > 0 ? "window" : "whole"];
      ++count[s.at("causal") != 0 ? "causal" : "full"];
    }
  }
  CHECK(count["forward"] > 5000);
  CHECK(count["backward"] > 30);
  CHECK(count["window"] > 100);
  CHECK(count["full"] > 900);
}

TEST_CASE("column-major products became row-major ones") {
  // Published as C[m=1760, n=16], k = 1760, neither operand transposed: 59 us on the MI25. Its transpose is 16 x 1760.
  const auto& samples = committed().at("deepbench_gemm");
  const auto find = [&](double m, double n, double k, double ta, double tb) {
    return std::find_if(samples.begin(), samples.end(), [&](const Sample& s) {
      return s.device == "mi25" && s.at("m") == m && s.at("n") == n && s.at("k") == k && s.at("ta") == ta && s.at("tb") == tb;
    });
  };
  const auto plain = find(16, 1760, 1760, 0, 0);
  REQUIRE(plain != samples.end());
  CHECK(plain->time == Seconds(59e-6));
  CHECK(find(1760, 16, 1760, 0, 0) == samples.end());
  // The first published operand's transposition (1022 + 140 rows over all boards) is the second's here, and the reverse.
  const auto count = [&](double ta, double tb) {
    return std::count_if(samples.begin(), samples.end(), [&](const Sample& s) { return s.at("ta") == ta && s.at("tb") == tb; });
  };
  CHECK(count(0, 1) == 1022 / 14 * 13);  // 14 sheets were published, the CPU's is left out
  CHECK(count(1, 0) == 140 / 14 * 13);
  CHECK(count(1, 1) == 0);
}

TEST_CASE("each published convolution gives its passes, first layers and fractional outputs flagged") {
  for (const Sample& s : committed().at("deepbench_conv")) {
    INFO("line " << s.line);
    const bool first = s.pass == "backward_data" && s.at("c") <= 4;
    const bool fractional = s.at("h") == 7 && s.at("c") == 2048 && s.at("pad_h") == 3;
    if (s.flagged("first-layer") != first || s.flagged("fractional-output") != fractional || s.call_timing) FAIL_CHECK(s.flags);
    if (s.algorithm.empty() != (s.pass != "forward")) FAIL_CHECK(s.algorithm);  // the sheets name the forward one
  }
}

TEST_CASE("one framework call is told from kernels timed back to back") {
  for (const auto& [name, samples] : committed()) {
    INFO(name);
    const bool calls = name.rfind("neusight", 0) == 0;
    CHECK(std::all_of(samples.begin(), samples.end(), [&](const Sample& s) { return s.call_timing == calls; }));
  }
}
