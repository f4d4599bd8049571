// How fast a host's thread is against the reference's.
#include "calibrate/fit/host_speed.hpp"

#include <cmath>
#include <filesystem>

#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;
using Catch::Matchers::WithinRel;

namespace {

const std::string kFolder = std::string(TBDSIM_SOURCE_DIR) + "/calibrate/samples/host/";

HostSamples host(const std::string& framework, double time) {
  HostSamples h{"a CPU", framework, "", "", {}};
  h.samples = {{"add", "forward", "meta", Seconds(time), Seconds(0.0)},
               {"relu", "forward", "cpu", Seconds(4.0 * time), Seconds(0.0)},
               {"tiny", "backward", "meta", Seconds(1e-9), Seconds(0.0)},
               {"cpu_malloc_free", "speed", "", Seconds(8e-9), Seconds(0.0)}};
  return h;
}

HostSamples committed(const std::string& name) {
  auto samples = read_host_samples(kFolder + name);
  if (!samples) FAIL(to_text(samples.error()));
  return *samples;
}

}  // namespace

TEST_CASE("operators of the framework decide, what is shorter than the clock tells does not") {
  HostSamples slow = host("torch 1.13.1", 4e-6);
  slow.samples[1].time = Seconds(4e-6);  // 1/4 and 1 of the reference's speed: 1/2 in the mean
  const auto speed = host_speed(slow, host("torch 1.13.0a0", 1e-6));
  REQUIRE(speed);
  CHECK(speed->samples == 2);
  CHECK_THAT(speed->single_thread, WithinRel(0.5, 1e-12));
  CHECK_THAT(speed->spread, WithinRel(std::log(2.0), 1e-9));
  CHECK(speed->framework);
}

TEST_CASE("a speed that no CPU has is a slip of the unit") {
  const auto milli = host_speed(host("torch 1.13", 1e-3), host("torch 1.13", 1e-6));
  REQUIRE_FALSE(milli);
  CHECK(to_text(milli.error()) ==
        "one thread at 0.001 of the reference host's speed, which no CPU has: time_s is in seconds; were the times taken in "
        "another "
        "unit?\n");
}

TEST_CASE("without a framework the loops decide") {
  HostSamples loops = host("", 1e-6);
  loops.samples[3].time = Seconds(16e-9);
  const auto speed = host_speed(loops, host("torch 1.13", 1e-6));
  REQUIRE(speed);
  CHECK_FALSE(speed->framework);
  CHECK_THAT(speed->single_thread, WithinRel(0.5, 1e-12));
}

TEST_CASE("samples of another framework version are refused, and so are samples with nothing in common") {
  const auto other = host_speed(host("torch 2.1.0", 1e-6), host("torch 1.13.1", 1e-6));
  REQUIRE_FALSE(other);
  CHECK(to_text(other.error()) ==
        "samples of torch 2.1.0 cannot be compared with the reference host's, which are of torch 1.13.1: versions differ in what "
        "they "
        "spend on an operator; use a Python with torch 1.13, or --cpu-only\n");
  HostSamples unlike = host("torch 1.13.1", 1e-6);
  for (HostSample& sample : unlike.samples) sample.op += " of another kind";
  CHECK_FALSE(host_speed(unlike, host("torch 1.13.1", 1e-6)));
}

TEST_CASE("committed samples: every file parses, and one host measured twice agrees within 3 %") {
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".csv") continue;
    INFO(entry.path());
    const HostSamples samples = committed(entry.path().filename().string());
    CHECK(samples.framework.rfind("torch 1.13", 0) == 0);
    CHECK(samples.source.rfind("measured:", 0) == 0);
    CHECK(samples.date == "2026-11-23");
  }
  const HostSamples reference = committed("reference.csv");
  CHECK_THAT(host_speed(reference, reference)->single_thread, WithinRel(1.0, 1e-12));
  const double first = host_speed(committed("epyc_zen4.csv"), reference)->single_thread,
               second = host_speed(committed("epyc_zen4_again.csv"), reference)->single_thread;
  CHECK_THAT(first / second, WithinRel(1.0, 0.03));
}
