// What PyTorch's autocast and its loss hold beside the arrays of the network.
#include "model/memory/footprint.hpp"

#include <algorithm>

#include "tests/memory/small_step.hpp"

using namespace tbdsim;
using namespace tbdsim::small_step;

// A BERT layer of PyTorch, b sequences of s tokens, h wide, a heads, bytes kept for backward under autocast. h: three 16-bit
// copies of the fp32 input (6), query, key, value (6), context (2), inputs of both layer norms, which residual additions widen
// (8), the first norm's output cast for the product (2), GELU's input and output, four times as wide (16), two masks (2): 42.
// Scores: softmax in fp32 (4), mask (1), the dropped weights cast for the product (2): 7 a s. Norms: two numbers a token each.
// All in 16 bits: the input once (2) and 4 for the norms, whose outputs serve as they are: 34 and 5 a s.
TEST_CASE("what a BERT layer keeps under autocast, and all in 16 bits") {
  const Network n = network("bert-base");
  FootprintOptions options = batch(4);
  options.element = Bytes(2.0);
  options.master_weights = true;
  const auto kept = [&] {
    const StepMemory memory = of(n, stack(), options);
    const std::int32_t turn = turn_of(memory);
    Bytes bytes;
    for (const Lifetime& array : memory.arrays)
      if (array.op.value >= 0 && array.part == MemoryPart::feature_maps && array.birth < turn && array.death > turn &&
          n.graph.op(array.op).name.starts_with("layer.5."))
        bytes += array.bytes;
    return bytes.base() / (4.0 * 128 * 768);
  };
  const double scores = 12.0 * 128 / 768, statistics = 16.0 / 768;
  CHECK_THAT(kept(), WithinRel(34 + 5 * scores + statistics, 1e-4));
  options.autocast = true;
  CHECK_THAT(kept(), WithinRel(42 + 7 * scores + statistics, 1e-4));
}

TEST_CASE("autocast's copies of weights live from the first forward to the last backward use") {
  FootprintOptions options = batch(4);
  options.element = Bytes(2.0);
  options.master_weights = options.autocast = true;
  const StepMemory memory = of(resnet(), stack(), options);
  double products = 0.0;
  for (const Op& op : resnet().graph.ops)
    if (op.kind == OpKind::convolution || op.kind == OpKind::linear)
      for (const ParameterId id : op.parameters) products += static_cast<double>(elements(resnet().graph.parameter(id).shape));
  const auto first =
      products - 64 * 3 * 49;  // of the first convolution, whose input needs no gradient, backward reads no weights
  const auto weights_at = [&](std::int32_t position) {
    Bytes bytes;
    for (const Lifetime& array : memory.arrays)
      if (array.part == MemoryPart::weights && array.birth <= position && position < array.death) bytes += array.bytes;
    return bytes;
  };
  const auto last = static_cast<std::int32_t>(memory.ops.size()) - 1;
  const std::int32_t turn = turn_of(memory);
  const Bytes masters = Bytes(4.0) * static_cast<double>(resnet().graph.parameter_elements());
  CHECK(weights_at(last) == masters);
  CHECK(weights_at(turn - 1) == masters + products * Bytes(2.0));
  CHECK(weights_at(turn) >= masters + first * Bytes(2.0));
  const RankMemory& rank = memory.ranks.front();
  CHECK(rank.pre_training == Bytes(0.5e9) + masters + rank.parts[MemoryPart::input]);
  // ZeRO 3 holds a quarter of the weights, and of no more than one operator a copy.
  options.zero = 3;
  options.ranks = options.ranks_per_node = 4;
  const StepMemory divided = of(resnet(), stack(), options);
  double most = 0.0;
  for (std::int32_t position = 0; position <= last; ++position) {
    Bytes copies;
    for (const Lifetime& array : divided.arrays)
      if (array.part == MemoryPart::weights && array.birth > 0 && array.birth <= position && position < array.death)
        copies += array.bytes;
    most = std::max(most, copies.base());
  }
  CHECK(most == 2.0 * 512 * 512 * 3 * 3);  // bytes of the largest convolution's
}

TEST_CASE("PyTorch's cross-entropy fills one array of all scores' gradients to make another") {
  for (const MemoryPlan plan : {MemoryPlan::caching_allocator, MemoryPlan::bfc}) {
    const StepMemory memory = of(resnet(), stack(plan), batch(8));
    const std::int32_t turn = turn_of(memory);
    const auto made = std::count_if(memory.arrays.begin(), memory.arrays.end(), [&](const Lifetime& array) {
      return array.birth == turn && array.part == MemoryPart::dynamic && array.bytes == Bytes(8.0 * 1000 * 4);
    });
    CHECK(made == (plan == MemoryPlan::caching_allocator ? 2 : 1));
  }
}

TEST_CASE("autocast's log_softmax reads and returns 16 bits: of the scores in fp32 there are two arrays, not four") {
  FootprintOptions options = batch(8);
  options.element = Bytes(2.0);
  options.master_weights = options.autocast = true;
  const StepMemory memory = of(resnet(), stack(), options);
  const std::int32_t turn = turn_of(memory);
  const auto made = [&](std::int32_t position, double element) {
    return std::count_if(memory.arrays.begin(), memory.arrays.end(), [&](const Lifetime& array) {
      return array.birth == position && array.bytes == Bytes(8.0 * 1000 * element);
    });
  };
  CHECK(made(turn - 1, 4.0) == 1);  // what log_softmax returns and keeps
  CHECK(made(turn, 4.0) == 1);      // its gradient, by nll_loss
  CHECK(made(turn, 2.0) == 1);      // the gradient of the scores
}
