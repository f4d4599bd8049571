// The profile of the host, the lanes of a trace, and what mixed precision does for each layer.
#include "model/prediction/host_work.hpp"

#include <algorithm>

#include "model/prediction/precision_gain.hpp"
#include "model/validation/metric.hpp"
#include "tests/catch.hpp"
#include "tests/predicted.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

namespace {

PredictOptions job(const char* hardware, const char* model, const char* stack) {
  PredictOptions options;
  options.hardware = hardware;
  options.model = model;
  options.stack = stack;
  options.gpus = 1;
  options.detail = true;
  return options;
}

Seconds of_thread(const Prediction& p, const std::string& thread) {
  Seconds sum(0.0);
  for (const HostTime& h : p.detail.host)
    if (h.thread == thread) sum += h.time;
  return sum;
}

}  // namespace

TEST_CASE("host time by cause adds up to what the processors are busy with") {
  PredictOptions options = job("dgx1", "resnet50", "pytorch-1.13");
  options.input = "imagenet-records";
  const Prediction p = predicted(options);
  const double core = p.step_time.value.base() * 40;  // 2 x 20 cores
  CHECK_THAT(of_thread(p, "host thread").base(), WithinRel(p.utilization.cpu_launch * core, 1e-6));
  CHECK_THAT(of_thread(p, "input workers (39)").base(), WithinRel(p.utilization.cpu_input * core, 1e-6));
  const auto conv = std::find_if(p.detail.host.begin(), p.detail.host.end(),
                                 [](const HostTime& h) { return h.cause == "convolution forward issued"; });
  REQUIRE(conv != p.detail.host.end());
  CHECK(conv->calls == 53);
  const std::vector<HostTime> sorted = longest_first(p.detail.host);
  CHECK(std::is_sorted(sorted.begin(), sorted.end(), [](const HostTime& a, const HostTime& b) { return a.time > b.time; }));
}

TEST_CASE("lanes lie within the step that they recur in, and there are none without detail") {
  PredictOptions options = job("dgx1", "alexnet", "mxnet-1.2");
  options.gpus = 4;
  options.exchange = "p2p";
  options.input = "imagenet-records";
  const Prediction p = predicted(options);
  for (const char* lane : {"host thread", "store's process", "script", "compute stream", "copies to the GPUs"}) {
    INFO(lane);
    CHECK(std::any_of(p.detail.lanes.begin(), p.detail.lanes.end(), [&](const LaneEvent& e) { return e.lane == lane; }));
  }
  for (const LaneEvent& e : p.detail.lanes) {
    CHECK(e.start >= Seconds(0.0));
    CHECK(e.time > Seconds(0.0));
  }
  options.detail = false;
  CHECK(predicted(options).detail.lanes.empty());
}

TEST_CASE("forward and backward of DataParallel hold its exchange, those of DistributedDataParallel do not") {
  PredictOptions options = job("dgx-station", "resnet50", "pytorch-1.4");
  options.gpus = 4;
  options.exchange = "dataparallel";
  const Prediction one = predicted(options);
  const double both = metric_value(one, "forward_backward_s")->value;
  const PhaseTimes& s = one.phases;
  CHECK_THAT(s.exchange_forward.base() + s.exchange_backward.base(), WithinRel(s.exchange_exposed.base(), 1e-6));
  CHECK_THAT(both + (s.weight_update + s.host_update).base(), WithinRel(one.step_time.value.base(), 1e-6));
  CHECK_THAT(metric_value(one, "forward_s")->value + metric_value(one, "backward_s")->value, WithinRel(both, 1e-9));
  options.exchange = "allreduce";
  CHECK(predicted(options).phases.exchange_backward == Seconds(0.0));
}

TEST_CASE("mixed precision layer by layer: products gain, the rest says why it stays off the tensor cores") {
  const auto gain = precision_gain(session(), job("v100-sxm2-16gb", "resnet50", "pytorch-1.13"));
  REQUIRE(gain);
  CHECK(gain->from == "fp32");
  CHECK(gain->to == "amp");
  CHECK(gain->after.value < gain->before.value);
  Seconds before(0.0);
  for (const LayerGain& layer : gain->layers) {
    INFO(layer.name);
    before += layer.before;
    CHECK(layer.tensor_core == layer.obstacle.empty());
    if (layer.kind == "activation") CHECK(layer.obstacle == "no products: at best half the bytes");
    if (layer.kind == "softmax_loss") CHECK(layer.obstacle == "kept in fp32: sums many terms");
  }
  CHECK(before < gain->before.value * (1 + 1e-9));
  const auto old = precision_gain(session(), job("titan-xp", "resnet50", "pytorch-1.13"));
  REQUIRE(old);
  CHECK(old->layers.front().obstacle == "titan-xp under pytorch-1.13 has no 16-bit kernels for products");
  PredictOptions narrow = job("v100-sxm2-16gb", "resnet50", "pytorch-1.13");
  narrow.precision = "fp16";
  const auto refused = precision_gain(session(), narrow);
  REQUIRE_FALSE(refused);
  CHECK(to_text(refused.error()) == "--layers compares fp32 or tf32 with amp; the job is in fp16 already\n");
}
