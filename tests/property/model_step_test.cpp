// What must hold for every step that the model predicts: whatever the network, stack, board and number of GPUs.
#include <fmt/format.h>

#include "model/configuration/session.hpp"
#include "model/prediction/predict.hpp"
#include "model/prediction/step_times.hpp"
#include "tests/catch.hpp"
#include "tests/predicted.hpp"

using namespace tbdsim;

namespace {

const std::vector<const char*> kModels{"alexnet", "vgg16", "resnet50", "inception_v3", "mobilenet_v2", "densenet121"};
const std::vector<const char*> kStacks{"mxnet-1.2", "pytorch-1.13", "tensorflow-1.12", "tensorflow-2.11-xla", "torch7-cudnn5.1"};

Prediction predicted(const char* model, const char* stack, const char* hardware, int gpus, int batch) {
  PredictOptions options;
  options.hardware = hardware;
  options.model = model;
  options.stack = stack;
  options.gpus = gpus;
  options.batch = batch;
  const auto prediction = predict(session(), options);
  INFO((prediction ? std::string() : to_text(prediction.error())));
  REQUIRE(prediction);
  return *prediction;
}

/// Step time of one configuration whose device, host or exchange may be changed.
struct Bench {
  Device device = load_device({TBDSIM_SOURCE_DIR}, "v100-sxm2-16gb").value();
  Stack stack;
  CollectivePlan exchange;
  const char* model;
  double batch = 16;

  Bench(const char* network, const char* stack_name) : stack(**session().stack(stack_name)), model(network) {
    const auto system = session().system("dgx1", 1);
    exchange = plan_collective(**system, {{0, 1, 2, 3}, 1, {}}, CollectiveKind::all_reduce, {}).value();
  }
  [[nodiscard]] LoweredStep lowered() const {
    const auto workload = session().workload(model, stack.zoo_variant, {});
    const auto constants = session().constants();
    const KernelModel kernels = KernelModel::make(device, Precision::fp32, stack, **constants).value();
    return lower((**workload).graph, (**workload).step, kernels, stack, exchange, {batch, true});
  }
  [[nodiscard]] Seconds step() const {
    const LoweredStep built = lowered();
    return step_times(built, engine::simulate(built.graph)).step;
  }
};

// The steady step is a difference of two picosecond clocks; a faster resource may shift both by a rounding.
constexpr double kRounding = 1.0 + 1e-7;

template <class Change>
void never_slower(Change faster) {
  for (const char* model : kModels) {
    for (const char* stack : kStacks) {
      INFO(model << " under " << stack);
      Bench bench(model, stack);
      const Seconds before = bench.step();
      faster(bench);
      CHECK(bench.step() <= before * kRounding);
    }
  }
}

}  // namespace

TEST_CASE("a larger batch takes longer, and never longer per sample than its parts would") {
  for (const char* model : kModels) {
    for (const char* stack : kStacks) {
      Seconds before(0.0);
      for (const int batch : {1, 2, 4, 8, 16, 32, 64}) {
        INFO(model << " under " << stack << ", batch " << batch);
        const Seconds here = predicted(model, stack, "v100-sxm2-16gb", 1, batch).step_time.value;
        CHECK(here * kRounding >= before);
        // Twice the batch: at most twice the time and what a workspace limit takes away (other algorithms at larger sizes).
        if (before > Seconds(0.0)) CHECK(here <= 2.0 * before * 1.25);
        before = here;
      }
    }
  }
}

TEST_CASE("a step is at least its kernels' time and at most everything one after the other") {
  for (const char* model : kModels) {
    for (const char* stack : kStacks) {
      for (const int gpus : {1, 4, 8}) {
        INFO(model << " under " << stack << " on " << gpus);
        const Prediction p = predicted(model, stack, "dgx1", gpus, 16);
        // MXNet's training loop evaluates every batch by kernels between its passes.
        const Seconds busy = p.phases.forward + p.phases.backward + p.phases.weight_update + p.phases.metric;
        CHECK(p.step_time.value * kRounding >= busy);
        CHECK(p.step_time.value <= (busy + p.phases.exchange_total + p.phases.input_exposed + p.phases.host_exposed) * kRounding);
        // Named exception: useful FLOP are the direct method's, of which F(4x4,3x3) computes a quarter.
        CHECK(p.utilization.mfu <= 4.0);
        CHECK(p.utilization.gpu_busy <= kRounding);
      }
    }
  }
}

TEST_CASE("without transformed convolutions no step computes faster than its device's peak") {
  for (const char* model : kModels) {
    for (const char* stack : kStacks) {
      INFO(model << " under " << stack);
      Bench bench(model, stack);
      for (auto* pass :
           {&bench.stack.convolution.forward, &bench.stack.convolution.backward_data, &bench.stack.convolution.backward_weights})
        *pass = {ConvolutionAlgorithm::implicit_gemm, ConvolutionAlgorithm::direct};
      const LoweredStep built = bench.lowered();
      const StepTimes times = step_times(built, engine::simulate(built.graph));
      CHECK(times.flop <= bench.device.peak.fp32 * times.step);
    }
  }
}

TEST_CASE("one GPU exchanges nothing, more GPUs never shorten a step") {
  for (const char* model : kModels) {
    for (const char* stack : kStacks) {
      const Prediction alone = predicted(model, stack, "dgx1", 1, 16);
      CHECK(alone.phases.exchange_total == Seconds(0.0));
      for (const int gpus : {2, 3, 4, 5, 6, 7, 8, 16}) {
        INFO(model << " under " << stack << " on " << gpus);
        const Prediction p = predicted(model, stack, "dgx1", gpus, 16);
        CHECK(p.step_time.value * kRounding >= alone.step_time.value);
        CHECK(p.throughput.value <= gpus * alone.throughput.value * kRounding);
        CHECK(p.phases.exchange_total > Seconds(0.0));
      }
    }
  }
}

TEST_CASE("more memory bandwidth never slows a step") {
  never_slower([](Bench& b) { b.device.memory_bandwidth *= 1.1; });
  never_slower([](Bench& b) { b.device.memory_bandwidth *= 4.0; });
}

TEST_CASE("a faster clock never slows a step") {
  never_slower([](Bench& b) { b.device.peak.fp32 *= 1.1; });
}

TEST_CASE("faster links, shorter latencies, a faster host never slow a step") {
  never_slower([](Bench& b) {
    for (CollectiveLink& link : b.exchange.links) link.capacity *= 1.5;
  });
  never_slower([](Bench& b) { b.exchange.methods.front().start *= 0.5; });
  never_slower([](Bench& b) { b.stack.host.dispatch *= 0.5; });
  never_slower([](Bench& b) { b.stack.host.update_dispatch *= 0.5; });
}

TEST_CASE("offering a further algorithm or more workspace never slows a step") {
  using A = ConvolutionAlgorithm;
  never_slower([](Bench& b) { b.stack.convolution.workspace_limit.reset(); });
  never_slower([](Bench& b) {
    for (auto* pass : {&b.stack.convolution.forward, &b.stack.convolution.backward_data, &b.stack.convolution.backward_weights})
      *pass = {A::implicit_gemm, A::direct, A::winograd_fused, A::winograd_nonfused, A::fft};
  });
}

TEST_CASE("named exception: a device under a name of its own loses what was fitted for its name") {
  // The same board with more bandwidth, but without its rows of kernels.toml: borrowed efficiencies may cost more than
  // the bandwidth brings. The range says so.
  Bench own("resnet50", "pytorch-1.13"), renamed = own;
  renamed.device.id = "mine";
  const KernelConstants& constants = **session().constants();
  CHECK_FALSE(resolve_parameters(own.device, "convolution", "fp32", constants).transferred);
  CHECK(resolve_parameters(renamed.device, "convolution", "fp32", constants).transferred);
  const double ratio = renamed.step() / own.step();
  CHECK(ratio > 0.7);
  CHECK(ratio < 1.4);
}

TEST_CASE("the critical path of a step has no gaps and is as long as the step's timeline") {
  for (const char* model : kModels) {
    for (const char* stack : kStacks) {
      INFO(model << " under " << stack);
      const LoweredStep built = Bench(model, stack).lowered();
      const engine::Timeline timeline = engine::simulate(built.graph);
      SimTime at{0};
      for (const engine::TaskId id : engine::critical_path(timeline)) {
        const auto i = static_cast<std::size_t>(id.value);
        REQUIRE(timeline.start[i] == at);
        at = timeline.end[i];
      }
      CHECK(at == timeline.makespan);
    }
  }
}
