// P3 (Jayarajan et al., MLSys 2019): where sending slices in the order of their use gains most.
#include <algorithm>
#include <cmath>

#include "model/prediction/predict.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

/// Step of `model` on so many machines of one GPU; the network delivers 0.8 of what it is set to (TCP).
Seconds step(Session& session, const char* model, int nodes, const char* exchange, double gigabits) {
  PredictOptions options;
  options.hardware = "p4000";
  options.model = model;
  options.stack = "mxnet-1.2";
  options.batch = 32;
  options.nodes = nodes;
  if (nodes > 1) {
    options.network = "ethernet-25g";
    options.exchange = exchange;
    options.set = {"network.bandwidth=" + std::to_string(gigabits) + " Gb/s"};
  }
  return predict(session, options).value().step_time.value;
}

}  // namespace

TEST_CASE("P3 gains most where a step's bytes just fit: 2 S (N-1) / N / T1 of delivered bandwidth") {
  struct Network {
    const char* name;
    double bytes;  // of its gradients
  };
  constexpr int kNodes = 4;
  constexpr double kDelivered = 0.8, kStep = 1.12;
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  for (const Network& network : {Network{"resnet50", 102.2e6}, Network{"vgg19", 574.7e6}}) {
    INFO(network.name);
    const double alone = step(*session, network.name, 1, "", 0.0).base();
    const double law = 2.0 * network.bytes * (kNodes - 1) / kNodes / alone * 8e-9 / kDelivered;  // as set, Gb/s
    double best = 0.0, peak = 0.0;
    for (int k = -4; k <= 4; ++k) {
      const double bandwidth = law * std::pow(kStep, k);
      const double gain =
          step(*session, network.name, kNodes, "ps", bandwidth) / step(*session, network.name, kNodes, "ps-p3", bandwidth);
      if (gain > best) {
        best = gain;
        peak = bandwidth;
      }
    }
    CHECK(best > 1.2);
    CHECK(peak < 1.3 * law);
    CHECK(peak > law / 1.3);
  }
}
