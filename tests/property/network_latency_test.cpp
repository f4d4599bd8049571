// A message that takes longer on the network between nodes never makes a step shorter, whatever exchanges over it; where messages
// stand in the way, it makes it longer.
#include <fmt/format.h>

#include "model/survey/collective_survey.hpp"
#include "tests/catch.hpp"
#include "tests/predicted.hpp"

using namespace tbdsim;

namespace {

struct Job {
  const char *hardware, *model, *stack, *exchange, *network;
  int tensor;
};
constexpr Job kJobs[]{{"dgx1", "resnet50", "pytorch-2.1", "allreduce", "ethernet-10g", 1},
                      {"dgx1", "bert-base", "pytorch-2.1", "allreduce", "infiniband-edr", 1},
                      {"dgx1", "vgg16", "pytorch-1.13", "byteps", "ethernet-100g", 1},
                      {"dgx1", "alexnet", "mxnet-1.2", "ps", "ethernet-10g", 1},
                      {"aws-p4d.24xlarge", "bert-base", "pytorch-2.1", "allreduce", "", 1},
                      {"dgx-h100", "gpt2", "", "allreduce", "", 4}};

}  // namespace

TEST_CASE("a network of higher latency never makes a step shorter, and one of a second makes it longer") {
  // A list of tasks that wait by priority may end a rounding of the clock earlier.
  constexpr double kRounding = 1.0 + 1e-6;
  for (const Job& job : kJobs) {
    PredictOptions o;
    o.hardware = job.hardware;
    o.model = job.model;
    o.stack = job.stack;
    o.exchange = job.exchange;
    o.network = job.network;
    o.nodes = 2;
    if (job.tensor > 1) o.tensor_parallel = job.tensor;
    INFO(fmt::format("{} {} {} {}", job.hardware, job.model, job.exchange, job.network));
    const Seconds usual = predicted(o).step_time.value;
    Seconds before(0.0);
    for (const char* latency : {"0 us", "0.5 us", "20 us", "60 us", "100 us", "1 ms", "1 s"}) {
      o.set = {fmt::format("network.latency={}", latency)};
      // Servers that speak TCP have a latency of their own.
      if (std::string(job.exchange) == "ps") o.set.push_back(fmt::format("network.tcp_latency={}", latency));
      const Seconds here = predicted(o).step_time.value;
      INFO(latency);
      CHECK(before <= here * kRounding);
      before = here;
    }
    CHECK(before > Seconds(1.0));
    CHECK(usual < Seconds(1.0));
  }
}
