#include "calibrate/collect/session.hpp"

#include "calibrate/decode/sample_writer.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using namespace tbdsim::calibrate;

namespace {

/// A GPU that takes 1 us per row, 5 us with a cold cache on top; "cols=13" it cannot do; "cols=7" is never quiet.
class FakeGpu final : public GpuBench {
 public:
  struct Kernel final : PreparedKernel {
    Kernel(const Measurement& m, int& count)
        : base(1e-6 * m.sample.at("rows") + (m.cold ? 5e-6 : 0.0)), noisy(m.sample.at("cols") == 7), runs(count) {}
    tl::expected<std::vector<Seconds>, std::string> repeat(int count) override {
      std::vector<Seconds> times;
      for (int i = 0; i < count; ++i) times.emplace_back(base * (noisy && runs++ % 2 == 0 ? 2.0 : 1.0));
      return times;
    }
    std::string algorithm() const override { return "fake"; }
    double base;
    bool noisy;
    int& runs;
  };

  const GpuIdentity& identity() const override { return identity_; }
  tl::expected<std::unique_ptr<PreparedKernel>, std::string> prepare(const Measurement& m) override {
    if (m.sample.at("cols") == 13) return tl::make_unexpected(std::string("unlucky"));
    return std::make_unique<Kernel>(m, runs_);
  }
  GpuState state() override {
    GpuState state;
    state.clock = Hertz(1.4e9);
    state.throttled = throttled;
    return state;
  }
  bool throttled = false;

 private:
  GpuIdentity identity_{"Fake GPU", "1.2", "cuda 13.0", true};
  int runs_ = 0;
};

Plan plan_of(const std::string& shapes) {
  auto plan = parse_plan(
      "name = \"p\"\nbudget = \"10 s\"\n[stop]\nleast = 4\nmost = 16\nlongest = \"1 s\"\n[[measure]]\n"
      "family = \"softmax\"\nshape = [" +
          shapes + "]\n",
      "p.toml");
  REQUIRE(plan);
  return *plan;
}

CollectOptions options_at(double seconds_per_look) {
  CollectOptions options;
  options.device = "fake";
  options.date = "2026-01-02";
  options.clock = [seconds_per_look, now = 0.0]() mutable { return Seconds(now += seconds_per_look); };
  options.interrupted = [] { return false; };
  return options;
}

struct Collected {
  CollectSummary summary;
  std::vector<Sample> samples;
};
Collected run(FakeGpu& gpu, const Plan& plan, const CollectOptions& options) {
  Collected c;
  c.summary = collect(gpu, plan, options, [&](const Sample& s) { c.samples.push_back(s); });
  return c;
}

}  // namespace

TEST_CASE("a sample says what ran, where, how often and how well") {
  FakeGpu gpu;
  gpu.throttled = true;
  const Collected c = run(gpu, plan_of("\"rows=8;cols=4\""), options_at(0.0));
  REQUIRE(c.samples.size() == 1);
  const Sample& s = c.samples.front();
  CHECK(s.time.base() == Approx(13e-6));
  CHECK(s.device == "fake");
  CHECK(s.algorithm == "fake");
  CHECK(s.clock.value() == Hertz(1.4e9));
  CHECK(s.flags == "cold stand-in throttled");
  CHECK(s.source == "measured: Fake GPU, median of 4");
  CHECK(c.summary.throttled == 1);
  const auto again = parse_samples(sample_header() + sample_row(s), "again.csv");
  REQUIRE(again);
  CHECK(again->front().time.base() == Approx(13e-6));
  CHECK(key(again->front()) == "softmax softmax fp32 forward rows=8;cols=4 cold");
}

TEST_CASE("what never settles is kept and says which limit ended it") {
  FakeGpu gpu;
  const Collected c = run(gpu, plan_of("\"rows=8;cols=7\""), options_at(0.0));
  REQUIRE(c.samples.size() == 1);
  CHECK(c.samples.front().flags == "cold stand-in noisy-count");
  CHECK(c.summary.noisy == 1);
}

TEST_CASE("what cannot run is left out with its reason, and the rest goes on") {
  FakeGpu gpu;
  const Collected c = run(gpu, plan_of("\"rows=1;cols=13\", \"rows=2;cols=4\""), options_at(0.0));
  CHECK(c.samples.size() == 1);
  REQUIRE(c.summary.left_out.size() == 1);
  CHECK(c.summary.left_out.front().measurement == "softmax softmax fp32 forward rows=1;cols=13 cold");
  CHECK(c.summary.left_out.front().reason == "unlucky");
}

TEST_CASE("a second run measures only what the first one left") {
  FakeGpu gpu;
  const Plan plan = plan_of("\"rows=1;cols=4\", \"rows=2;cols=4\", \"rows=3;cols=4\"");
  // 4 s a look: the budget of 10 s is spent before the third measurement.
  const Collected first = run(gpu, plan, options_at(4.0));
  CHECK(first.summary.measured == 2);
  CHECK(first.summary.not_started == 1);
  CollectOptions second = options_at(0.0);
  for (const Sample& s : first.samples) second.done.insert(key(s));
  const Collected rest = run(gpu, plan, second);
  CHECK(rest.summary.already == 2);
  REQUIRE(rest.samples.size() == 1);
  CHECK(rest.samples.front().at("rows") == 3);
}

TEST_CASE("an interrupt keeps what is complete") {
  FakeGpu gpu;
  CollectOptions options = options_at(0.0);
  options.interrupted = [asked = 0]() mutable { return ++asked > 2; };
  const Collected c = run(gpu, plan_of("\"rows=1;cols=4\", \"rows=2;cols=4\", \"rows=3;cols=4\""), options);
  CHECK(c.summary.interrupted);
  CHECK(c.summary.measured == 1);
  CHECK(c.summary.not_started == 2);
}
