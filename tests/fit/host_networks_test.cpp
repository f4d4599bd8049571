// Whole networks, of which only the framework's own work was timed: PyTorch 1.13 on the device "meta" of the reference host, with
// kernels and library calls that do nothing. The classes of operators were set by single operators.
#include <algorithm>

#include "calibrate/decode/host_samples.hpp"
#include "model/cost/kernel_model.hpp"
#include "model/hardware/cluster.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/architectures.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const std::string kRoot = TBDSIM_SOURCE_DIR;

/// Framework's time of forward and backward on the reference host.
Seconds predicted(const std::string& network) {
  Stack stack = load_stack(kRoot, "pytorch-1.13").value();
  IssueSettings& issue = *stack.host.issue;
  issue.kernel = issue.convolution = issue.batch_norm = issue.product = Seconds(0.0);
  const Device device = load_device({kRoot}, "v100-sxm2-16gb").value();
  const KernelConstants constants = read_kernel_constants(kRoot + "/hardware/kernels.toml", all_architectures()).value();
  const KernelModel kernels = KernelModel::make(device, Precision::fp32, stack, constants).value();
  const ZooEntry* entry = find_network(network, "torchvision").value();
  const OpGraph graph = entry->build(*entry, {}).value();
  const TrainingStep step = training_step(graph);
  double operators = 0.0;
  for (const auto* part : {&step.forward, &step.backward})
    for (const StepNode& node : *part) operators += kernels.cost(graph, node, 1).host_operators;
  return operators * issue.unit();
}

Seconds measured(const std::string& network) {
  const auto samples = calibrate::read_host_samples(kRoot + "/calibrate/samples/host/reference.csv").value().samples;
  const auto found = std::find_if(samples.begin(), samples.end(), [&](const calibrate::HostSample& s) {
    return s.op == network && s.pass == "forward+backward";
  });
  REQUIRE(found != samples.end());
  return found->time;
}

}  // namespace

TEST_CASE("the framework's part of whole networks, from its single operators, within 10 %") {
  for (const char* network : {"resnet50", "vgg16", "shufflenet_v2_x1_0", "resnext50_32x4d", "vgg11_bn", "mnasnet1_0"}) {
    INFO(network);
    CHECK(std::abs(predicted(network) / measured(network) - 1.0) < 0.10);
  }
}
