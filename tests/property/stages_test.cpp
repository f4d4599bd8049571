// What a step is told to be made of must be able to be true together.
#include <fmt/format.h>

#include <numeric>

#include "model/configuration/session.hpp"
#include "model/prediction/predict.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

Prediction predicted(const std::string& hardware, const std::string& model, const std::string& stack, const std::string& exchange,
                     const std::string& input, int nodes = 1) {
  static const std::shared_ptr<Session> kSession = open_session({TBDSIM_SOURCE_DIR});
  PredictOptions options;
  options.hardware = hardware;
  options.model = model;
  options.stack = stack;
  options.exchange = exchange;
  options.input = input;
  options.nodes = nodes;
  const auto prediction = predict(*kSession, options);
  INFO((prediction ? std::string() : to_text(prediction.error())));
  REQUIRE(prediction);
  return *prediction;
}

double input_share(const Prediction& p) {
  for (const Limit& limit : p.limits)
    if (limit.resource == Resource::input) return limit.share;
  return 0.0;
}

}  // namespace

TEST_CASE("stages sum to the step, limits to 1, and no wait stands beside a critical path that has no room for it") {
  for (const char* stack : {"mxnet-1.2", "mxnet-ngc-18.04"}) {
    for (const char* exchange : {"p2p", "nccl", "local", "ps", "allreduce"}) {
      for (const char* model : {"lenet", "alexnet", "resnet50"}) {
        for (const char* input : {"synthetic", "imagenet-records"}) {
          if (std::string(model) == "lenet" && std::string(input) != "synthetic") continue;
          INFO(fmt::format("{} {} {} {}", stack, exchange, model, input));
          const Prediction p = predicted("dgx1", model, stack, exchange, input);
          const PhaseTimes& s = p.phases;
          const Seconds sum = s.forward + s.backward + s.weight_update + s.metric + s.exchange_exposed + s.input_exposed +
                              s.host_exposed + s.bubble;
          CHECK_THAT(sum.base(), WithinRel(p.step_time.value.base(), 1e-6));
          double limits = 0.0;
          for (const Limit& limit : p.limits) limits += limit.share;
          CHECK_THAT(limits, WithinAbs(1.0, 1e-9));
          const Seconds waits = s.exchange_exposed + s.host_exposed + s.bubble;
          CHECK(waits / p.step_time.value <= 1.0 - input_share(p) + 1e-9);
          CHECK(s.exchange_total >= s.exchange_exposed * (1.0 - 1e-9));
        }
      }
    }
  }
}

TEST_CASE("a store's update is told: what the GPUs wait for, and what it takes") {
  for (const char* exchange : {"p2p", "nccl", "ps", "local"}) {
    INFO(exchange);
    const PhaseTimes s = predicted("dgx1", "vgg16", "mxnet-1.2", exchange, "").phases;
    CHECK(s.weight_update_total > Seconds(0.0));
    CHECK(s.weight_update_total >= s.weight_update * (1.0 - 1e-9));
    CHECK(s.weight_update >= s.store_update);
  }
}

TEST_CASE("an update takes as long where a store makes it as on one GPU: what slows kernels under NCCL slows it, too") {
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  const auto update = [&](int gpus) {
    PredictOptions options;
    options.hardware = "dgx1";
    options.model = "resnet50";
    options.stack = "mxnet-ngc-18.04";
    options.exchange = "nccl";
    options.batch = 16;
    options.gpus = gpus;
    return predict(*session, options)->phases.weight_update_total.base();
  };
  for (const int gpus : {2, 8}) CHECK_THAT(update(gpus), WithinRel(update(1), 1e-3));
}

TEST_CASE("over PCIe what the exchange adds to backward is what it takes longer than on one GPU") {
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  for (const char* stack : {"pytorch-2.1", "mxnet-1.2"}) {
    INFO(stack);
    const auto phases = [&](int gpus) {
      PredictOptions options;
      options.hardware = "rtx-3090";
      options.model = "resnet50";
      options.stack = stack;
      options.gpus = gpus;
      const auto prediction = predict(*session, options);
      REQUIRE(prediction);
      return prediction->phases;
    };
    const PhaseTimes one = phases(1), eight = phases(8);
    CHECK(one.exchange_in_backward == Seconds(0.0));
    CHECK(eight.exchange_in_backward > 0.2 * eight.backward);
    CHECK_THAT((eight.backward - eight.exchange_in_backward).base(), WithinRel(one.backward.base(), 1e-4));
  }
}

TEST_CASE("MXNet's training loop evaluates every batch, other frameworks' loops do not") {
  const PhaseTimes mxnet = predicted("v100-sxm2-16gb", "resnet50", "mxnet-1.2", "", "").phases;
  CHECK(mxnet.metric > Seconds(0.0));
  CHECK(mxnet.metric < 0.01 * mxnet.forward);
  CHECK(predicted("v100-sxm2-16gb", "resnet50", "pytorch-1.13", "", "").phases.metric == Seconds(0.0));
}

TEST_CASE("a loader that is too slow hides what is exchanged beside it") {
  const Prediction p = predicted("dgx1", "alexnet", "mxnet-ngc-18.04", "p2p", "imagenet-records");
  CHECK(p.limit.resource == Resource::input);
  CHECK(p.limit.share > 0.9);
  CHECK(p.phases.input_exposed > 0.8 * p.step_time.value);
  CHECK(p.phases.exchange_exposed < 0.1 * p.step_time.value);
  CHECK(p.phases.exchange_total > p.phases.exchange_exposed);
}

TEST_CASE("a loader that is too slow hides what a store updates, on any number of GPUs") {
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  for (const int gpus : {2, 4, 8}) {
    INFO(gpus);
    PredictOptions options;
    options.hardware = "dgx1";
    options.model = "alexnet";
    options.stack = "mxnet-ngc-18.04";
    options.exchange = "nccl";
    options.batch = 16;
    options.gpus = gpus;
    const Prediction p = *predict(*session, options);
    CHECK(p.limit.resource == Resource::input);
    CHECK(p.phases.weight_update_total > Seconds(0.0));
    CHECK(p.phases.weight_update <= (1.0 - input_share(p) + 1e-9) * p.phases.weight_update_total);
    CHECK(p.phases.weight_update + p.phases.exchange_total >= p.phases.weight_update_total);
  }
}
