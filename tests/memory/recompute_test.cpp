// Recomputation: what is repeated, and what it saves.
#include "model/workload/recompute.hpp"

#include <algorithm>

#include "model/memory/footprint.hpp"
#include "model/workload/stages.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

OpGraph network(const char* name) {
  const ZooEntry* entry = find_network(name, "torchvision").value();
  return entry->build(*entry, {}).value();
}

std::vector<StepNode> nodes(const OpGraph& graph, Recompute recompute) {
  const TrainingStep step = with_recompute(graph, training_step(graph), recompute);
  std::vector<StepNode> all;
  for (const auto* part : {&step.forward, &step.backward, &step.update}) all.insert(all.end(), part->begin(), part->end());
  return all;
}

StepMemory memory(const OpGraph& graph, Recompute recompute, MemoryPlan plan) {
  Stack stack;
  stack.framework = plan == MemoryPlan::bfc ? Framework::tensorflow : Framework::pytorch;
  stack.memory.plan = plan;
  FootprintOptions options;
  options.batch = 32;
  return step_memory(graph, nodes(graph, recompute), {}, stack, options);
}

constexpr const char* kNetworks[] = {"alexnet",      "vgg16",       "resnet50",     "resnet152",
                                     "inception_v3", "densenet121", "mobilenet_v2", "googlenet"};

}  // namespace

TEST_CASE("ResNet-50 has a block for its stem and one for each residual unit") {
  const OpGraph graph = network("resnet50");
  const std::vector<OpId> segments = recompute_segments(graph, Recompute::block);
  CHECK(segments.size() == 18);  // stem, 16 units, classifier
  CHECK(recompute_segments(graph, Recompute::full).size() <= 18);
  CHECK(recompute_segments(graph, Recompute::none).size() == 1);
}

TEST_CASE("every operator but those of the last segment is computed twice, before its backward") {
  for (const char* name : kNetworks) {
    INFO(name);
    const OpGraph graph = network(name);
    for (const Recompute recompute : {Recompute::block, Recompute::full}) {
      const OpId last = recompute_segments(graph, recompute).back();
      std::vector<int> passes(graph.ops.size(), 0);
      std::vector<bool> done(graph.ops.size(), false);
      for (const StepNode& node : nodes(graph, recompute)) {
        const auto op = static_cast<std::size_t>(node.op.value);
        if (node.pass == Pass::forward) {
          CHECK_FALSE(done[op]);
          ++passes[op];
        } else if (node.pass != Pass::gradient_sum && node.pass != Pass::update) {
          CHECK(passes[op] == (node.op < last ? 2 : 1));
          done[op] = true;
        }
      }
    }
  }
}

TEST_CASE("where recomputation stops early, what a layer makes behind the last kept tensor runs once") {
  // Llama's layers end with a product, which keeps its input, and a sum, which keeps nothing. GPT-2's have a dropout behind the
  // product, whose mask is made again with all before it.
  for (const auto& [name, once] :
       {std::pair{"llama-3.2-1b", std::vector{OpKind::linear, OpKind::add}}, {"gpt2", std::vector{OpKind::add}}}) {
    INFO(name);
    const OpGraph graph = network(name);
    const std::vector<OpId> layers = recompute_segments(graph, Recompute::layer);
    const std::vector<bool> repeated = repeated_of_segments(graph, {Recompute::layer, true});
    REQUIRE(layers.size() > 4);
    for (std::size_t layer = 1; layer + 2 < layers.size(); ++layer) {
      std::vector<OpKind> left;
      for (std::int32_t op = layers[layer].value; op < layers[layer + 1].value; ++op)
        if (!repeated[static_cast<std::size_t>(op)]) left.push_back(graph.op(OpId{op}).kind);
      CHECK(left == once);
    }
    const std::vector<bool> all = repeated_of_segments(graph, Recompute::layer);
    CHECK(std::find(all.begin(), all.end(), false) == all.end());
  }
}

TEST_CASE("recomputing never raises the peak of feature maps, and saves much where there are blocks") {
  for (const MemoryPlan plan : {MemoryPlan::caching_allocator, MemoryPlan::bfc})
    for (const char* name : kNetworks) {
      INFO(name);
      const OpGraph graph = network(name);
      const auto maps = [&](Recompute recompute) {
        const StepMemory m = memory(graph, recompute, plan);
        std::vector<Lifetime> own;
        std::copy_if(m.arrays.begin(), m.arrays.end(), std::back_inserter(own),
                     [](const Lifetime& l) { return l.part == MemoryPart::feature_maps; });
        return memory_profile(own, static_cast<std::int32_t>(m.ops.size())).at_peak.total();
      };
      const Bytes kept = maps(Recompute::none);
      CHECK(maps(Recompute::block) <= kept);
      CHECK(maps(Recompute::full) <= kept);
      if (name == std::string("resnet152")) CHECK(maps(Recompute::block) < 0.35 * kept);
    }
}

TEST_CASE("what a segment makes again for no one is held until its backward is over, and nothing to the update") {
  const OpGraph graph = network("gpt2");
  const std::vector<StepNode> step = nodes(graph, Recompute::layer);
  const auto is_update = [](const StepNode& node) { return node.pass == Pass::update; };
  const auto update = static_cast<std::int32_t>(std::find_if(step.begin(), step.end(), is_update) - step.begin());
  const StepMemory m = memory(graph, Recompute::layer, MemoryPlan::caching_allocator);
  int again = 0;
  for (const Lifetime& array : m.arrays) {
    if (array.part != MemoryPart::feature_maps) continue;
    CHECK(array.death <= update + 1);
    // The sum that ends a layer: its second result is there until the layer before is computed again, or the update.
    const auto pass = [&](std::int32_t node) { return step[static_cast<std::size_t>(node)].pass; };
    if (graph.op(array.op).kind == OpKind::add && pass(array.birth) == Pass::forward && pass(array.birth + 1) != Pass::forward)
      again += pass(array.death - 1) == Pass::forward || pass(array.death - 1) == Pass::update ? 1 : 0;
  }
  CHECK(again == 12);
}

TEST_CASE("every micro-batch in flight adds what the pass forward keeps, recomputed stages only the inputs of their layers") {
  const OpGraph whole = network("gpt2");
  const OpGraph stage = stage_share(whole, stages_of(whole, 4).value(), 1);  // three layers
  const auto peak = [&](Recompute recompute, int in_flight) {
    const TrainingStep step = with_recompute(stage, training_step(stage), recompute, true);
    std::vector<StepNode> all;
    for (const auto* part : {&step.forward, &step.backward, &step.update})
      std::copy_if(part->begin(), part->end(), std::back_inserter(all),
                   [&](const StepNode& node) { return stage.op(node.op).kind != OpKind::input; });
    Stack stack;
    stack.framework = Framework::pytorch;
    FootprintOptions options;
    options.batch = 1;
    options.in_flight = in_flight;
    options.received = true;
    const StepMemory m = step_memory(stage, all, {}, stack, options);
    CHECK(m.ranks.front().peak >= m.lower_bound);
    return m.lower_bound;
  };
  const Bytes map = 1024.0 * 768.0 * Bytes(4.0);
  // Beside the received map the inputs of the second and third layer and the stage's result.
  CHECK(peak(Recompute::layer, 3) - peak(Recompute::layer, 2) == 4.0 * map);
  CHECK(peak(Recompute::none, 3) - peak(Recompute::none, 2) == peak(Recompute::none, 2) - peak(Recompute::none, 1));
  CHECK(peak(Recompute::none, 3) - peak(Recompute::none, 2) > 3.0 * 12.0 * 1024.0 * 1024.0 * Bytes(4.0));
}

TEST_CASE("the update of a stage finds no micro-batch in flight: the peak is theirs beside backward, or the update's alone") {
  const OpGraph whole = network("gpt2");
  const OpGraph stage = stage_share(whole, stages_of(whole, 4).value(), 1);
  const TrainingStep step = training_step(stage);
  std::vector<StepNode> all;
  for (const auto* part : {&step.forward, &step.backward, &step.update})
    std::copy_if(part->begin(), part->end(), std::back_inserter(all),
                 [&](const StepNode& node) { return stage.op(node.op).kind != OpKind::input; });
  const auto held = [&](double in_flight, double update_arrays) {
    Stack stack;
    stack.framework = Framework::pytorch;
    stack.update.kind = UpdateKind::multi_tensor;
    FootprintOptions options;
    options.batch = 1;
    options.in_flight = in_flight;
    options.update_arrays = update_arrays;
    return step_memory(stage, all, {}, stack, options);
  };
  const auto left_at_the_end = [](const StepMemory& memory) {
    Bytes sum;
    for (const Lifetime& array : memory.arrays)
      if (array.death == static_cast<std::int32_t>(memory.ops.size())) sum += array.bytes;
    return sum;
  };
  for (const double arrays : {1.0, 40.0}) {
    const Bytes update = left_at_the_end(held(1, arrays));
    for (const double in_flight : {1.0, 2.0, 8.0}) {
      INFO(in_flight << " in flight, " << arrays << " arrays a parameter in the update");
      const StepMemory memory = held(in_flight, arrays);
      CHECK(memory.lower_bound == std::max(held(in_flight, 0.0).lower_bound, update));
      CHECK(memory.ranks.front().reserved >= memory.lower_bound);
      CHECK(left_at_the_end(memory) == update);
    }
  }
  // Of 40 arrays a parameter the update is the fullest moment with two in flight, of one it is not.
  CHECK(held(2, 40).lower_bound == held(1, 40).lower_bound);
  CHECK(held(2, 1).lower_bound > held(1, 1).lower_bound);
}

// pytorch/torchtitan, activation_checkpoint.py: selective_checkpointing_context_fn is called for each block, so that each counts
// its seven products anew.
TEST_CASE("torchtitan's selective mode repeats every second product of each layer, the same ones in all layers") {
  const OpGraph graph = network("llama-3-8b");
  const std::vector<bool> again = selected_again(graph, Recompute::operators);
  const std::vector<OpId> layers = recompute_segments(graph, Recompute::layer);
  REQUIRE(layers.size() == 33);  // the last is the head
  for (std::size_t layer = 0; layer + 1 < layers.size(); ++layer) {
    INFO("layer " << layer);
    std::vector<bool> products;
    for (auto op = static_cast<std::size_t>(layers[layer].value); op < static_cast<std::size_t>(layers[layer + 1].value); ++op)
      if (graph.ops[op].kind == OpKind::linear) products.push_back(again[op]);
    // query, key, value, output, w1, w3, w2
    CHECK(products == std::vector<bool>{false, true, false, true, false, true, false});
  }
}

// apache/mxnet 1.1.0 graph_executor.cc, InitFullGraph: everything but convolutions, products, normalisations, concatenations,
// dropout and the loss. The copies that live at once are few, since each is made when it is asked for.
TEST_CASE("MXNet's mirroring repeats cheap operators once, before their backward, and keeps what made them") {
  for (const char* name : {"alexnet", "resnet50", "googlenet", "inception_v3"}) {
    INFO(name);
    const ZooEntry* entry = find_network(name, "mxnet").value();
    const OpGraph graph = build_network(*entry, {}).value();
    std::vector<int> passes(graph.ops.size(), 0);
    for (const StepNode& node : nodes(graph, Recompute::mirror)) {
      const auto op = static_cast<std::size_t>(node.op.value);
      if (node.pass == Pass::forward) ++passes[op];
      if (node.pass == Pass::forward || node.pass == Pass::gradient_sum || node.pass == Pass::update) continue;
      CHECK(passes[op] == (mirrored(graph.op(node.op)) ? 2 : 1));
    }
    Stack stack;
    stack.framework = Framework::mxnet;
    stack.memory.plan = MemoryPlan::mxnet;
    stack.features.gradients_from_start = true;
    stack.operators.inplace_activation = false;
    FootprintOptions options;
    options.batch = 32;
    const auto maps = [&](bool mirrors) {
      options.mirrors = mirrors;
      const StepMemory memory = step_memory(graph, {}, {}, stack, options);
      Bytes kept;
      const auto turn = std::find_if(memory.passes.begin(), memory.passes.end(), [](Pass p) { return p != Pass::forward; }) -
                        memory.passes.begin();
      for (const Lifetime& array : memory.arrays)
        if (array.part == MemoryPart::feature_maps && array.birth < turn && array.death > turn) {
          kept += array.bytes;
          if (mirrors) CHECK((!mirrored(graph.op(array.op)) || array.death <= turn + 2));
        }
      return std::pair(kept, memory.profile.at_peak[MemoryPart::feature_maps]);
    };
    const auto [kept, peak] = maps(false);
    const auto [fewer, lower] = maps(true);
    CHECK(fewer < 0.8 * kept);
    CHECK(lower <= peak);
  }
}
