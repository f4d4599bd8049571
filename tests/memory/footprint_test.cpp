// A rank's memory over a step: what each part counts, and what it must obey whatever the network and the framework.
#include "model/memory/footprint.hpp"
#include "model/memory/allocator_bfc.hpp"

#include <algorithm>

#include "model/memory/eager_trace.hpp"
#include "model/memory/replay.hpp"
#include "model/workload/graph_builder.hpp"
#include "model/workload/saved_tensors.hpp"
#include "tests/memory/small_step.hpp"

using namespace tbdsim;
using namespace tbdsim::small_step;

TEST_CASE("parts sum to the peak, allocated <= reserved <= peak") {
  for (const MemoryPlan plan : kPlans)
    for (const int ranks : {1, 8}) {
      FootprintOptions options = batch(32);
      options.ranks = options.ranks_per_node = ranks;
      const StepMemory memory = of(resnet(), stack(plan), options);
      REQUIRE(memory.ranks.size() == static_cast<std::size_t>(ranks));
      for (const RankMemory& rank : memory.ranks) {
        CHECK_THAT(rank.parts.total().base(), WithinRel(rank.peak.base(), 1e-12));
        CHECK(rank.allocated <= rank.reserved);
        CHECK(rank.peak == rank.reserved + rank.parts[MemoryPart::context]);
        for (const Bytes part : rank.parts.bytes) CHECK(part >= Bytes(0.0));
      }
    }
}

TEST_CASE("the peak is at least what stays and at least what backward needs") {
  for (const MemoryPlan plan : kPlans)
    for (const char* name : {"alexnet", "vgg16", "resnet50", "inception_v3", "densenet121", "mobilenet_v2", "googlenet"}) {
      INFO(name);
      const Network n = network(name);
      const StepMemory memory = of(n, stack(plan), batch(8));
      Bytes stays;
      for (const Lifetime& array : memory.arrays)
        if (array.birth == 0 && array.death == static_cast<std::int32_t>(memory.ops.size())) stays += array.bytes;
      CHECK(memory.lower_bound >= stays);
      CHECK(memory.ranks.front().reserved >= memory.lower_bound);
      if (plan != MemoryPlan::caching_allocator) continue;
      const auto first_backward = static_cast<std::int32_t>(
          std::find_if(memory.passes.begin(), memory.passes.end(), [](Pass p) { return p != Pass::forward; }) -
          memory.passes.begin());
      Bytes kept;
      for (const Lifetime& array : memory.arrays)
        if (array.part == MemoryPart::feature_maps && array.birth <= first_backward && array.death > first_backward)
          kept += array.bytes;
      const SavedBytes saved = saved_bytes(n.graph, SavingRules::autograd_cuda);
      const Bytes input = 8.0 * static_cast<double>(elements(n.graph.tensors.front().shape)) * Bytes(4.0);
      // What the loss keeps besides is the probabilities.
      const Bytes loss = 8.0 * 1000 * Bytes(4.0);
      CHECK_THAT((kept + input).base(), WithinRel((8.0 * saved.per_sample + saved.fixed + loss).base(), 2e-3));
    }
}

TEST_CASE("a sparse gradient takes the rows read and their indices, whatever the table's size") {
  const auto gradients = [](std::int64_t rows, bool sparse) {
    GraphBuilder g("table", "file", "record", {26}, 4);
    const TensorId x = g.add(OpKind::embedding, {g.input()}, EmbeddingAttributes{rows, 128, false, 1, sparse});
    g.add(OpKind::element_loss, {x}, {}, "loss");
    return of(network(std::move(g).finish().value()), stack(MemoryPlan::caching_allocator), batch(1000))
        .ranks.front()
        .parts[MemoryPart::gradients]
        .base();
  };
  CHECK(gradients(10'000'000, true) == 26000.0 * (128 * 4 + 8));
  CHECK(gradients(50'000, true) == gradients(10'000'000, true));
  CHECK(gradients(10'000'000, false) == 1e7 * 128 * 4);
}

TEST_CASE("frozen weights are held without gradient, master copy and state; borrowed ones are held once") {
  using Weights = GraphBuilder::Weights;
  constexpr std::int64_t kWidth = 512;
  const auto parts = [](Weights first, FootprintOptions options) {
    GraphBuilder g("frozen", "file", "row", {4, kWidth}, 1);
    g.set_weights(first);
    TensorId x = g.linear(g.input(), kWidth, "first", false);
    g.set_weights(Weights::own);
    x = g.linear(x, kWidth, "second", false);
    g.set_weights(Weights::borrowed);
    x = g.linear(x, kWidth, "second again", false);
    g.add(OpKind::element_loss, {x}, {}, "loss");
    Stack s = stack();
    s.memory.keeps_gradients = true;
    return of(network(std::move(g).finish().value()), s, options).ranks.front().parts;
  };
  constexpr double kArray = kWidth * kWidth;
  FootprintOptions options = batch(1);
  options.optimizer_states = 2;
  const MemoryParts trained = parts(Weights::own, options), frozen = parts(Weights::frozen, options);
  CHECK(trained[MemoryPart::weights].base() == 2 * 4 * kArray);
  CHECK(frozen[MemoryPart::weights] == trained[MemoryPart::weights]);
  CHECK(frozen[MemoryPart::gradients].base() == 4 * kArray);
  CHECK(frozen[MemoryPart::optimizer_state].base() == 8 * kArray);
  options.element = Bytes(2.0);
  options.master_weights = true;
  CHECK(parts(Weights::frozen, options)[MemoryPart::weights].base() == (2 + 4 + 2) * kArray);
  options.ranks = options.ranks_per_node = 4;
  options.zero = 3;  // with what is gathered of the largest operators
  CHECK(parts(Weights::frozen, options)[MemoryPart::weights].base() == ((2 + 4 + 2) / 4.0 + 2 * 2) * kArray);
}

TEST_CASE("parameters, gradients and optimiser state: bytes per parameter") {
  const auto parameters = static_cast<double>(resnet().graph.parameter_elements());
  const auto per_parameter = [&](Bytes element, double states, bool master) {
    FootprintOptions options = batch(1);
    options.element = element;
    options.optimizer_states = states;
    options.master_weights = master;
    Stack s = stack();
    s.memory.keeps_gradients = true;
    const MemoryParts parts = of(resnet(), s, options).ranks.front().parts;
    return (parts[MemoryPart::weights] + parts[MemoryPart::gradients] + parts[MemoryPart::optimizer_state]).base() / parameters;
  };
  CHECK_THAT(per_parameter(Bytes(4.0), 0, false), WithinRel(8.0, 1e-12));   // fp32 SGD
  CHECK_THAT(per_parameter(Bytes(4.0), 1, false), WithinRel(12.0, 1e-12));  // momentum
  CHECK_THAT(per_parameter(Bytes(4.0), 2, false), WithinRel(16.0, 1e-12));  // Adam
  CHECK_THAT(per_parameter(Bytes(2.0), 2, true), WithinRel(18.0, 1e-12));   // mixed: 2 + 4, 4, 8
  CHECK_THAT(per_parameter(Bytes(2.0), 2, false), WithinRel(8.0, 1e-12));   // all in 16 bits: 2, 2, 4
}

// Rajbhandari et al., arXiv:1910.02054: 16-bit weights stay whole, fp32 weights and both moments are divided; gradients here
// fp32.
TEST_CASE("ZeRO 1 divides master weights with the moments: 6 and 12 over the ranks") {
  FootprintOptions options = batch(1);
  options.element = Bytes(2.0);
  options.optimizer_states = 2;
  options.master_weights = true;
  options.zero = 1;
  options.ranks = options.ranks_per_node = 4;
  Stack s = stack();
  s.memory.keeps_gradients = true;
  const MemoryParts parts = of(resnet(), s, options).ranks.front().parts;
  const Bytes all = parts[MemoryPart::weights] + parts[MemoryPart::gradients] + parts[MemoryPart::optimizer_state];
  CHECK_THAT(all.base() / static_cast<double>(resnet().graph.parameter_elements()), WithinRel(6.0 + 12.0 / 4.0, 1e-12));
}

TEST_CASE("an update that goes over all arrays at once holds a copy of all, one by one a copy of the largest") {
  const Network alexnet = network("alexnet");
  FootprintOptions options = batch(1);
  options.optimizer_states = 2;
  options.update_arrays = 1;
  Stack s = stack();
  s.update.kind = UpdateKind::multi_tensor;
  const auto last = [&] { return of(alexnet, s, options).profile.live.back().base(); };
  const double together = last();
  options.update_arrays = 0;
  const double parameters = 4.0 * static_cast<double>(alexnet.graph.parameter_elements());
  CHECK_THAT(together - last(), WithinRel(parameters, 1e-12));
  options.update_arrays = 1;
  s.update.kind = UpdateKind::per_array;
  const auto highest = [&] {
    const std::vector<Bytes> live = of(alexnet, s, options).profile.live;
    return std::max_element(live.end() - static_cast<std::ptrdiff_t>(alexnet.graph.parameters.size()), live.end())->base();
  };
  const double one_by_one = highest();
  options.update_arrays = 0;
  CHECK_THAT(one_by_one - highest(), WithinRel(4.0 * 4096.0 * 9216.0, 1e-12));
}

TEST_CASE("accumulation keeps one fp32 gradient per parameter from the first micro-batch to the update") {
  const auto kept = [](bool accumulates) {
    FootprintOptions options = batch(8);
    options.accumulates = accumulates;
    const StepMemory memory = of(resnet(), stack(), options);
    Bytes all_along;
    for (const Lifetime& array : memory.arrays)
      if (array.part == MemoryPart::gradients && array.birth == 0 && array.death == static_cast<std::int32_t>(memory.ops.size()))
        all_along += array.bytes;
    return all_along;
  };
  CHECK(kept(true) == static_cast<double>(resnet().graph.parameter_elements()) * Bytes(4.0));
  CHECK(kept(false) == Bytes(0.0));
}

TEST_CASE("ZeRO divides states, then gradients, then weights over the ranks") {
  Stack s = stack();
  s.memory.keeps_gradients = true;
  FootprintOptions options = batch(1);
  options.ranks = options.ranks_per_node = 4;
  options.optimizer_states = 2;
  const auto parts = [&](int stage) {
    options.zero = stage;
    return of(resnet(), s, options).ranks.front().parts;
  };
  const MemoryParts none = parts(0), states = parts(1), gradients = parts(2), weights = parts(3);
  CHECK_THAT(states[MemoryPart::optimizer_state].base(), WithinRel(none[MemoryPart::optimizer_state].base() / 4, 1e-12));
  CHECK(states[MemoryPart::gradients] == none[MemoryPart::gradients]);
  // DistributedDataParallel's buckets go on holding copies of all gradients, until they are divided.
  s.exchange.copies_all = true;
  CHECK(parts(1)[MemoryPart::exchange] == parts(0)[MemoryPart::exchange]);
  CHECK(parts(2)[MemoryPart::exchange] < 0.7 * parts(1)[MemoryPart::exchange]);
  CHECK_THAT(gradients[MemoryPart::gradients].base(), WithinRel(none[MemoryPart::gradients].base() / 4, 1e-12));
  CHECK(gradients[MemoryPart::weights] == none[MemoryPart::weights]);
  CHECK(weights[MemoryPart::weights] < 0.5 * none[MemoryPart::weights]);  // a quarter, and two operators' gathered
}

// SHARD_GRAD_OP of FSDP: torch/distributed/fsdp, reshard_after_forward=False.
TEST_CASE("layers that stay gathered lie beside a rank's own part of them, which alone exists before training") {
  Stack s = stack();
  s.memory.keeps_gradients = true;
  FootprintOptions options = batch(1);
  options.ranks = options.ranks_per_node = options.expert_ranks = 4;
  options.zero = 2;
  const double parameters = static_cast<double>(resnet().graph.parameter_elements());
  const auto rank = [&] { return of(resnet(), s, options).ranks.front(); };
  const auto weights = [&](const RankMemory& memory) { return memory.parts[MemoryPart::weights].base() / parameters; };
  CHECK_THAT(weights(rank()), WithinRel(4.0, 1e-12));
  const Bytes whole = rank().pre_training;
  options.keeps_layers = true;
  CHECK_THAT(weights(rank()), WithinRel(4.0 + 4.0 / 4.0, 1e-12));
  CHECK_THAT((whole - rank().pre_training).base(), WithinRel((4.0 - 4.0 / 4.0) * parameters, 1e-12));
  // 16 bits are gathered of fp32 parts.
  options.element = Bytes(2.0);
  options.master_weights = true;
  CHECK_THAT(weights(rank()), WithinRel(2.0 + 4.0 / 4.0, 1e-12));
  // One copy has nothing to gather.
  options.ranks = options.ranks_per_node = options.expert_ranks = 1;
  CHECK_THAT(weights(rank()), WithinRel(2.0 + 4.0, 1e-12));
}

TEST_CASE("never less memory for a larger batch, in any network and framework") {
  for (const MemoryPlan plan : kPlans)
    for (const char* name : {"alexnet", "vgg16", "resnet50", "inception_v3", "densenet121", "mobilenet_v2"}) {
      INFO(name);
      const Network n = network(name);
      Bytes before(0.0);
      for (const double samples : {1.0, 4.0, 32.0, 33.0, 256.0}) {
        const Bytes bound = of(n, stack(plan), batch(samples)).lower_bound;
        CHECK(bound > before);
        before = bound;
      }
    }
}

TEST_CASE("16-bit feature maps take half, images arrive as fp32") {
  FootprintOptions options = batch(32);
  const StepMemory single = of(resnet(), stack(), options);
  options.element = Bytes(2.0);
  const StepMemory half = of(resnet(), stack(), options);
  CHECK(half.profile.at_peak[MemoryPart::feature_maps] < 0.55 * single.profile.at_peak[MemoryPart::feature_maps]);
  CHECK(half.profile.at_peak[MemoryPart::input] == single.profile.at_peak[MemoryPart::input]);
}

TEST_CASE("MXNet shares one workspace, the largest, others hold it while the kernel runs") {
  const Network mxnet = network("resnet50", "mxnet");
  std::vector<NodeCost> costs(mxnet.nodes.size());
  costs[0].kernel.workspace = Bytes(1e6);
  costs[1].kernel.workspace = Bytes(47185920.0);
  const StepMemory planned = step_memory(mxnet.graph, mxnet.nodes, costs, stack(MemoryPlan::mxnet), batch(1));
  CHECK(planned.profile.at_peak[MemoryPart::workspace] == Bytes(47185920.0));
  costs.assign(resnet().nodes.size(), {});
  costs[0].kernel.workspace = Bytes(1e6);
  const StepMemory eager = step_memory(resnet().graph, resnet().nodes, costs, stack(), batch(32));
  CHECK(eager.profile.at_peak[MemoryPart::workspace] == Bytes(0.0));  // gone long before the peak
}

TEST_CASE("GPU 0 of an NCCL store holds merged gradients, weights and momentum of all") {
  FootprintOptions options = batch(16);
  options.ranks = options.ranks_per_node = 8;
  options.exchange = Exchange::nccl;
  const Network mxnet = network("alexnet", "mxnet");
  const StepMemory memory = of(mxnet, stack(MemoryPlan::mxnet), options);
  const Bytes extra = memory.ranks[0].peak - memory.ranks[1].peak;
  CHECK_THAT(extra.base() / 1048576e3, WithinAbs(0.60, 0.03));  // BARC 2019 slides: 2.15 against 1.55
  CHECK(memory.ranks[0].pre_training == memory.ranks[7].pre_training);
  for (std::size_t i = 2; i < 8; ++i) CHECK(memory.ranks[i].peak == memory.ranks[1].peak);
}

TEST_CASE("MXNet's device store spreads its buffers: two GPUs of the published trace") {
  // Weights, merged gradients and stored weights 204.4 MB, copies 51.1, momentum 51.1 of both GPUs' mean; P = 102.2 MB.
  const Network mxnet = network("resnet50", "mxnet");
  std::vector<Bytes> arrays;
  Bytes all;
  for (const Parameter& parameter : mxnet.graph.parameters) {
    arrays.push_back(static_cast<double>(elements(parameter.shape)) * Bytes(4.0));
    all += arrays.back();
  }
  Stack unrounded = stack();
  unrounded.framework = Framework::mxnet;
  const std::vector<RankBuffers> ranks = rank_buffers(unrounded, {Exchange::p2p, 2, 1, arrays});
  const Bytes state = ranks[0].optimizer_state + ranks[1].optimizer_state, buffers = ranks[0].exchange + ranks[1].exchange;
  CHECK_THAT(state.base() / 2, WithinRel(51.1e6, 2e-3));
  CHECK_THAT((buffers / 2.0).base(), WithinRel((204.39e6 - 102.2e6) + 51.1e6, 2e-3));
  CHECK_THAT(ranks[0].exchange.base(), WithinRel(ranks[1].exchange.base(), 0.02));
  for (const RankBuffers& rank : ranks) {
    CHECK(rank.stored.total() == rank.exchange);
    CHECK(rank.stored.merged == rank.stored.weights);
    CHECK(rank.stored.received == rank.stored.merged);
  }
  const RankBuffers root = rank_buffers(unrounded, {Exchange::nccl, 2, 1, arrays}).front();
  CHECK(root.stored.merged == all);
  CHECK(root.stored.weights == all);
  CHECK(root.stored.received == Bytes(0.0));
}

TEST_CASE("every rank of an all-reduce holds the same") {
  FootprintOptions options = batch(16);
  options.ranks = options.ranks_per_node = 4;
  const StepMemory memory = of(resnet(), stack(), options);
  for (const RankMemory& rank : memory.ranks) CHECK(rank.peak == memory.ranks.front().peak);
}

TEST_CASE("an exchange keeps copies of all gradients, or one bucket's") {
  std::vector<Bytes> arrays(3, Bytes(40e6));
  Stack s = stack();
  CHECK(rank_buffers(s, {Exchange::allreduce, 2, 1, arrays}).front().exchange == s.exchange.bucket);
  s.exchange.copies_all = true;
  CHECK(rank_buffers(s, {Exchange::allreduce, 2, 1, arrays}).front().exchange == Bytes(120e6));
  // ZeRO sends bucket by bucket all the same.
  CHECK(rank_buffers(s, {Exchange::allreduce, 2, 1, arrays, true}).front().exchange == s.exchange.bucket);
  // Buckets are as wide as the gradients, the update as the weights.
  FootprintOptions options = batch(1);
  options.ranks = options.ranks_per_node = 2;
  options.element = Bytes(2.0);
  const auto count = static_cast<double>(resnet().graph.parameter_elements());
  for (const bool master : {false, true})
    for (const bool half_gradients : {false, true}) {
      options.master_weights = master;
      options.half_gradients = master && half_gradients;
      const MemoryParts parts = of(resnet(), s, options).ranks.front().parts;
      CHECK_THAT(parts[MemoryPart::exchange].base(), WithinRel((options.half_gradients || !master ? 2.0 : 4.0) * count, 1e-12));
      CHECK_THAT(parts[MemoryPart::optimizer_state].base(), WithinRel((master ? 4.0 : 2.0) * count, 1e-12));
    }
}

TEST_CASE("a store that merges on the host, or has nothing to merge, takes no GPU memory") {
  const std::vector<Bytes> arrays(3, Bytes(40e6));
  Stack s = stack(MemoryPlan::mxnet);
  s.server.emplace();
  CHECK(rank_buffers(s, {Exchange::ps, 4, 1, arrays}).front().exchange > Bytes(0.0));
  CHECK(rank_buffers(s, {Exchange::ps, 1, 1, arrays}).front().exchange == Bytes(0.0));
  s.server->reduces_on_device = false;
  CHECK(rank_buffers(s, {Exchange::ps, 4, 1, arrays}).front().exchange == Bytes(0.0));
}

TEST_CASE("MXNet's local store updates on the host up to 16 Mi elements an array, beyond, GPUs have the state") {
  for (const char* name : {"resnet50", "alexnet"}) {  // alexnet's largest: 4096 x 9216
    INFO(name);
    const Network n = network(name, "mxnet");
    FootprintOptions options = batch(1);
    options.ranks = options.ranks_per_node = 4;
    options.exchange = Exchange::local;
    for (const RankMemory& rank : of(n, stack(MemoryPlan::mxnet), options).ranks)
      CHECK((rank.parts[MemoryPart::optimizer_state] > Bytes(0.0)) == (n.graph.name == "alexnet"));
  }
}

TEST_CASE("one process for all GPUs: outputs of all of them, and the loss, lie on GPU 0 alone") {
  const Network gpt = network("gpt2", "pytorch");
  FootprintOptions options = batch(4);
  options.ranks = options.ranks_per_node = 8;
  options.optimizer_states = 0;
  const StepMemory apart = of(gpt, stack(), options);
  options.exchange = Exchange::dataparallel;
  const StepMemory together = of(gpt, stack(), options);
  const Bytes logits = 4.0 * 1024 * 50257 * Bytes(4.0);
  const auto peak = [](const StepMemory& memory, std::size_t rank) { return memory.ranks[rank].allocated; };
  // In the loss's backward pass: all outputs' logarithms, what nll_loss fills for them and the gradient of all outputs, of
  // which one GPU by itself has three.
  CHECK_THAT(((peak(together, 0) - peak(apart, 0)) / logits), WithinAbs(3 * 8 - 3.0, 1.0));
  CHECK(peak(together, 1) <= peak(apart, 1) - 0.9 * logits);
  for (std::size_t rank = 2; rank < 8; ++rank) CHECK(peak(together, rank) == peak(together, 1));
}

TEST_CASE("samples that stay on the GPUs are input") {
  FootprintOptions options = batch(1);
  const RankMemory without = of(resnet(), stack(), options).ranks.front();
  options.resident_samples = Bytes(3e9);
  const RankMemory with = of(resnet(), stack(), options).ranks.front();
  CHECK_THAT((with.parts[MemoryPart::input] - without.parts[MemoryPart::input]).base(), WithinRel(3e9, 1e-9));
  CHECK_THAT((with.pre_training - without.pre_training).base(), WithinRel(3e9, 1e-9));
  CHECK(with.peak >= without.peak + Bytes(3e9));
}

TEST_CASE("what an update makes before the gradients exist is held all step long") {
  FootprintOptions options = batch(32);
  const StepMemory without = of(resnet(), stack(MemoryPlan::bfc), options);
  options.early_arrays = 3;
  const StepMemory with = of(resnet(), stack(MemoryPlan::bfc), options);
  const Bytes parameters = static_cast<double>(resnet().graph.parameter_elements()) * Bytes(4.0);
  CHECK(with.lower_bound == without.lower_bound + 3.0 * parameters);
}

TEST_CASE("TensorFlow needs a device with a twentieth more than what its allocator takes") {
  for (const MemoryPlan plan : {MemoryPlan::bfc, MemoryPlan::caching_allocator}) {
    const RankMemory rank = of(resnet(), stack(plan), batch(64)).ranks.front();
    const Bytes context = rank.parts[MemoryPart::context];
    const Bytes device = plan == MemoryPlan::bfc ? bfc_free_memory(rank.reserved) : rank.reserved;
    CHECK_THAT(rank.needed.base(), WithinRel((device + context).base(), 1e-12));
    CHECK_THAT(rank.peak.base(), WithinRel((rank.reserved + context).base(), 1e-12));
  }
  FootprintOptions options = batch(64);
  options.capacity = of(resnet(), stack(MemoryPlan::bfc), options).lower_bound;  // too little
  const StepMemory misfit = of(resnet(), stack(MemoryPlan::bfc), options);
  CHECK(misfit.out_of_memory);
  CHECK_THAT(misfit.ranks.front().peak.base(), WithinRel(misfit.ranks.front().needed.base(), 1e-12));
  CHECK_THAT(misfit.ranks.front().parts.total().base(), WithinRel(misfit.ranks.front().peak.base(), 1e-12));
  options.capacity = misfit.ranks.front().needed;
  CHECK_FALSE(of(resnet(), stack(MemoryPlan::bfc), options).out_of_memory);
}

TEST_CASE("a step that does not fit needs what the least device has on which it runs, not what an endless one would hold") {
  const StepMemory endless = of(resnet(), stack(), batch(64));
  int misfits = 0;
  for (double share = 1.0; share > 0.7; share -= 0.02) {
    FootprintOptions options = batch(64);
    options.capacity = share * endless.ranks.front().peak;
    const StepMemory memory = of(resnet(), stack(), options);
    const RankMemory& rank = memory.ranks.front();
    CHECK(rank.needed <= rank.peak);
    CHECK(rank.peak <= endless.ranks.front().peak);
    CHECK((rank.peak <= *options.capacity) == !memory.out_of_memory);
    CHECK_THAT(rank.parts.total().base(), WithinRel(rank.peak.base(), 1e-12));
    CHECK(memory.reserved == endless.reserved);
    options.capacity = rank.needed;
    CHECK_FALSE(of(resnet(), stack(), options).out_of_memory);
    if (memory.out_of_memory) ++misfits;
  }
  CHECK(misfits > 0);
}

TEST_CASE("a convolution without room for its scratch memory takes the next algorithm and stays with it") {
  constexpr double kMiB = 1048576.0;
  AllocationTrace trace;
  trace.arrays = {{Bytes(100 * kMiB), MemoryPart::feature_maps, OpId{0}, 0, 1},
                  {Bytes(60 * kMiB), MemoryPart::workspace, OpId{0}, 0, 1}};
  trace.events = {{0, 0, false}, {1, 0, false}, {1, 0, true}, {0, 0, true}};
  NodeCost cost;
  cost.smaller.choices = {{{Bytes(50 * kMiB), Seconds(1e-3)}, {Bytes(20 * kMiB), Seconds(3e-3)}, {Bytes(0.0), Seconds(9e-3)}}};
  cost.smaller.count = 3;
  // TensorFlow's region for the first array is 128 MiB, and serves nothing else.
  for (const auto& [plan, more] : {std::pair{MemoryPlan::caching_allocator, 0.0}, {MemoryPlan::bfc, 28.0}}) {
    const auto played = [&, plan = plan, more = more](double mib, bool falls_back = true) {
      return replay(trace, {}, falls_back ? std::span<const NodeCost>(&cost, 1) : std::span<const NodeCost>(), 1, plan,
                    Bytes((mib + more) * kMiB));
    };
    CHECK(played(160).reduced.empty());
    CHECK(played(160).fits);
    CHECK(played(160).least == Bytes((100 + more) * kMiB));
    const Replay less = played(159);
    CHECK(less.fits);
    REQUIRE(less.reduced.size() == 1);
    CHECK(less.reduced.front().array == 1);
    CHECK(less.reduced.front().bytes == Bytes(50 * kMiB));
    CHECK(less.reduced.front().longer == Seconds(1e-3));
    CHECK(played(149).reduced.front().bytes == Bytes(20 * kMiB));
    CHECK(played(100).reduced.front().longer == Seconds(9e-3));
    CHECK_FALSE(played(159, false).fits);  // a framework that does not is out of memory
  }
}

TEST_CASE("gradients exist before the first step where the framework makes them so early: MXNet's bind, Torch7's modules") {
  const auto before = [&](Stack s) { return of(resnet(), s, batch(4)).ranks.front().pre_training; };
  const auto gradients = Bytes(4.0) * static_cast<double>(resnet().graph.parameter_elements());
  Stack torch7 = stack();
  torch7.features.gradients_from_start = true;
  CHECK(before(torch7) == before(stack()) + gradients);
  CHECK(before(stack(MemoryPlan::bfc)) == before(stack()));
  CHECK(before(stack(MemoryPlan::mxnet)) > before(torch7));  // rounded up
}
