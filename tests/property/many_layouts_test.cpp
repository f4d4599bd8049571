// What must hold of every layout, over ten thousand predicted ones of two small networks.
#include <fmt/format.h>

#include <array>
#include <future>
#include <numeric>
#include <set>

#include "model/prediction/predict.hpp"
#include "model/prediction/step_parts.hpp"
#include "model/schedule/divided/tier_traffic.hpp"
#include "tests/catch.hpp"
#include "tests/predicted.hpp"
#include "tests/property/draw.hpp"

using namespace tbdsim;

namespace {

constexpr unsigned kDraws = 20'000;  // of which over half divide what they must
constexpr std::array kStacks{"megatron-core-0.8", "megatron-lm-2022", "fsdp2-2.6", "deepspeed-0.14"};
constexpr std::array kModels{"few_layers", "few_layers", "few_experts"};
constexpr std::array kRecomputes{"none", "none", "selective", "layer", "full"};
constexpr std::array kWidths{1, 1, 2, 4, 8};
constexpr std::array kFew{1, 1, 2, 4};
constexpr std::array kNodes{1, 2, 4, 16, 64};
constexpr std::array kMicroBatches{1, 2, 4, 8, 16};
constexpr std::array kZero{0, 0, 1, 2, 3};
constexpr std::array kSchedules{"", "", "gpipe", "1f1b", "zb-h1", "interleaved", "zb-v", "dualpipe"};

/// A job that is divided at random, on DGX H100s; nothing: the axes do not divide the GPUs.
std::optional<PredictOptions> drawn(unsigned seed) {
  Draw draw(seed);
  PredictOptions o;
  o.hardware = "dgx-h100";
  o.nodes = draw.of(kNodes);
  o.network = "infiniband-ndr";
  o.stack = draw.of(kStacks);
  const std::string model = draw.of(kModels);
  o.model = TBDSIM_SOURCE_DIR "/tests/data/networks/" + model + ".toml";
  o.precision = "bf16";
  o.attention = "flash-2";
  o.batch = draw.of(kFew);
  o.recompute = draw.of(kRecomputes);
  o.tensor_parallel = draw.of(kWidths);
  o.context_parallel = draw.of(kFew);
  o.pipeline_parallel = draw.of(kWidths);
  o.accumulate = draw.of(kMicroBatches) * *o.pipeline_parallel;
  if (model == "few_experts") o.expert_parallel = draw.of(kWidths);
  if (*o.tensor_parallel > 1) o.sequence_parallel = draw.of(kFew) > 1 ? "off" : "on";
  o.zero = draw.of(kZero);
  if (*o.pipeline_parallel > 1) {
    o.schedule = draw.of(kSchedules);
    o.zero = std::min(*o.zero, 1);
    if (o.schedule == "interleaved") o.virtual_stages = 2;
  }
  if (o.stack == "fsdp2-2.6" && *o.zero == 1) o.zero = 2;
  const int copy = *o.tensor_parallel * *o.context_parallel * *o.pipeline_parallel;
  const int gpus = 8 * *o.nodes;
  if (copy > gpus) return std::nullopt;
  // Experts are spread over the ranks of a stage.
  const int spread = o.expert_parallel.value_or(1) > 1 ? *o.expert_parallel * *o.tensor_parallel : 1;
  if (gpus / *o.pipeline_parallel % spread != 0) return std::nullopt;
  return o;
}

std::string words(const PredictOptions& o) {
  return fmt::format("{} {} n{} t{} c{} p{} e{} {} b{} m{} z{} {}", o.stack, o.model, *o.nodes, *o.tensor_parallel,
                     *o.context_parallel, *o.pipeline_parallel, o.expert_parallel.value_or(1), o.schedule, *o.batch,
                     *o.accumulate, *o.zero, o.recompute);
}

bool near(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b)); }

/// What does not hold of a prediction; empty: all does.
std::string broken(const PredictOptions& o, const Prediction& p) {
  const PhaseTimes& s = p.phases;
  const double step = p.step_time.value.base();
  if (p.division.layout.gpus() != p.job.gpus || p.job.gpus != 8 * *o.nodes) return "axes do not make up the GPUs";
  if (p.job.global_batch != *o.batch * *o.accumulate * p.division.layout.data) return "samples of the step";
  const Seconds sum = s.forward + s.backward + s.weight_update + s.exchange_exposed + s.host_exposed + s.input_exposed + s.bubble;
  if (!near(sum.base(), step, 1e-6)) return "stages do not sum to the step";
  double shares = 0.0;
  for (const StepPart& part : step_parts(p)) {
    if (part.time < Seconds(0.0)) return "a part of the step is negative";
    shares += part.share;
  }
  if (!near(shares, 1.0, 1e-6)) return fmt::format("parts sum to {} of the step", shares);
  if (s.exchange_exposed > s.exchange_total * (1.0 + 1e-9)) return "more is waited for than exchanged";
  if (p.utilization.hfu < p.utilization.mfu || p.utilization.hfu >= 1.0) return "utilisation";
  std::set<Axis> seen;
  for (const AxisTraffic& traffic : p.division.communication) {
    if (!seen.insert(traffic.axis).second) return "an axis stands twice";
    if (traffic.ranks != group_of(p.division.layout, traffic.axis).size || traffic.ranks <= 1) return "ranks of an axis";
    if (!(traffic.bytes > Bytes(0.0))) return fmt::format("nothing travels along {}", name(traffic.axis));
    if (traffic.exposed < Seconds(0.0) || traffic.exposed.base() > step * (1.0 + 1e-9)) return "waits of an axis";
    Bytes tiers(0.0);
    bool network = false;
    for (const TierTraffic& tier : traffic.tiers) {
      if (!(tier.bytes > Bytes(0.0)) || !(tier.capacity > BytesPerSecond(0.0))) return "an empty tier";
      tiers += tier.bytes;
      network = network || tier.network;
    }
    if (!near(tiers.base(), traffic.bytes.base(), 1e-9))
      return fmt::format("bytes of {} are lost between tiers", name(traffic.axis));
    if (network != traffic.leaves_node) return fmt::format("{} is on and off the network", name(traffic.axis));
  }
  for (const AxisInfo& axis : axes())
    if (p.division.by_layers && axis.kind != Axis::expert &&
        seen.contains(axis.kind) != (group_of(p.division.layout, axis.kind).size > 1))
      return fmt::format("traffic along {}", axis.name);
  for (const GpuMemory& gpu : p.memory.gpus)
    if (!near(gpu.parts.total().base(), gpu.peak.base(), 1e-9)) return "parts of memory do not sum to its peak";
  if (p.memory.gpus.size() != static_cast<std::size_t>(p.division.layout.divides_network() ? p.division.layout.pipeline : 8))
    return "stages of memory";
  return "";
}

}  // namespace

TEST_CASE("every layout: axes make up the GPUs, parts the step, tiers the bytes, and memory its peak") {
  std::vector<std::string> problems(kDraws);
  std::vector<char> made(kDraws, 0);
  const auto look = [&](unsigned seed) {
    const auto options = drawn(seed);
    if (!options) return;
    const auto p = predict(session(), *options);
    made[seed] = p.has_value() ? 1 : 0;
    const std::string problem = p ? broken(*options, *p) : "";
    if (!problem.empty()) problems[seed] = fmt::format("draw {}, {}: {}", seed, words(*options), problem);
    // What cannot be is refused by what it is, with a message.
    if (!p && p.error().front().message.empty()) problems[seed] = fmt::format("draw {}: refused without a word", seed);
  };
  constexpr unsigned kThreads = 4;
  std::vector<std::future<void>> threads;
  for (unsigned first = 0; first < kThreads; ++first)
    threads.push_back(std::async(std::launch::async, [&look, first] {
      for (unsigned seed = first; seed < kDraws; seed += kThreads) look(seed);
    }));
  for (std::future<void>& thread : threads) thread.get();
  for (const std::string& problem : problems)
    if (!problem.empty()) FAIL_CHECK(problem);
  CHECK(std::accumulate(made.begin(), made.end(), 0) > 10'000);
}

TEST_CASE(
    "every drawing: a rank's blocks and pauses follow each other up to its exchange; kernels and links are those of the step") {
  constexpr unsigned kFewDraws = 400;
  int drawings = 0;
  for (unsigned seed = 0; seed < kFewDraws; ++seed) {
    auto options = drawn(seed);
    if (!options || options->schedule == "dualpipe") continue;
    options->detail = true;
    const auto p = predict(session(), *options);
    if (!p || !p->division.by_layers) continue;
    INFO(fmt::format("draw {}, {}", seed, words(*options)));
    ++drawings;
    const double step = p->step_time.value.base();
    CHECK(p->detail.drawing.ranks.size() == static_cast<std::size_t>(p->division.layout.pipeline));
    CHECK(p->detail.drawing.micro_batches == *options->accumulate);
    CHECK(p->detail.drawing.drawn == p->detail.drawing.micro_batches);
    for (const DrawnRank& rank : p->detail.drawing.ranks) {
      Seconds at(0.0);
      for (const DrawnBlock& block : rank.blocks) {
        REQUIRE(near((block.start - block.idle).base(), at.base(), 1e-6));
        REQUIRE(block.exposed <= block.time * (1.0 + 1e-9));
        REQUIRE(block.held > Bytes(0.0));
        at = block.start + block.time;
      }
      CHECK(near(at.base(), rank.exchange_start.base(), 1e-6));
      CHECK((rank.update_start + rank.update).base() <= step * (1.0 + 1e-6));
    }
    Seconds kernels(0.0);
    for (const KernelTime& kernel : p->detail.kernels) kernels += kernel.time;
    CHECK(near(kernels.base(), (p->phases.forward + p->phases.backward + p->phases.weight_update).base(), 1e-6));
    std::size_t tiers = 0;
    for (const AxisTraffic& traffic : p->division.communication) tiers += traffic.tiers.size();
    CHECK(p->detail.links.size() == tiers);
  }
  CHECK(drawings > 100);
}

TEST_CASE("every mesh: each rank is in one group of each axis, whatever the extents") {
  for (unsigned seed = 0; seed < kDraws; ++seed) {
    Draw draw(seed);
    Layout l;
    l.tensor = draw.of(kWidths);
    l.context = draw.of(kFew);
    l.data = draw.of(kNodes);
    l.pipeline = draw.of(kWidths);
    INFO(to_text(l));
    // The groups of tensor, of data with context, and of pipeline cut the ranks without rest, in mesh order.
    int stride = 1;
    for (const Axis axis : {Axis::tensor, Axis::data, Axis::pipeline}) {
      const AxisGroup group = group_of(l, axis);
      REQUIRE(group.stride == stride);
      stride *= group.size;
    }
    REQUIRE(stride == l.gpus());
    REQUIRE(l.gpus() % (group_of(l, Axis::context).size * group_of(l, Axis::context).stride) == 0);
  }
}
