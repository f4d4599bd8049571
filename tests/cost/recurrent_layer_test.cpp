// Recurrent operators as stacks run them: the library's layers against cells of the framework's operators.
#include "model/cost/recurrent_layer.hpp"

#include "tests/architectures.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

RecurrentMeans means(RecurrentKernels kernels = RecurrentKernels::library) {
  RecurrentMeans m;
  m.kernels = kernels;
  m.steps = m.products = m.pointwise = {FlopPerSecond(12.8e12), BytesPerSecond(600e9), Seconds(5e-6), 80, Hertz(1.4e9)};
  return m;
}

RecurrentLayer layer(OpKind cell = OpKind::lstm) { return {cell, 256, 512, 32, 20, 1, 1, true}; }

double flop(double rows, double columns, double depth) { return 2.0 * rows * columns * depth; }

}  // namespace

TEST_CASE("FLOP of a layer: input and state products forward, twice that backward, whoever runs them") {
  const double forward = 20 * (flop(32, 2048, 256) + flop(32, 2048, 512));
  for (const auto kernels : {RecurrentKernels::library, RecurrentKernels::cells}) {
    CHECK_THAT(recurrent_layer_time(layer(), false, means(kernels)).kernel.flop.base(), WithinRel(forward, 1e-12));
    CHECK_THAT(recurrent_layer_time(layer(), true, means(kernels)).kernel.flop.base(), WithinRel(2 * forward, 1e-12));
  }
  RecurrentLayer first = layer();
  first.input_gradient = false;
  CHECK_THAT(recurrent_layer_time(first, true, means()).kernel.flop.base(),
             WithinRel(2 * forward - 20 * flop(32, 2048, 256), 1e-12));
}

TEST_CASE("layers and directions: upper layers read the lower ones, both directions of them") {
  RecurrentLayer stacked = layer();
  stacked.layers = 2;
  stacked.directions = 2;
  // Two directions over 256 columns, two over 1024.
  const double expected = 20 * 2 * (flop(32, 2048, 256) + flop(32, 2048, 512) + flop(32, 2048, 1024) + flop(32, 2048, 512));
  CHECK_THAT(recurrent_layer_time(stacked, false, means()).kernel.flop.base(), WithinRel(expected, 1e-12));
}

TEST_CASE("cells cost the host a dozen operators a step, the library one for all") {
  CHECK(recurrent_layer_time(layer(), false, means()).operators == 1.0);
  CHECK(recurrent_layer_time(layer(), false, means(RecurrentKernels::cells)).operators == 12.0 * 20);
  CHECK(recurrent_layer_time(layer(OpKind::gru), true, means(RecurrentKernels::cells)).operators == 14.0 * 20);
  // 18 kernels a step of an LSTM forward and 26 backward, as counted in the framework's cell.
  const auto unrolled = [](bool backward) {
    return recurrent_layer_time(layer(), backward, means(RecurrentKernels::cells)).kernel;
  };
  CHECK(unrolled(false).launch.base() >= 20 * 18 * 5e-6 * (1 - 1e-12));
  CHECK(unrolled(true).launch.base() >= 20 * 26 * 5e-6 * (1 - 1e-12));
}

TEST_CASE("weights stay in registers only where they fit and the stack allows it") {
  RecurrentMeans m = means();
  m.element = Bytes(2.0);
  const Seconds streamed = recurrent_layer_time(layer(), false, m).kernel.time;
  m.persistent = PersistentRule::volta;
  REQUIRE(persists(layer(), m.persistent));
  CHECK(recurrent_layer_time(layer(), false, m).kernel.time < streamed);
  RecurrentLayer wide = layer();
  wide.hidden = 1152;  // beyond 1,024
  const Seconds kept = recurrent_layer_time(wide, false, m).kernel.time;
  m.persistent = PersistentRule::never;
  CHECK(recurrent_layer_time(wide, false, m).kernel.time == kept);
}

TEST_CASE("weights in registers: batches and lengths on both sides of PyTorch's rule") {
  RecurrentLayer l{OpKind::lstm, 1024, 1024, 128, 40, 1, 1, true};
  CHECK(persists(l, PersistentRule::volta));
  l.steps = 39;
  CHECK_FALSE(persists(l, PersistentRule::volta));
  CHECK(persists(l, PersistentRule::ampere));
  l.batch = 96;
  CHECK(persists(l, PersistentRule::volta));
  l.steps = 19;
  CHECK_FALSE(persists(l, PersistentRule::volta));
  l.batch = 32;
  CHECK(persists(l, PersistentRule::volta));
  l.batch = 24;  // no multiple of 16
  CHECK_FALSE(persists(l, PersistentRule::volta));
  CHECK(persists(l, PersistentRule::ampere));
  l.batch = 136;
  CHECK_FALSE(persists(l, PersistentRule::ampere));
  l.batch = 64;
  for (const auto change : {+[](RecurrentLayer& x) { x.directions = 2; }, +[](RecurrentLayer& x) { x.layers = 2; },
                            +[](RecurrentLayer& x) { x.input = 1000; }, +[](RecurrentLayer& x) { x.cell = OpKind::gru; }}) {
    RecurrentLayer other = l;
    change(other);
    CHECK_FALSE(persists(other, PersistentRule::ampere));
  }
}

TEST_CASE("weights in registers: devices and releases") {
  CHECK(persistent_rule(chip("", "7.0"), 80, "10.1") == PersistentRule::volta);
  CHECK(persistent_rule(chip("", "7.5"), 68, "10.1") == PersistentRule::never);
  CHECK(persistent_rule(chip("", "6.1"), 28, "10.1") == PersistentRule::never);
  CHECK(persistent_rule(chip("", "8.0"), 108, "11.0") == PersistentRule::never);
  CHECK(persistent_rule(chip("", "8.0"), 108, "11.1") == PersistentRule::ampere);
  CHECK(persistent_rule(chip("", "8.0"), 97, "11.1") == PersistentRule::never);
  CHECK(persistent_rule(chip("", "8.6"), 84, "11.7") == PersistentRule::never);
  CHECK(persistent_rule(chip("", "9.0"), 132, "12.1") == PersistentRule::ampere);
}

TEST_CASE("longer sequences and larger batches never cost less") {
  for (const OpKind cell : {OpKind::lstm, OpKind::gru, OpKind::vanilla_rnn}) {
    for (const auto kernels : {RecurrentKernels::library, RecurrentKernels::cells}) {
      Seconds last(0.0);
      for (const double steps : {5.0, 10.0, 50.0}) {
        RecurrentLayer l = layer(cell);
        l.steps = steps;
        const Seconds time = recurrent_layer_time(l, false, means(kernels)).kernel.time;
        CHECK(time > last);
        last = time;
      }
    }
  }
}

TEST_CASE("committed latencies of recurrent steps: more rows wait no less, but for CUDA 8 as measured") {
  const auto constants = read_kernel_constants(TBDSIM_SOURCE_DIR "/hardware/kernels.toml", all_architectures());
  REQUIRE(constants);
  REQUIRE(constants->recurrent.size() >= 5);
  for (const auto& [name, c] : constants->recurrent) {
    INFO(name);
    CHECK(c.cycles_batch_32 >= c.cycles_batch_16);
    CHECK((c.cycles_more >= c.cycles_batch_32) == (name != "cuda8"));
  }
}
