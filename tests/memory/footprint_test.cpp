// Parts of a rank's memory: what each counts, and what they must obey whatever the network.
#include "model/memory/footprint.hpp"

#include "model/workload/graph_builder.hpp"
#include "model/workload/saved_tensors.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

OpGraph network(const char* name) {
  const ZooEntry* entry = find_network(name, "torchvision").value();
  return entry->build(*entry, {}).value();
}

const OpGraph& resnet() {
  static const OpGraph kGraph = network("resnet50");
  return kGraph;
}

Stack stack() {
  Stack s;
  s.context = Bytes(0.5e9);
  return s;
}

Bytes sum(const Footprint& f) {
  return f.weights + f.gradients + f.optimizer_state + f.feature_maps + f.workspace + f.dynamic + f.input + f.exchange +
         f.context + f.slack;
}

FootprintOptions batch(double samples) {
  FootprintOptions options;
  options.batch = samples;
  return options;
}

}  // namespace

TEST_CASE("the total is the sum of its parts") {
  FootprintOptions options = batch(32);
  options.exchange_bucket = Bytes(25e6);
  const Footprint f = footprint(resnet(), {}, stack(), options);
  CHECK(f.total() == sum(f));
  for (const Bytes part :
       {f.weights, f.gradients, f.optimizer_state, f.feature_maps, f.dynamic, f.input, f.exchange, f.context, f.slack})
    CHECK(part > Bytes(0.0));
}

TEST_CASE("parameters, gradients and optimiser state: bytes per parameter") {
  const auto parameters = static_cast<double>(resnet().parameter_elements());
  const auto per_parameter = [&](Bytes element, double states, bool master) {
    FootprintOptions options = batch(1);
    options.element = element;
    options.optimizer_states = states;
    options.master_weights = master;
    const Footprint f = footprint(resnet(), {}, stack(), options);
    return (f.weights + f.gradients + f.optimizer_state).base() / parameters;
  };
  CHECK_THAT(per_parameter(Bytes(4.0), 0, false), WithinRel(8.0, 1e-12));   // fp32 SGD
  CHECK_THAT(per_parameter(Bytes(4.0), 1, false), WithinRel(12.0, 1e-12));  // momentum
  CHECK_THAT(per_parameter(Bytes(4.0), 2, false), WithinRel(16.0, 1e-12));  // Adam
  CHECK_THAT(per_parameter(Bytes(2.0), 2, true), WithinRel(18.0, 1e-12));   // mixed: 2 + 4, 4, 8
}

TEST_CASE("what depends on the batch is proportional to it, the rest does not move") {
  const Footprint one = footprint(resnet(), {}, stack(), batch(1)), many = footprint(resnet(), {}, stack(), batch(64));
  CHECK_THAT(many.input.base(), WithinRel(64 * one.input.base(), 1e-12));
  CHECK_THAT(many.dynamic.base(), WithinRel(64 * one.dynamic.base(), 1e-12));
  CHECK(one.input == Bytes(3.0 * 224 * 224 * 4));
  CHECK(one.dynamic == Bytes(2.0 * 64 * 112 * 112 * 4));  // two buffers of the largest map
  const Bytes fixed = saved_bytes(resnet(), SavingRules::autograd_cuda, Bytes(4.0)).fixed;
  CHECK_THAT((many.feature_maps - fixed).base(), WithinRel(64 * (one.feature_maps - fixed).base(), 1e-9));
  CHECK(many.weights == one.weights);
  CHECK(many.context == one.context);
}

TEST_CASE("never less memory for a larger batch, in any network") {
  for (const char* name : {"alexnet", "vgg16", "resnet50", "inception_v3", "densenet121", "mobilenet_v2"}) {
    INFO(name);
    const OpGraph graph = network(name);
    Bytes before(0.0);
    for (const double samples : {1.0, 2.0, 3.0, 32.0, 33.0, 256.0}) {
      const Footprint f = footprint(graph, {}, stack(), batch(samples));
      CHECK(f.total() > before);
      CHECK_THAT(f.total().base(), WithinRel(sum(f).base(), 1e-12));
      before = f.total();
    }
  }
}

TEST_CASE("16-bit feature maps take half") {
  FootprintOptions options = batch(32);
  const Footprint single = footprint(resnet(), {}, stack(), options);
  options.element = Bytes(2.0);
  const Footprint half = footprint(resnet(), {}, stack(), options);
  CHECK(half.feature_maps < 0.6 * single.feature_maps);
  CHECK(half.dynamic == 0.5 * single.dynamic);
  CHECK(half.input == single.input);  // images arrive as fp32
}

TEST_CASE("one workspace serves all kernels: the largest") {
  std::vector<NodeCost> costs(3);
  costs[0].kernel.workspace = Bytes(1e6);
  costs[1].kernel.workspace = Bytes(47185920.0);
  costs[2].kernel.workspace = Bytes(0.0);
  CHECK(footprint(resnet(), costs, stack(), batch(1)).workspace == Bytes(47185920.0));
  CHECK(footprint(resnet(), {}, stack(), batch(1)).workspace == Bytes(0.0));
}

TEST_CASE("MXNet keeps inputs of activations where others overwrite them") {
  Stack mxnet = stack();
  mxnet.memory_plan = MemoryPlan::mxnet;
  mxnet.inplace_activation = false;
  CHECK(footprint(resnet(), {}, mxnet, batch(32)).feature_maps != footprint(resnet(), {}, stack(), batch(32)).feature_maps);
}
