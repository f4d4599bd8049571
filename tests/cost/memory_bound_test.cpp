// Passes of every kind of operator, against the table of kinds and against what each definition reads and writes.
#include "model/cost/memory_bound.hpp"

#include <array>
#include <map>

#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

/// An operator of `kind` with `inputs` inputs: all that its passes depend on.
Op op_of(OpKind kind, std::size_t inputs = 1) {
  Op op;
  op.kind = kind;
  op.inputs.resize(inputs);
  if (info(kind).attributes != nullptr) op.attributes = info(kind).attributes();
  return op;
}

}  // namespace

TEST_CASE("exactly the memory-bound kinds have passes") {
  const Stack stack;
  for (const OperatorRow& row : op_kinds()) {
    INFO(row.name);
    const auto passes = memory_passes(op_of(row.kind), stack);
    CHECK(passes.has_value() == (row.family == OpFamily::memory_bound));
    if (!passes) continue;
    CHECK(row.moves_data());
    // A kernel writes its result; a loss of single elements adds them up.
    CHECK((passes->forward_output >= 1.0) == (row.kind != OpKind::element_loss));
    CHECK(passes->forward_inputs >= 0.0);
    CHECK(passes->backward_inputs >= 0.0);
    CHECK(passes->bandwidth_share > 0.0);
    CHECK(passes->bandwidth_share <= 1.0);
    // Reads its input, but for those that read only as many rows as they write.
    const bool picks = row.kind == OpKind::embedding || row.kind == OpKind::slice || row.kind == OpKind::gather;
    CHECK((passes->forward_inputs >= 1.0) == !picks);
    // An addition, also of a constant mask, hands the incoming gradient on, and boxes have none; every other one makes a
    // kernel of its backward.
    const bool silent = row.kind == OpKind::add || row.kind == OpKind::mask || row.kind == OpKind::proposals;
    CHECK((passes->backward_inputs + passes->backward_output == 0.0) == silent);
  }
}

TEST_CASE("batch norm's passes are the stack's: reads but for the one written") {
  Stack stack;
  for (const auto& [forward, backward] : {std::pair{3.0, 5.0}, std::pair{2.0, 3.0}, std::pair{9.0, 12.0}}) {
    stack.operators.passes.batch_norm_forward = forward;
    stack.operators.passes.batch_norm_backward = backward;
    const Passes passes = memory_passes(op_of(OpKind::batch_norm), stack).value();
    // Input and output have one size, so only the sums matter.
    CHECK(passes.forward_inputs + passes.forward_output == forward);
    CHECK(passes.backward_inputs + passes.backward_output == backward);
  }
}

TEST_CASE("passes of same-sized operators, forward and backward, by their definitions") {
  const Stack stack;
  // read x, write y; then: read y (or x) and dy, write dx.
  const std::map<OpKind, std::pair<double, double>> expected{
      {OpKind::activation, {2, 3}},
      {OpKind::dropout, {3, 3}},              // mask written, mask and dy read
      {OpKind::local_response_norm, {3, 5}},  // scale kept; x, y, scale, dy read
      {OpKind::multiply, {2, 2}},             // by a constant
      {OpKind::channel_shuffle, {2, 2}},
      {OpKind::pad, {2, 2}},
      {OpKind::slice, {2, 2}},
      {OpKind::concat, {2, 2}},
      {OpKind::layer_norm, {2, 5}},  // both read again for the gradients of scale and shift
      {OpKind::softmax, {2, 3}},
      {OpKind::softmax_loss, {2, 3}},
      {OpKind::pool, {2, 4}}};
  for (const auto& [kind, sums] : expected) {
    INFO(info(kind).name);
    const Passes passes = memory_passes(op_of(kind), stack).value();
    CHECK(passes.forward_inputs + passes.forward_output == sums.first);
    CHECK(passes.backward_inputs + passes.backward_output == sums.second);
  }
}

TEST_CASE("a framework composes dropout and softmax gradients of several kernels") {
  Stack torch;
  torch.operators.passes.dropout_forward = 2.25;
  torch.operators.passes.dropout_backward = 2.25;
  torch.operators.passes.softmax_backward = 6;
  // A quarter of 32 bits is a mask of one byte, whatever the numbers' width.
  const Passes dropout = memory_passes(op_of(OpKind::dropout), torch).value();
  CHECK(dropout.forward_inputs + dropout.forward_output == 2.0);
  CHECK(dropout.backward_inputs + dropout.backward_output == 2.0);
  CHECK(dropout.forward_mask == Bytes(1.0));
  CHECK(dropout.backward_mask == Bytes(1.0));
  CHECK(memory_passes(op_of(OpKind::dropout), Stack()).value().forward_mask == Bytes(0.0));
  const Passes softmax = memory_passes(op_of(OpKind::softmax), torch).value();
  CHECK(softmax.backward_inputs + softmax.backward_output == 6.0);
}

TEST_CASE("a mask that selects has a gradient of its own, one that is added passes it on") {
  Op mask = op_of(OpKind::mask);
  CHECK(memory_passes(mask, Stack()).value().backward_output == 0.0);
  mask.attributes = MaskAttributes{true};
  const Passes selecting = memory_passes(mask, Stack()).value();
  CHECK(selecting.backward_inputs + selecting.backward_output == 2.0);
  CHECK(selecting.forward_inputs + selecting.forward_output == 2.0);
}

TEST_CASE("what eager autograd adds: zeros around a part, copies of a view, fills before copies, products before sums") {
  Stack eager;
  eager.host.eager = true;
  const auto passes = [&](OpKind kind, OpAttributes attributes, const Stack& stack, std::size_t inputs = 1,
                          bool broadcasts = false) {
    Op op = op_of(kind, inputs);
    op.attributes = std::move(attributes);
    return memory_passes(op, stack, Bytes(4.0), broadcasts).value();
  };
  // A whole tensor of zeros, and the part read and written; a part of a split shares one kernel with the others.
  CHECK(passes(OpKind::slice, SliceAttributes{0, 0, 1, true}, eager).backward_inputs == 1.0);
  CHECK(passes(OpKind::slice, SliceAttributes{0, 0, 1, false}, eager).backward_inputs == 0.0);
  CHECK(passes(OpKind::slice, SliceAttributes{0, 0, 1, true}, Stack()).backward_inputs == 0.0);
  // Three copies of a gradient, read and written.
  CHECK(passes(OpKind::mask, MaskAttributes{false, true}, eager).backward_output == 6.0);
  CHECK(passes(OpKind::mask, MaskAttributes{false, true}, Stack()).backward_output == 0.0);
  CHECK(passes(OpKind::pad, PadAttributes{}, eager).forward_output == 2.0);
  // A factor for each channel: x read, dy read twice, dx and the products written, the products summed.
  for (const Passes& scaled :
       {passes(OpKind::learned_scale, {}, eager), passes(OpKind::multiply, MultiplyAttributes{}, eager, 2, true)}) {
    CHECK(scaled.backward_inputs == 1.0);
    CHECK(scaled.backward_output == 5.0);
    CHECK(scaled.backward_kernels == 3);
  }
  CHECK(passes(OpKind::multiply, MultiplyAttributes{}, eager, 2).backward_output == 2.0);
  CHECK(passes(OpKind::learned_scale, {}, Stack()).backward_output == 1.0);
}

TEST_CASE("the loss begins with a softmax: over a large vocabulary its rows are read again") {
  CHECK(memory_passes(op_of(OpKind::softmax_loss), Stack()).value().rows == RowKernel::softmax);
  // Issued one by one, a kernel writes the gradient of the picked entries among zeros and another reads it: one pass more.
  Stack eager;
  eager.host.eager = true;
  CHECK(memory_passes(op_of(OpKind::softmax_loss), eager).value().backward_output == 3.0);
}

TEST_CASE("softmax rows: in registers up to 1,024 elements, then read again unless the cache holds them") {
  KernelRates board{FlopPerSecond(1e13), BytesPerSecond(6e11), Seconds(5e-6), 80};
  board.cache = Bytes(6e6);
  const auto again = [&](double row) { return reread_passes(RowKernel::softmax, row, Bytes(4.0), board); };
  CHECK(again(1024) == 0.0);
  CHECK(again(1025) > 0.0);
  CHECK(again(65536) > 1.99);  // two reductions, nothing kept
  CHECK(again(65536) <= 2.0);
  double last = 0.0;
  for (double row = 1025; row < 1e6; row *= 1.5) {
    CHECK(again(row) >= last * (1 - 1e-12));
    last = again(row);
  }
  CHECK(reread_passes(RowKernel::layer_norm, 65536, Bytes(4.0), board) == 0.0);
  board.cache = Bytes(0.0);
  CHECK(again(1025) == 2.0);
}

TEST_CASE("a product of two tensors reads both and has two gradients, a table of rows gets a dense one") {
  const Stack stack;
  const Passes product = memory_passes(op_of(OpKind::multiply, 2), stack).value();
  CHECK(2 * product.forward_inputs + product.forward_output == 3.0);
  CHECK(2 * product.backward_inputs + product.backward_output == 6.0);
  const Passes rows = memory_passes(op_of(OpKind::embedding), stack).value();
  CHECK(rows.backward_parameters == 1.0);
}

TEST_CASE("a table whose gradient is sparse: nothing is written backward but rows of bags, and no table") {
  const Stack stack;
  const auto passes = [&](const EmbeddingAttributes& attributes, Bytes element = Bytes(4.0)) {
    Op op = op_of(OpKind::embedding);
    op.attributes = attributes;
    return memory_passes(op, stack, element, false).value();
  };
  const Passes one = passes({100, 16, false, 1, true});
  CHECK(one.forward_output == 2.0);
  CHECK(one.backward_output + one.backward_parameters == 0.0);
  // Five rows read for one written, and back.
  const Passes bag = passes({100, 16, false, 5, true});
  CHECK(bag.forward_output == 6.0);
  CHECK(bag.backward_output == 6.0);
  CHECK(bag.backward_parameters == 0.0);
  CHECK(passes({100, 16, false, 5}).backward_output == 11.0);
  // A kernel that casts reads 32 bits and writes 16: three times 16.
  CHECK(passes({100, 16, false, 1, true, true}, Bytes(2.0)).forward_output == 3.0);
  CHECK(passes({100, 16, false, 1, true, true}, Bytes(2.0)).backward_output == 3.0);
  CHECK(passes({100, 16, false, 1, true, true}).backward_output == 0.0);
}

TEST_CASE("launch or bandwidth, both sides of where they are equal") {
  const KernelRates board{FlopPerSecond(1e13), BytesPerSecond(4e11), Seconds(5e-6), 80};
  // 5 us x 400 GB/s = 2 MB.
  CHECK(memory_bound_time(Bytes(1.999e6), 1.0, board).bound == Bound::launch);
  CHECK(memory_bound_time(Bytes(2.001e6), 1.0, board).bound == Bound::memory);
  CHECK_THAT(memory_bound_time(Bytes(2e6), 1.0, board).time.base(), WithinRel(10e-6, 1e-12));
  CHECK_THAT(memory_bound_time(Bytes(2e6), 0.5, board).time.base(), WithinRel(15e-6, 1e-12));
  CHECK(memory_bound_time(Bytes(2e6), 1.0, board).flop == Flop(0.0));
}

TEST_CASE("which kernels move numbers one at a time") {
  Stack stack;
  const std::array vectors{OpKind::activation,   OpKind::add,        OpKind::dropout, OpKind::softmax,
                           OpKind::softmax_loss, OpKind::layer_norm, OpKind::rms_norm};
  for (const OpKind kind : vectors) CHECK_FALSE(moves_single_numbers(kind, stack));
  for (const OpKind kind : {OpKind::group_norm, OpKind::mask, OpKind::transpose, OpKind::batch_norm})
    CHECK(moves_single_numbers(kind, stack));
  stack.operators.order.channels_last = true;
  CHECK_FALSE(moves_single_numbers(OpKind::batch_norm, stack));
  stack.operators.loads.vectorizes_16_bit = false;
  for (const OpKind kind : vectors) CHECK(moves_single_numbers(kind, stack));
  // To leave an operator out says nothing of how the others' kernels load.
  stack.operators.fusion.elementwise = true;
  CHECK(moves_single_numbers(OpKind::transpose, stack));
  stack.operators.loads.compiles_kernels = true;
  for (const OpKind kind : {OpKind::softmax, OpKind::transpose, OpKind::batch_norm})
    CHECK_FALSE(moves_single_numbers(kind, stack));
}

TEST_CASE("numbers moved one at a time: 32 bits as long as their bytes take, 16 bits never longer, bound by memory") {
  KernelRates board{FlopPerSecond(1e13), BytesPerSecond(4e12), Seconds(5e-6), 80};
  board.clock = Hertz(1e9);
  // 1e9 numbers are issued in 20 / (64 x 80e9) s each, 3.9 ms; 4e9 B take 1 ms, 2e9 B half of it.
  const KernelTimeModel single = single_access_time(Bytes(4e9), Bytes(4.0), 1.0, board);
  CHECK(single.time == memory_bound_time(Bytes(4e9), 1.0, board).time);
  const KernelTimeModel half = single_access_time(Bytes(2e9), Bytes(2.0), 1.0, board);
  CHECK(half.time == single.time);
  CHECK(half.bound == Bound::memory);
  // Kepler's integer units are the limit in 32 bits, too.
  board.slow_integers = true;
  CHECK_THAT(single_access_time(Bytes(4e9), Bytes(4.0), 1.0, board).time.base(), WithinRel(5e-6 + 20e9 / (64 * 80e9), 1e-12));
}
