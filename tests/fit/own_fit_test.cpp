// What samples beyond kernels say of a machine, and what in samples can hardly be meant.
#include "calibrate/fit/own_fit.hpp"

#include "calibrate/fit/doubts.hpp"
#include "model/hardware/hardware_file.hpp"
#include "model/hardware/lookup.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;
using Catch::WithinRel;

namespace {

Device board(const char* id = "h100-sxm5-80gb") { return load_device(Catalogue{TBDSIM_SOURCE_DIR}, id).value(); }

Sample row(const char* family, const char* op, std::vector<std::pair<std::string_view, std::int64_t>> shape, double time,
           int line, const char* kind = "") {
  Sample sample;
  sample.device = "h100-sxm5-80gb";
  sample.family = family;
  sample.op = op;
  sample.precision = "bf16";
  sample.pass = "none";
  sample.shape = std::move(shape);
  sample.kind = kind;
  sample.time = Seconds(time);
  sample.line = line;
  return sample;
}

Sample message(std::int64_t bytes, std::int64_t ranks, double time, const char* op = "all_reduce") {
  Sample sample = row("collective", op, {{"bytes", bytes}, {"ranks", ranks}, {"nodes", 1}}, time, 2);
  sample.library = "NCCL 2.29.2";
  return sample;
}

OwnFit fitted(const std::vector<Sample>& samples) {
  CollectiveForms forms(TBDSIM_SOURCE_DIR);
  return fit_own(samples, board(), {}, forms, "mine.csv");
}

}  // namespace

TEST_CASE("what no machine does is not taken, and told") {
  const std::vector<Sample> samples{
      row("launch", "launch", {{"kernels", 1000}, {"graph", 0}}, 3.2, 3),
      row("copy", "copy", {{"bytes", 1 << 30}}, 2.15e-5, 4, "h2d-pinned"),
      row("copy", "copy", {{"bytes", 1 << 30}}, 21.5, 5, "d2h-pinned"),
      row("gemm", "matmul", {{"b", 1}, {"m", 4096}, {"n", 4096}, {"k", 4096}, {"ta", 0}, {"tb", 0}}, 1e-5, 6),
      row("overlap", "matmul", {{"m", 4096}, {"n", 4096}, {"k", 4096}, {"bytes", 1 << 26}, {"ranks", 8}}, 1.0, 7, "all-reduce"),
      message(1 << 20, 8, 4000.0)};
  const OwnFit fit = fitted(samples);
  CHECK_FALSE(fit.any());
  CHECK(fit.missing ==
        std::vector<std::string>{
            "launch: 3.2e+03 us a kernel, which no machine does: time_s is in seconds; check times and shapes",
            "copy: h2d-pinned at 4.99e+04 GB/s, which no machine does: time_s is in seconds; check times and shapes",
            "copy: d2h-pinned at 0.0499 GB/s, which no machine does: time_s is in seconds; check times and shapes",
            "overlap: products take 1e+05 times as long beside an all-reduce as alone, which no machine does: time_s is in "
            "seconds; "
            "check times and shapes",
            "collective: 1 sample (from row 2) more than 30 times as fast or as slow as calls on this architecture: time_s is in "
            "seconds; check times, bytes and ranks"});
}

TEST_CASE("a shape measured again whose times lie far apart") {
  const auto product = [](double time, int line) {
    return row("gemm", "matmul", {{"b", 1}, {"m", 4096}, {"n", 4096}, {"k", 4096}, {"ta", 0}, {"tb", 0}}, time, line);
  };
  const DeviceMap devices{{"h100-sxm5-80gb", board()}};
  CHECK(doubts({product(300e-6, 2), product(330e-6, 3)}, devices).empty());
  const auto found = doubts({product(300e-6, 2), product(330e-6, 3), product(3000e-6, 4)}, devices);
  REQUIRE(found.size() == 1);
  CHECK(
      found.front() ==
      "1 shape measured again took 4 times as long or more, though nothing else differs (the worst: rows 2 and 4, 300 and 3e+03 "
      "us): which is right?");
}

TEST_CASE("launches, copies and overlap are medians of the longest rows") {
  const std::vector<Sample> samples{
      row("launch", "launch", {{"kernels", 10}, {"graph", 0}}, 50e-6, 2),
      row("launch", "launch", {{"kernels", 1000}, {"graph", 0}}, 2.2e-3, 3),
      row("launch", "launch", {{"kernels", 1000}, {"graph", 1}}, 1.1e-3, 4),
      row("copy", "copy", {{"bytes", 1 << 20}}, 100e-6, 5, "h2d-pinned"),
      row("copy", "copy", {{"bytes", 250'000'000}}, 10e-3, 6, "h2d-pinned"),
      row("gemm", "matmul", {{"b", 1}, {"m", 4096}, {"n", 4096}, {"k", 4096}, {"ta", 0}, {"tb", 0}}, 200e-6, 7),
      row("overlap", "matmul", {{"m", 4096}, {"n", 4096}, {"k", 4096}, {"bytes", 1 << 26}, {"ranks", 8}}, 250e-6, 8,
          "all-reduce")};
  const OwnFit fit = fitted(samples);
  CHECK_THAT(fit.own.launch_interval->base(), WithinRel(2.2e-6, 1e-12));
  CHECK_THAT(fit.own.copy_to_device->base(), WithinRel(25e9, 1e-12));
  CHECK_FALSE(fit.own.copy_to_host);
  CHECK_THAT(*fit.own.overlap_cost, WithinRel(0.2, 1e-12));
  CHECK(fit.own.source == "fitted: mine.csv");
  CHECK(fit.lines.size() == 3);
  CHECK(fitted({samples.back()}).missing.front() ==
        "overlap: 1 sample beside an all-reduce, none of the same product alone (family gemm)");
}

TEST_CASE("a board that is slower by a factor gets it as its pace, and one message is enough") {
  CollectiveForms forms(TBDSIM_SOURCE_DIR);
  std::vector<Sample> samples;
  for (const char* op : {"all_reduce", "all_gather", "all_to_all"}) {
    for (const std::int64_t bytes : {512, 65536, 1 << 20}) {
      Sample sample = message(bytes, 4, 1e-6, op);
      sample.time = forms.time(sample, board(), 1.3);
      samples.push_back(std::move(sample));
    }
  }
  CHECK_THAT(fitted(samples).own.collective_pace, WithinRel(1.3, 0.03));
  Sample one = message(512, 2, 1e-6);
  one.time = forms.time(one, board(), 1.3);
  const double pace = fitted({one}).own.collective_pace;
  CHECK(pace > 1.1);
  CHECK(pace <= 1.31);
}

TEST_CASE("collectives that no form describes say why") {
  CollectiveForms forms(TBDSIM_SOURCE_DIR);
  CHECK(forms.undescribed(message(512, 2, 1e-6), board()).empty());
  CHECK(forms.undescribed(message(512, 2, 1e-6, "gather"), board()) == "no collective is called \"gather\"");
  CHECK(forms.undescribed(message(512, 1, 1e-6), board()) == "one rank moves nothing");
  CHECK(forms.undescribed(message(512, 2, 1e-6), board("l40s")).find("behind a switch alone") != std::string::npos);
  Sample old = message(512, 2, 1e-6);
  old.library = "NCCL 2.10";
  CHECK(forms.undescribed(old, board()).find("NCCL 2.18 or newer") != std::string::npos);
}

TEST_CASE("committed samples of A100, H100 and B300 boxes: mean error in sample") {
  const auto samples = read_samples(TBDSIM_SOURCE_DIR "/calibrate/samples/modern_collectives.csv").value();
  CollectiveForms forms(TBDSIM_SOURCE_DIR);
  DeviceMap devices;
  for (const Sample& sample : samples) devices.emplace(sample.device, board(sample.device.c_str()));
  std::map<std::string, std::vector<double>> errors;
  for (const AssessedRow& one : assess_collectives(samples, devices, forms)) {
    if (one.sample->library == "NCCL 2.27.3" || one.sample->library == "NCCL 2.29.2")
      errors[one.sample->device].push_back(one.residual);
  }
  REQUIRE(errors.size() == 3);
  CHECK(summarize_residuals(errors["a100-sxm4-80gb"]).mean <= 0.050);
  CHECK(summarize_residuals(errors["h100-sxm5-80gb"]).mean <= 0.048);
  CHECK(summarize_residuals(errors["b300-sxm-288gb"]).mean <= 0.055);
}

TEST_CASE("what can hardly be meant is named, to the letter") {
  const DeviceMap devices{{"h100-sxm5-80gb", board()}, {"mi100", board("mi100")}};
  const auto product = [](std::int64_t m, double time, int line) {
    return row("gemm", "matmul", {{"b", 1}, {"m", m}, {"n", 4096}, {"k", 4096}, {"ta", 0}, {"tb", 0}}, time, line);
  };
  CHECK(doubts({product(4096, 2.5e-4, 2)}, devices).empty());
  CHECK(doubts({product(4096, 2.5e-4, 2), product(4096, 2.5e-4, 3)}, devices).front() ==
        "1 sample (from row 3) repeats another row, time included (the first: row 2): they count once");
  Sample odd = product(4096, 2.5e-4, 2);
  odd.shape[4].second = 1;
  odd.layout = "nhwc";
  odd.flags = "matrix-cores";
  const auto found = doubts({odd}, devices);
  REQUIRE(found.size() == 3);
  CHECK(found[0] == "1 sample (from row 2) of gemm with ta=1: a transposed first operand costs nothing in the form");
  CHECK(found[1] == "1 sample (from row 2) with the layout of \"gemm nhwc\": the form has another");
  CHECK(
      found[2] ==
      "1 sample (from row 2) of h100-sxm5-80gb bf16 with the flag matrix-cores, which only says something of fp32 on AMD boards");
  Sample amd = product(4096, 2.5e-3, 2);
  amd.device = "mi100";
  amd.precision = "fp32";
  CHECK(doubts({amd}, devices).front() ==
        "1 sample (from row 2) of mi100 without a library: taken for cuDNN 7; name it, such as \"rocm 6.0; miopen 3.0\"");
  CHECK(doubts({product(4096, 2.5e-4, 2), product(8192, 0.5, 3)}, devices).front() ==
        "h100-sxm5-80gb gemm bf16: two units in the column time_s? 1 row (the first: 3) would be plausible in milliseconds, 1 "
        "are in seconds");
  // In milliseconds throughout: check says so as fit does. Faster than the board can: named, too.
  CHECK(implausible_samples({product(4096, 0.25, 2), product(8192, 0.5, 3)}, devices)
            .front()
            .find("in milliseconds? time_s is in seconds") != std::string::npos);
  const std::string fast = implausible_samples({product(8192, 1e-6, 2)}, devices).front();
  CHECK(fast.find("are faster than physics allows on h100-sxm5-80gb") != std::string::npos);
  CHECK(fast.find("; scored all the same: row 2") != std::string::npos);
  Sample named = product(4096, 2.5e-4, 2);
  named.algorithm = "per-token";
  CHECK(doubts({named}, devices).empty());
  named.algorithm = "turbo";
  CHECK(doubts({named}, devices).front() ==
        "1 sample (from row 2) of gemm with the algorithm \"turbo\": the form takes the tile that is fastest");
  const Sample once = product(4096, 2.5e-4, 2);
  CHECK(doubts({once, once}, devices, true).front().find("each is scored") != std::string::npos);
}
