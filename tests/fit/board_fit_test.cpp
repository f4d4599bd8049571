// Parameters of one board from few and from many samples that the cost model itself made.
#include "calibrate/fit/board_fit.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "calibrate/decode/sample_family.hpp"
#include "calibrate/fit/attention_family.hpp"
#include "calibrate/fit/carry_over.hpp"
#include "calibrate/fit/plausible.hpp"
#include "calibrate/fit/prediction.hpp"
#include "calibrate/fit/recurrent_family.hpp"
#include "calibrate/fit/unused.hpp"
#include "model/cost/board_rates.hpp"
#include "model/cost/transfer.hpp"
#include "model/hardware/hardware_file.hpp"
#include "tests/architectures.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;

namespace {

constexpr unsigned kSeed = 11;
constexpr double kTruth = 0.6;  // share of peak that the samples are made with; relatives say 0.9

Device device() {
  Device d;
  d.id = "new";
  d.name = "Tesla N";
  name_architecture(d, "Pascal");
  d.memory_kind = "GDDR5";
  d.multiprocessors = 30;
  d.fp32_lanes = 128;
  d.peak.fp32 = FlopPerSecond(10e12);
  d.memory_bandwidth = BytesPerSecond(400e9);
  d.memory_capacity = Bytes(8e9);
  d.source = "assumed: a test";
  return d;
}

KernelConstants constants() {
  KernelConstants c;
  c.gemm["fp32"] = TileConstants{};
  BoardParameters relative;
  relative.device = "old";
  name_architecture(relative, "Pascal");
  relative.memory_kind = "GDDR5";
  relative.multiprocessors = 20;
  relative.limits.peak_fp32 = FlopPerSecond(8e12);
  relative.parameters = {"gemm", "fp32", 0.9, 0.8, Seconds(8e-6), 0.1, 100, "fitted: a test"};
  c.boards.push_back(relative);
  return c;
}

std::vector<Sample> samples(std::size_t count) {
  std::mt19937 random(kSeed);
  std::vector<Sample> all;
  const KernelRates rates{device().peak.fp32 * kTruth, device().memory_bandwidth * 0.8, Seconds(8e-6), 30};
  for (std::size_t i = 0; i < count; ++i) {
    Sample s;
    s.device = "new";
    s.family = "gemm";
    s.op = "matmul";
    s.precision = "fp32";
    s.pass = "forward";
    s.library = "cublas 10";
    s.line = static_cast<int>(i) + 2;
    const auto m = static_cast<std::int64_t>(500 + random() % 4000), n = static_cast<std::int64_t>(500 + random() % 4000);
    s.shape = {{"b", 1}, {"m", m}, {"n", n}, {"k", 1024}, {"ta", 0}, {"tb", 0}};
    const double scatter = std::exp(std::normal_distribution<double>(0.0, 0.1)(random));
    s.time =
        scatter * gemm_time({static_cast<double>(m), static_cast<double>(n), 1024, 1}, Bytes(4.0), TileConstants{}, rates).time;
    all.push_back(s);
  }
  return all;
}

const FamilyParameters& gemm_of(const BoardFit& fit) { return *fit.device.calibration.find("gemm", "fp32"); }

}  // namespace

TEST_CASE("20 samples already give the board's own share of peak, 200 give it well") {
  INFO("seed " << kSeed);
  const auto few = fit_board(samples(20), device(), constants(), "a"), many = fit_board(samples(200), device(), constants(), "a");
  REQUIRE(few);
  REQUIRE(many);
  CHECK_THAT(gemm_of(*few).compute_efficiency, WithinRel(kTruth, 0.08));
  CHECK_THAT(gemm_of(*many).compute_efficiency, WithinRel(kTruth, 0.03));
  CHECK(gemm_of(*many).compute_sigma < gemm_of(*few).compute_sigma);
  CHECK(few->reports.front().after.mean < few->reports.front().before.mean);
}

TEST_CASE("a fitted board says what its samples were, what it inherited, and reads back as a device file") {
  const auto fit = fit_board(samples(20), device(), constants(), "a.csv 0123");
  REQUIRE(fit);
  const std::string source = gemm_of(*fit).source;
  CHECK(
      source.rfind(
          "fitted: 20 samples of 20 shapes, a.csv 0123; device times; cublas 10; clock not stated; before: transferred: from old",
          0) == 0);
  CHECK(fit->inherited.size() + 1 == fit_families().size());
  const auto back = parse_device(all_architectures(), to_toml(fit->device), "new.toml");
  INFO((back ? std::string() : to_text(back.error())));
  REQUIRE(back);
  CHECK(back->calibration.find("gemm", "fp32")->compute_efficiency == gemm_of(*fit).compute_efficiency);
  CHECK(back->calibration.find("gemm", "fp32")->compute_sigma == gemm_of(*fit).compute_sigma);
}

TEST_CASE("samples that cannot be true are left out and named by row") {
  std::vector<Sample> all = samples(20);
  all[3].time = all[3].time / 50.0;
  all[7].time = all[7].time * 5000.0;
  const auto fit = fit_board(all, device(), constants(), "a");
  REQUIRE(fit);
  REQUIRE(fit->warnings.size() == 2);
  CHECK(fit->warnings[0] ==
        "gemm fp32: 1 of 20 samples are faster than physics allows on new (check the clock, the shape and the device); left out: "
        "row 5");
  CHECK(fit->warnings[1].find("left out: row 9") != std::string::npos);
  CHECK_THAT(gemm_of(*fit).compute_efficiency, WithinRel(kTruth, 0.08));
  for (Sample& sample : all) sample.time = sample.time * 1000.0;
  const auto slipped = fit_board(all, device(), constants(), "a");
  REQUIRE_FALSE(slipped);
  CHECK(to_text(slipped.error()).find("are the times 1000 times too large, in milliseconds?") != std::string::npos);
}

TEST_CASE("two shapes are refused, three accepted") {
  std::vector<Sample> all = samples(3);
  CHECK(fit_board(all, device(), constants(), "a"));
  all.pop_back();
  const auto two = fit_board(all, device(), constants(), "a");
  REQUIRE_FALSE(two);
  CHECK(to_text(two.error()) ==
        "all samples of a family have 2 shapes: at least 3 are needed to tell arithmetic, bandwidth and launch apart\n");
}

TEST_CASE("worked example of the prior: pull of the samples against its hold") {
  // calibrate/README.md: sigma 0.1, samples that ask for 1.5; ln(value) = 0.0667 n until ln 1.5 is reached.
  const std::vector<Unknown> unknowns{{"value", 1.0, 0.1}};
  const auto fitted = [&](std::size_t n) {
    constexpr double kNoise = 1e-4;  // nearly the pure absolute value
    return robust_fit(
               unknowns, n, [](std::span<const double> v, std::size_t) { return std::log(1.5 / v[0]); }, {}, kNoise)
        .values[0]
        .value;
  };
  CHECK_THAT(fitted(1), WithinRel(1.069, 3e-3));
  CHECK_THAT(fitted(4), WithinRel(1.306, 3e-3));
  CHECK_THAT(fitted(7), WithinRel(1.5, 3e-3));
}

TEST_CASE("worked example of single calls: short kernels hide in the call, plans are looked up one by one") {
  // calibrate/README.md: overhead 12 us, floor 30 us, 150 ns for each shape before.
  const CallTimes call{Seconds(12e-6), Seconds(30e-6), Seconds(150e-9)};
  Observation row;
  row.call = true;
  CHECK_THAT(sample_time(row, Seconds(9e-6), call).base(), WithinRel(30e-6, 1e-12));
  CHECK_THAT(sample_time(row, Seconds(18e-6), call).base(), WithinRel(30e-6, 1e-12));
  CHECK_THAT(sample_time(row, Seconds(40e-6), call).base(), WithinRel(52e-6, 1e-12));
  row.shapes_before = 2000;
  CHECK_THAT(sample_time(row, Seconds(40e-6), call).base(), WithinRel(352e-6, 1e-12));
  row.call = false;
  CHECK(sample_time(row, Seconds(40e-6), call) == Seconds(40e-6));
}

TEST_CASE("single calls give overhead, floor and growth of their host beside the board's rate") {
  INFO("seed " << kSeed);
  std::vector<Sample> calls = samples(150);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i % 3 == 0) calls[i].shape[3].second = 1;  // hardly any arithmetic: the floor shows
    const GemmShape shape{calls[i].at("m"), calls[i].at("n"), calls[i].at("k"), 1};
    const KernelRates rates{device().peak.fp32 * kTruth, device().memory_bandwidth * 0.8, Seconds(8e-6), 30};
    Observation row;
    row.call = true;
    row.shapes_before = static_cast<double>(10 * i);
    calls[i].call_timing = true;
    calls[i].flags = "shapes_before=" + std::to_string(10 * i);
    calls[i].time = sample_time(row, gemm_time(shape, Bytes(4.0), TileConstants{}, rates).time,
                                {Seconds(20e-6), Seconds(90e-6), Seconds(400e-9)});
  }
  const auto fit = fit_board(calls, device(), constants(), "a.csv");
  REQUIRE(fit);
  const FamilyParameters& own = gemm_of(*fit);
  CHECK_THAT(own.compute_efficiency, WithinRel(kTruth, 0.03));
  REQUIRE(own.call);
  CHECK_THAT(own.call->overhead.base(), WithinRel(20e-6, 0.5));  // a hundredth of most samples
  CHECK_THAT(own.call->floor.base(), WithinRel(90e-6, 0.2));
  CHECK_THAT(own.call->per_shape.base(), WithinRel(400e-9, 0.1));
  const auto back = parse_device(all_architectures(), to_toml(fit->device), "new.toml");
  REQUIRE(back);
  REQUIRE(back->calibration.find("gemm", "fp32")->call);
  CHECK_THAT(back->calibration.find("gemm", "fp32")->call->per_shape.base(), WithinRel(own.call->per_shape.base(), 1e-3));
}

TEST_CASE("a fit that is worse than what it began with says so, and in its source") {
  // Two ways of timing, six times apart: the fit follows the more frequent, and the rest is far off.
  std::vector<Sample> mixed = samples(60);
  for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i].time = mixed[i].time * (i % 3 == 0 ? 1.0 : 6.0);
  const auto fit = fit_board(mixed, device(), constants(), "a.csv");
  REQUIRE(fit);
  CHECK(fit->reports.front().after.mean > fit->reports.front().before.mean);
  REQUIRE(fit->warnings.size() == 2);
  CHECK(fit->warnings[0].find("gemm fp32: 20 of 60 shapes are beyond the form by more than a factor of two: row ") == 0);
  CHECK(fit->warnings[1].find("gemm fp32: the fit is worse than what it began with: mean error ") == 0);
  CHECK(gemm_of(*fit).source.find("the fit is worse than what it began with") != std::string::npos);
  CHECK(fit_board(samples(60), device(), constants(), "a.csv")->warnings.empty());
}

TEST_CASE("what fitted families share with a board's others corrects those that it borrows") {
  // Closed form: sigma 0.2 of every borrowed value, half of it common to the board; gemm was found 1.25 times as fast, exactly.
  KernelConstants borrowed = constants();
  BoardParameters convolution = borrowed.boards.front();
  convolution.parameters.family = "convolution";
  borrowed.boards.push_back(convolution);
  const ResolvedParameters before = resolve_parameters(device(), "convolution", "fp32", borrowed);
  REQUIRE(before.transferred);
  FittedFamily gemm{before.parameters, before.parameters, true, true};
  gemm.before.family = gemm.after.family = "gemm";
  gemm.before.compute_sigma = 0.2;
  gemm.after.compute_efficiency = 1.25 * gemm.before.compute_efficiency;
  gemm.after.compute_sigma = 0.0;
  const std::vector<FamilyParameters> carried = carried_over({gemm}, device(), borrowed);
  const auto found = std::find_if(carried.begin(), carried.end(), [](const auto& p) { return p.family == "convolution"; });
  REQUIRE(found != carried.end());
  const double v = 0.5 * 0.2 * 0.2, sigma = before.parameters.compute_sigma, total = 1.0 / (0.5 * sigma * sigma) + 1.0 / v;
  CHECK_THAT(found->compute_efficiency / before.parameters.compute_efficiency,
             WithinRel(std::exp(std::log(1.25) / v / total), 1e-9));
  CHECK(found->compute_sigma < sigma);
  CHECK(found->source.find("as other families of this board") != std::string::npos);
  gemm.transferred = false;  // own samples before: nothing is learnt of borrowing
  CHECK(carried_over({gemm}, device(), borrowed).empty());
}

TEST_CASE("fused attention: samples made by the form give back its share of peak, of bandwidth and its launch") {
  Device d = device();
  d.peak.fp16_tensor = FlopPerSecond(80e12);
  d.boost_clock = Hertz(1.4e9);
  const double truth = 0.45;
  const KernelRates rates = sustained_rates(d, *d.peak.fp16_tensor, truth, d.memory_bandwidth * 0.7, Seconds(12e-6), "fp16");
  std::mt19937 random(kSeed);
  std::vector<Sample> all;
  for (const std::int64_t batch : {1, 2, 8}) {
    for (const std::int64_t rows : {64, 128, 256, 512, 4096}) {
      for (const std::int64_t width : {64, 128}) {
        for (const char* pass : {"forward", "backward"}) {
          Sample s;
          s.device = "new";
          s.family = s.op = "attention";
          s.precision = "fp16";
          s.pass = pass;
          s.line = static_cast<int>(all.size()) + 2;
          s.shape = {{"b", batch},  {"heads", 16}, {"sq", rows},    {"sk", rows}, {"d", width},
                     {"causal", 0}, {"fused", 1},  {"kv_heads", 0}, {"d_v", 0},   {"window", 0}};
          const AttentionShape shape{static_cast<double>(batch), 16, static_cast<double>(rows), static_cast<double>(rows),
                                     static_cast<double>(width)};
          s.time = std::exp(std::normal_distribution<double>(0.0, 0.03)(random)) *
                   fused_attention_time(shape, s.pass == "backward", {}, rates).time;
          all.push_back(s);
        }
      }
    }
  }
  const auto fit = fit_board(all, d, constants(), "a test");
  REQUIRE(fit);
  const FamilyParameters& p = *fit->device.calibration.find("attention", "fp16");
  INFO("seed " << kSeed << " compute " << p.compute_efficiency << " bandwidth " << p.bandwidth_efficiency);
  CHECK_THAT(p.compute_efficiency, WithinRel(truth, 0.05));
  CHECK_THAT(p.bandwidth_efficiency, WithinRel(0.7, 0.05));
  CHECK_THAT(p.launch.base(), WithinRel(12e-6, 0.25));
  CHECK(fit->reports.front().after.mean < 0.04);

  all.front().shape[6].second = 0;  // kernels of other families
  CHECK_FALSE(attention_observation(all.front()));
}

TEST_CASE("shares that no board can have are refused, not written") {
  // Products at 0.77 of the peak, with no time beside them for the softmax: the form can only follow by a peak that is not there.
  Device d = device();
  d.peak.fp16_tensor = FlopPerSecond(65e12);
  d.boost_clock = Hertz(1.59e9);
  d.fp32_lanes = 64;
  std::vector<Sample> all;
  for (const std::int64_t batch : {1, 2, 4, 8}) {
    for (const std::int64_t rows : {256, 512, 1024, 2048}) {
      Sample s;
      s.device = "new";
      s.family = s.op = "attention";
      s.precision = "fp16";
      s.pass = "forward";
      s.line = static_cast<int>(all.size()) + 2;
      s.shape = {{"b", batch},  {"heads", 12}, {"sq", rows},    {"sk", rows}, {"d", 64},
                 {"causal", 0}, {"fused", 1},  {"kv_heads", 0}, {"d_v", 0},   {"window", 0}};
      s.time = Seconds(5e-6) + Flop(4.0 * 12 * 64 * static_cast<double>(batch * rows * rows)) / (0.77 * *d.peak.fp16_tensor);
      all.push_back(s);
    }
  }
  const auto fit = fit_board(all, d, constants(), "a test");
  // The fit is written all the same, with a range as wide as what the cut leaves.
  REQUIRE(fit);
  const FamilyParameters* const attention = fit->device.calibration.find("attention", "fp16");
  REQUIRE(attention != nullptr);
  CHECK(attention->compute_efficiency <= 1.5);
  CHECK(attention->spread > 0.15);
  CHECK(std::any_of(fit->warnings.begin(), fit->warnings.end(), [](const std::string& warning) {
    return warning.find("attention fp16: the samples would need ") == 0 && warning.find("cut to 1.5") != std::string::npos;
  }));
}

TEST_CASE("a row copied twenty times is no further evidence") {
  INFO("seed " << kSeed);
  const std::vector<Sample> once = samples(12);
  std::vector<Sample> often;
  for (const Sample& sample : once) often.insert(often.end(), 20, sample);
  const auto one = fit_board(once, device(), constants(), "a"), twenty = fit_board(often, device(), constants(), "a");
  REQUIRE(one);
  REQUIRE(twenty);
  CHECK(twenty->reports.front().samples == 240);
  CHECK(twenty->reports.front().shapes == 12);
  CHECK(gemm_of(*twenty).compute_efficiency == gemm_of(*one).compute_efficiency);
  CHECK(gemm_of(*twenty).compute_sigma == gemm_of(*one).compute_sigma);
  CHECK(gemm_of(*twenty).spread == gemm_of(*one).spread);
  // Repetitions that differ count by their median: one that was disturbed changes nothing.
  often.clear();
  for (const Sample& sample : once) often.insert(often.end(), 5, sample);
  for (std::size_t i = 0; i < often.size(); i += 5) often[i].time = often[i].time * 3.0;
  const auto disturbed = fit_board(often, device(), constants(), "a");
  REQUIRE(disturbed);
  CHECK(gemm_of(*disturbed).compute_efficiency == gemm_of(*one).compute_efficiency);
}

TEST_CASE("a fit that is as good as what it began with, within the error of the mean, is not called worse") {
  // Samples around the very parameters that the board would borrow: what the fit changes is their scatter.
  std::vector<Sample> all = samples(40);
  for (Sample& sample : all) sample.time = sample.time * (kTruth / 0.9);
  for (std::size_t i = 0; i < all.size(); i += 2) all[i].time = all[i].time * 1.02;
  const auto fit = fit_board(all, device(), constants(), "a");
  REQUIRE(fit);
  CHECK(fit->warnings.empty());
}

TEST_CASE("arithmetic that a board has no rate of moves nothing of it, and its rows are named") {
  std::vector<Sample> all = samples(20);
  const auto before = fit_board(all, device(), constants(), "a");
  REQUIRE(before);
  for (std::size_t i = 0; i < 6; ++i) {
    all.push_back(all[i]);
    all.back().precision = "tf32";
    all.back().time = all.back().time / 6.0;
    all.back().line = static_cast<int>(100 + i);
  }
  const auto fit = fit_board(all, device(), constants(), "a");
  REQUIRE(fit);
  REQUIRE(fit->warnings.size() == 1);
  CHECK(fit->warnings.front() ==
        "gemm tf32: 6 samples (from row 100) left out: new has no rate of tf32; check the device of the samples, or state "
        "peak_tf32_tensor");
  CHECK(gemm_of(*fit).compute_efficiency == gemm_of(*before).compute_efficiency);
  CHECK(to_toml(fit->device) == to_toml(before->device));
  CHECK(unused_samples(all, {{"new", device()}}).size() == 1);
  Device ampere = device();
  ampere.peak.tf32_tensor = FlopPerSecond(80e12);
  CHECK(has_rate(ampere, "tf32"));
  CHECK(unused_samples(all, {{"new", ampere}}).empty());
}

TEST_CASE("rows of other devices are named, with what may be meant where the catalogue lacks the name") {
  std::vector<Sample> all = samples(4);
  all[1].device = "t4";
  all[2].device = all[3].device = "mine";
  const auto others = samples_of_others(all, "new", {"new", "t4"});
  REQUIRE(others.size() == 2);
  CHECK(to_text(others[0]) == "t4: 1 sample (from row 3): another device than new");
  CHECK(
      to_text(others[1]) ==
      "mine: 2 samples (from row 4): another device than new; the catalogue has none of this name: if it is the same board, let "
      "the rows name that");
  CHECK(samples_of_others(samples(4), "new", {}).empty());
}

TEST_CASE("16-bit batch norm tells how many instructions a number takes that is moved alone") {
  Device d = device();
  d.boost_clock = Hertz(1.4e9);
  d.l2_capacity = Bytes(4e6);
  d.memory_bandwidth = BytesPerSecond(200e9);  // so that 16 bits stay below the time of 32
  constexpr double kInstructions = 30.0;       // 20 are assumed
  KernelRates rates = sustained_rates(d, d.peak.fp32, 1.0, d.memory_bandwidth * 0.8, Seconds(5e-6), "fp32");
  rates.issue_share = kFewestInstructions / kInstructions;
  std::vector<Sample> all;
  for (const std::int64_t batch : {8, 32, 128}) {
    for (const char* pass : {"forward", "backward"}) {
      Sample s;
      s.device = "new";
      s.family = s.op = "batch_norm";
      s.precision = "fp16";
      s.pass = pass;
      s.line = static_cast<int>(all.size()) + 2;
      s.shape = {{"n", batch}, {"c", 64}, {"hw", 12544}};
      const double numbers = 64.0 * 12544 * static_cast<double>(batch) * (s.pass == "forward" ? 3 : 5);
      s.time = single_access_time(Bytes(2.0 * numbers), Bytes(2.0), 1.0, rates).time;
      all.push_back(s);
    }
  }
  const auto fit = fit_board(all, d, constants(), "a test");
  REQUIRE(fit);
  const FamilyParameters& p = *fit->device.calibration.find("single_access", "fp16");
  CHECK_THAT(kFewestInstructions / p.compute_efficiency, WithinRel(kInstructions, 0.1));
  CHECK(p.compute_sigma < 0.3);
  CHECK(unused_samples(all).empty());
  CHECK(parse_device(all_architectures(), to_toml(fit->device), "new.toml"));
  // 32 bits and what the cache held say nothing of it.
  all.front().precision = "fp32";
  CHECK_FALSE(batch_norm_observation(all.front()));
  all.back().flags = "hot";
  CHECK_FALSE(batch_norm_observation(all.back()));
}

TEST_CASE("every family that can be fitted is one of the sample file") {
  for (const FitFamily& family : fit_families()) {
    INFO(family.name);
    CHECK(find_family(family.samples) != nullptr);
    CHECK(family_of_samples(family.samples) == &family);
    CHECK(family_of_parameters(family.name) == &family);
  }
}
