// The worked examples "Fused attention" and "Row kernels" of model/cost/README.md, by hand and by the model.
#include <cmath>

#include "model/cost/attention_blocks.hpp"
#include "model/cost/experts.hpp"
#include "model/cost/fused_attention.hpp"
#include "model/cost/row_kernel.hpp"
#include "tests/catch.hpp"
#include "tests/closed_form/cost_example.hpp"

using namespace tbdsim;
using example::documented;
using example::kBoard;
using example::microseconds;

namespace {

constexpr AttentionShape kShape{4, 32, 2048, 2048, 128, true, 8};

/// An A100 of 80 GB that keeps its clock and 0.80 of its bandwidth.
KernelRates a100() {
  KernelRates rates{312.0_TFLOPps, 0.8 * 2039.0_GBps, Seconds(0.0), 108, Hertz(1.41e9)};
  rates.cache = Bytes(40.0 * 1024 * 1024);
  rates.boost = Hertz(1.41e9);
  return rates;
}

FusedAttention fmha() {
  AttentionConstants constants;
  constants.forward = {0.70, 0.6, 84.0, 0.25};
  constants.few_blocks = 0.42;
  constants.start = 8.2_us;
  constants.start_per_doubling = 1.2_us;
  return {&info(AttentionKernel::fmha), constants, Bytes(2.0), true, true};
}

/// Columns that blocks visit, one block at a time.
double visits_by_hand(const AttentionShape& s, const AttentionKernelInfo& kernel) {
  const auto* tile = kernel.tiles.data();
  while (tile != &kernel.tiles.back() && s.width > tile->width) ++tile;
  const long group = kernel.packs_heads ? std::lround(s.groups()) : 1, rows = std::lround(s.queries) * group;
  const long keys = std::lround(s.keys), offset = std::max(0L, keys - std::lround(s.queries)), window = std::lround(s.window);
  long sum = 0;
  for (long first = 0; first < rows; first += tile->queries) {
    const long last = std::min(first + tile->queries, rows) - 1;
    const long end = s.causal ? std::min(keys, offset + last / group + 1) : keys;
    const long begin = window > 0 ? std::max(0L, offset + first / group - window + 1) : 0;
    sum += ((end + tile->keys - 1) / tile->keys - begin / tile->keys) * tile->keys;
  }
  return s.batch * s.heads / static_cast<double>(group) * static_cast<double>(sum);
}

}  // namespace

TEST_CASE("worked example: causal attention of 4 sequences of 2048, 32 heads that share 8 of keys, on an A100") {
  const double mm = 2 * 256 / (0.70 * 312e12 / 108), sm = (1.0 / 16 + 6.0 / 64) / 1.41e9, c = 128 * (mm + sm) * 2;
  const double total = (2228224 + 2048 * 84) * c / 216, chain = (2048 + 84) * c;
  const double compute = total + 0.25 * chain;
  const double memory_rate = 0.8 * 2039e9, held = 1 / (1 + std::pow(167772160 / (0.96 * 40 * 1048576), 6));
  const double rate = 1 / ((1 - held) / memory_rate + held / (12 * 108 * 1.41e9));
  const double memory = 167772160 / rate;
  const double time = 8.2e-6 + 3 * 1.2e-6 + std::cbrt(std::pow(compute, 3) + std::pow(memory, 3)) + 201326592 / rate;
  const AttentionBlocks blocks = attention_blocks(kShape, false, info(AttentionKernel::fmha));
  CHECK(blocks.blocks == 2048);
  CHECK(blocks.visits == 2228224);
  CHECK(blocks.longest == 2048);
  const KernelTimeModel model = fused_attention_time(kShape, false, fmha(), a100());
  CHECK_THAT(model.time.base(), WithinRel(time, 1e-12));
  CHECK(fmt::format("{:.2f}", model.time.base() * 1e6) == "1220.69");
  CHECK(documented("= 1220.69 us"));
  CHECK(model.bound == Bound::compute);
}

TEST_CASE("a kernel starts and drains in cycles: at twice the clock in half of the time") {
  KernelRates fast = a100();
  fast.boost = Hertz(2.82e9);
  const KernelTimeModel slow_start = fused_attention_time(kShape, false, fmha(), a100());
  const KernelTimeModel fast_start = fused_attention_time(kShape, false, fmha(), fast);
  CHECK_THAT(slow_start.launch.base(), WithinRel(8.2e-6 + 3 * 1.2e-6, 1e-12));
  CHECK_THAT(fast_start.launch.base(), WithinRel(0.5 * (8.2e-6 + 3 * 1.2e-6), 1e-12));
  CHECK_THAT((slow_start.time - slow_start.launch).base(), WithinRel((fast_start.time - fast_start.launch).base(), 1e-12));
}

TEST_CASE("the closed sums of visited keys are those of one block at a time") {
  for (const AttentionKernelInfo& kernel : attention_kernels()) {
    for (const double queries : {1.0, 63.0, 64.0, 65.0, 300.0, 2048.0, 2049.0}) {
      for (const double more : {0.0, 1.0, 500.0}) {
        for (const double window : {0.0, 1.0, 100.0, 1024.0}) {
          for (const double width : {64.0, 72.0, 128.0, 192.0, 256.0}) {
            const AttentionShape shape{2, 12, queries, queries + more, width, true, 4, 0, window};
            INFO(kernel.name << " queries " << queries << " keys " << queries + more << " window " << window << " width "
                             << width);
            REQUIRE(attention_blocks(shape, false, kernel).visits == visits_by_hand(shape, kernel));
          }
        }
      }
    }
  }
  // The longest sequence of a network: no count overflows.
  const AttentionShape longest{64, 128, 131072, 131072, 128, true};
  const double scores = 64.0 * 128 * 131072 * 131072 / 2;
  CHECK_THAT(attention_blocks(longest, false, info(AttentionKernel::flash_2)).visits * 128, WithinRel(scores, 0.01));
  CHECK_THAT(attention_scores(longest), WithinRel(scores, 1e-12));
}

TEST_CASE("causal is no slower than full, longer and more heads of keys never faster, a window never slower") {
  for (const AttentionKernelInfo& kernel : attention_kernels()) {
    FusedAttention means = fmha();
    means.kernel = &kernel;
    means.writes_cache = means.rotates = false;
    const auto time = [&](const AttentionShape& shape, bool backward) {
      return fused_attention_time(shape, backward, means, a100()).time;
    };
    for (const bool backward : {false, true}) {
      Seconds shorter(0.0);
      for (double rows = 64; rows <= 131072; rows *= 2) {
        const AttentionShape full{2, 16, rows, rows, 128, false, 4};
        AttentionShape causal = full, own = full, window = full;
        causal.causal = window.causal = true;
        own.kv_heads = 0;
        window.window = 8192;
        INFO(kernel.name << " rows " << rows << " backward " << backward);
        CHECK(time(causal, backward) <= time(full, backward));
        CHECK(time(full, backward) <= time(own, backward));
        CHECK(time(full, backward) >= shorter);
        if (rows >= 32768) CHECK(time(window, backward) <= time(causal, backward));
        shorter = time(full, backward);
      }
    }
  }
}

TEST_CASE("useful arithmetic: a causal mask halves it, backward has four products for two, 8 bits multiply faster") {
  AttentionShape full = kShape;
  full.causal = false;
  const auto flop = [](const AttentionShape& shape, bool backward) {
    return fused_attention_time(shape, backward, fmha(), a100()).flop.base();
  };
  CHECK(flop(full, false) == 4.0 * 4 * 32 * 2048 * 2048 * 128);
  CHECK(flop(kShape, false) == 0.5 * flop(full, false));
  CHECK(flop(full, true) == 2.0 * flop(full, false));
  FusedAttention eight = fmha();
  eight.element = Bytes(1.0);
  CHECK(fused_attention_time(full, false, eight, a100()).time < fused_attention_time(full, false, fmha(), a100()).time);
}

TEST_CASE("worked example: a gated activation of 4096 rows of 1000 results") {
  RowConstants constants;
  constants.start = 1.0_us;
  constants.flight = 8.0;
  constants.step_clocks = 1000.0;
  constants.row_clocks = 500.0;
  const RowKernelInfo* const kernel = find_row_kernel("gated_activation-vllm");
  REQUIRE(kernel != nullptr);
  const double memory = 3.0 * 4096 * 1000 * 2 / 600e9, latency = (1500 + 51 * 6000 / 8.0) / 1e9;
  const double time = 6e-6 + std::cbrt(std::pow(memory, 3) + std::pow(latency, 3));
  const KernelTimeModel model = row_kernel_time(4096, 1000, Bytes(2.0), *kernel, constants, kBoard);
  CHECK_THAT(model.time.base(), WithinRel(time, 1e-12));
  CHECK(documented("= " + microseconds(Seconds(memory))));
  CHECK(documented("= " + microseconds(Seconds(latency))));
  CHECK(documented("= " + microseconds(model.time)));
  CHECK(find_row_kernel("gated_activation-unknown") == nullptr);
}

TEST_CASE("what the last-level cache holds comes faster, what it does not comes at the memory's rate") {
  const RowKernelInfo& kernel = *find_row_kernel("rms_norm-vllm");
  const KernelRates rates = a100();
  RowConstants constants;
  constants.flight = 64.0;
  const auto rate = [&](double rows) {
    const KernelTimeModel model = row_kernel_time(rows, 4096, Bytes(2.0), kernel, constants, rates);
    return model.bytes / model.time;
  };
  CHECK(rate(1024) > 1.3 * rate(65536));
  CHECK(rate(65536) <= rates.bandwidth);
}

TEST_CASE("experts: more rows never faster, fewer experts that are read cost less, 8 bits multiply and load faster") {
  const auto time = [](double rows, double experts, Bytes weight) {
    return expert_time({rows, 4096, 14336, rows, experts, true}, weight, {}, a100()).time;
  };
  Seconds fewer(0.0);
  for (double rows = 1; rows <= 65536; rows *= 2) {
    CHECK(time(rows, 8, Bytes(2.0)) >= fewer);
    fewer = time(rows, 8, Bytes(2.0));
  }
  CHECK(time(64, 2, Bytes(2.0)) < time(64, 8, Bytes(2.0)));
  CHECK(time(4096, 8, Bytes(1.0)) < time(4096, 8, Bytes(2.0)));
  // A large batch is bound by products: close to the FLOP over the rate.
  const KernelTimeModel large = expert_time({65536, 4096, 14336, 65536, 8, true}, Bytes(2.0), {}, a100());
  CHECK(large.bound == Bound::compute);
  CHECK(large.time.base() < 1.35 * large.flop.base() / 312e12);
}

TEST_CASE("worked example: a grouped product of 8 experts, forward and the gradient of its weights") {
  const KernelRates rates{FlopPerSecond(1e14), BytesPerSecond(1e12), 5.0_us, 100};
  const GroupedProduct product{8, 8192, 4096, 4096};
  // 128 x 64 tiles: 41 waves of 100; 128 rows of them stream 0.33 of the weights again for each of 7 further ones.
  const double compute = 41 * 2.0 * 128 * 64 * 4296 * (1 + 1.4 * 192 / 8192) / 1e12, weights = 8 * 4096.0 * 4096 * 2 / 1e12;
  const double activations = 8192 * 8192.0 * 2 / 1e12, memory = weights * (1 + 0.33 * 7);
  const Seconds forward(5e-6 + std::cbrt(std::pow(compute, 3) + std::pow(memory, 3)) + activations);
  const KernelTimeModel model = grouped_product_time(product, false, Bytes(2.0), {}, rates);
  CHECK_THAT(model.time.base(), WithinRel(forward.base(), 1e-12));
  CHECK(model.flop == Flop(2.0 * 8192 * 4096 * 4096));
  CHECK(documented("= " + microseconds(model.time)));
  // 128 x 256 tiles over 1,024 rows of an expert: 41 waves; nothing is read again.
  const double gradient = 41 * 2.0 * 128 * 256 * 1224 * (1 + 1.4 * 384 / 32768) / 1e12;
  const KernelTimeModel back = grouped_product_time(product, true, Bytes(2.0), {}, rates);
  CHECK_THAT(back.time.base(), WithinRel(5e-6 + std::cbrt(std::pow(gradient, 3) + std::pow(weights, 3)) + activations, 1e-12));
  CHECK(back.flop == model.flop);
  CHECK(documented("= " + microseconds(back.time)));
}

// Far beyond the cache: two products with their share of the activations, and what routing, the activation between them and the
// combination move, are the layer.
TEST_CASE("the kernels of an expert layer add up to it") {
  const ExpertShape layer{65536, 4096, 14336, 131072, 8, true};
  const Bytes two(2.0);
  const KernelRates rates = a100();
  const auto busy = [](const KernelTimeModel& model) { return (model.time - model.launch).base(); };
  const double in = busy(grouped_product_time({8, layer.rows, 2 * layer.inner, layer.hidden}, false, two, {}, rates));
  const double out = busy(grouped_product_time({8, layer.rows, layer.hidden, layer.inner}, false, two, {}, rates));
  const double moved =
      2.0 * (2.0 * layer.tokens * layer.hidden + 2.0 * layer.rows * layer.hidden + 3.0 * layer.rows * layer.inner);
  CHECK_THAT(in + out + moved / rates.bandwidth.base(), WithinRel(busy(expert_time(layer, two, {}, rates)), 1e-3));
}
