// The worked example "Fused attention" of model/cost/README.md, by hand and by the model.
#include "model/cost/attention.hpp"

#include <cmath>

#include "tests/catch.hpp"
#include "tests/closed_form/cost_example.hpp"

using namespace tbdsim;
using example::documented;
using example::kBoard;
using example::microseconds;

namespace {

constexpr AttentionShape kShape{10, 16, 1024, 1024, 64, false};  // 160 heads of 8 blocks: 1280 = 16 waves of 80

}  // namespace

TEST_CASE("worked example: fused attention of 10 sequences, 16 heads, 1024 x 1024 scores of width 64") {
  const double scores = 160.0 * 1024 * 1024;
  const double compute = 4 * scores * 64 / 12.8e12 + scores * (1.0 / 16 + 6.0 / 64) / (80 * 1e9);
  const double memory = 160.0 * 64 * 4 * 1024 * 2 / 600e9;
  const double time = 5e-6 + std::cbrt(std::pow(compute, 3) + std::pow(memory, 3));
  const KernelTimeModel model = fused_attention_time(kShape, false, Bytes(2.0), kBoard);
  CHECK_THAT(model.time.base(), WithinRel(time, 1e-12));
  CHECK(model.flop == Flop(4 * scores * 64));
  CHECK(model.bound == Bound::compute);
  CHECK(documented("= " + microseconds(Seconds(compute))));
  CHECK(documented("= " + microseconds(Seconds(memory))));
  CHECK(documented("= " + microseconds(model.time)));
}

TEST_CASE("a causal mask halves the arithmetic; backward has four useful products for two; a lone block leaves the device idle") {
  AttentionShape causal = kShape;
  causal.causal = true;
  const auto flop = [](const AttentionShape& shape, bool backward) {
    return fused_attention_time(shape, backward, Bytes(2.0), kBoard).flop.base();
  };
  CHECK(flop(causal, false) == 0.5 * flop(kShape, false));
  CHECK(flop(kShape, true) == 2.0 * flop(kShape, false));  // useful ones: the scores are computed twice
  // Four heads of queries share one of keys and values: only theirs are fewer bytes, each way.
  AttentionShape grouped = kShape;
  grouped.kv_heads = 4;
  CHECK(fused_attention_time(grouped, false, Bytes(2.0), kBoard).bytes == Bytes(2.0 * 10 * 64 * 1024 * (2 * 16 + 2 * 4)));
  CHECK(fused_attention_time(grouped, true, Bytes(2.0), kBoard).bytes == Bytes(2.0 * 10 * 64 * 1024 * (4 * 16 + 4 * 4)));
  CHECK(flop(grouped, true) == flop(kShape, true));
  const AttentionShape one{1, 1, 128, 4096, 64, false}, full{80, 1, 128, 4096, 64, false};
  const Seconds few = fused_attention_time(one, false, Bytes(2.0), kBoard).time;
  CHECK(few <= fused_attention_time(full, false, Bytes(2.0), kBoard).time);
  CHECK(few.base() > 0.9 * fused_attention_time(full, false, Bytes(2.0), kBoard).time.base());
}
