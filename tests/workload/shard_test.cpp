// Networks divided over GPUs: what each holds, and what cannot be divided.
#include "model/workload/shard.hpp"

#include <algorithm>
#include <random>

#include "model/workload/recompute.hpp"
#include "model/workload/stages.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

OpGraph network(const char* name) {
  const ZooEntry* entry = find_network(name, "torchvision").value();
  return entry->build(*entry, {}).value();
}

Result<OpGraph> tensor_share(const OpGraph& graph, int ways) {
  Layout layout;
  layout.tensor = ways;
  return shard(graph, layout);
}

std::string refused(const Result<OpGraph>& result) { return result ? "" : result.error().front().message; }

}  // namespace

TEST_CASE("two GPUs share a transformer's products, biases of columns, heads and words, norms and rest stay whole") {
  const OpGraph whole = network("gpt2"), share = tensor_share(whole, 2).value();
  // 12 layers of width h: qkv and first product by columns with biases, output and second product by rows without.
  constexpr std::int64_t h = 768, layers = 12, words = 50257, positions = 1024;
  constexpr std::int64_t columns = (3 * h * h + 3 * h + 4 * h * h + 4 * h) / 2, rows = (h * h + 4 * h * h) / 2 + 2 * h;
  constexpr std::int64_t rest = 4 * h;  // two norms
  CHECK(whole.parameter_elements() == layers * (12 * h * h + 13 * h) + (words + positions) * h + 2 * h);
  CHECK(share.parameter_elements() == layers * (columns + rows + rest) + ((words + 1) / 2 + positions) * h + 2 * h);
  const auto shape = [](const OpGraph& graph, const char* name) {
    return graph.output_shape(*std::find_if(graph.ops.begin(), graph.ops.end(), [&](const Op& op) { return op.name == name; }));
  };
  CHECK(shape(share, "layer.3.attention.softmax") == Shape{6, 1024, 1024});
  CHECK(shape(share, "layer.3.attention.context_merge") == Shape{1024, h / 2});
  CHECK(shape(share, "layer.3.attention.output") == Shape{1024, h});
  CHECK(shape(share, "layer.3.feed_forward.activation") == Shape{1024, 2 * h});
  CHECK(shape(share, "layer.3.feed_forward.add") == Shape{1024, h});
  CHECK(shape(share, "scores") == Shape{1024, (words + 1) / 2});
}

TEST_CASE("one GPU's share is the network") {
  const OpGraph whole = network("bert-base"), share = tensor_share(whole, 1).value();
  CHECK(share.parameter_elements() == whole.parameter_elements());
  for (std::size_t i = 0; i < whole.tensors.size(); ++i) CHECK(share.tensors[i].shape == whole.tensors[i].shape);
}

TEST_CASE("heads that do not divide and networks without attention are refused") {
  CHECK(refused(tensor_share(network("gpt2-xl"), 2)) ==
        "--tensor-parallel 2: the 25 attention heads of gpt2-xl do not divide over 2 GPUs");
  CHECK(refused(tensor_share(network("gpt2-xl"), 5)).empty());
  CHECK(refused(tensor_share(network("resnet50"), 2)) ==
        "--tensor-parallel 2: modelled for networks with attention, resnet50 has none");
}

TEST_CASE(
    "four GPUs share grouped heads, both feed-forward products by columns and the words, sixteen cannot share eight heads") {
  const ZooEntry* entry = find_network("llama-3-8b", "torchvision").value();
  ZooOptions fused;
  fused.fused_attention = true;
  for (const ZooOptions& options : {ZooOptions{}, fused}) {
    const OpGraph whole = entry->build(*entry, options).value(), share = tensor_share(whole, 4).value();
    constexpr std::int64_t h = 4096, kv = 1024, f = 14336, layers = 32, words = 128256;
    constexpr std::int64_t products = 2 * h * h + 2 * h * kv + 3 * h * f;
    CHECK(share.parameter_elements() == layers * (products / 4 + 2 * h) + h + 2 * words / 4 * h);
    CHECK_FALSE(refused(tensor_share(whole, 16)).empty());
    CHECK(refused(tensor_share(whole, 8)).empty());
  }
  const OpGraph one = entry->build(*entry, fused).value();
  CHECK(refused(tensor_share(one, 16)) ==
        "--tensor-parallel 16: the 8 heads of keys and values of llama-3-8b do not divide over 16 GPUs");
}

TEST_CASE("a transformer is recomputed by layers, the loss by itself, a network without attention by blocks") {
  CHECK(recompute_segments(network("gpt2"), Recompute::layer).size() == 13);
  CHECK(recompute_segments(network("gpt2"), Recompute::block).size() == 25);
  CHECK(recompute_segments(network("resnet50"), Recompute::layer) == recompute_segments(network("resnet50"), Recompute::block));
}

TEST_CASE("stages hold all operators once, in order, and as many layers as their neighbours or one more") {
  const OpGraph whole = network("gpt2");
  const std::int64_t layer = 12 * 768 * 768 + 13 * 768, table = 50257 * 768;
  for (const int stages : {1, 2, 5, 12}) {
    INFO(stages);
    const std::vector<int> stage = stages_of(whole, stages).value();
    CHECK(std::is_sorted(stage.begin(), stage.end()));
    std::size_t ops = 0;
    std::int64_t parameters = 0;
    for (int which = 0; which < stages; ++which) {
      const OpGraph part = stage_share(whole, stage, which);
      const auto own = std::count_if(part.ops.begin(), part.ops.end(), [](const Op& op) { return op.kind != OpKind::input; });
      ops += static_cast<std::size_t>(own);
      parameters += part.parameter_elements();
      if (which == 0 || which + 1 == stages) continue;
      const std::int64_t layers = part.parameter_elements() / layer;
      CHECK(part.parameter_elements() == layers * layer);
      CHECK((layers == 12 / stages || layers == 12 / stages + 1));
      CHECK(elements(part.tensors.front().shape) == 1024 * 768);  // what the stage before hands over
    }
    CHECK(ops == whole.ops.size() - 1);
    // The last stage has a copy of the table of words.
    CHECK(parameters == whole.parameter_elements() + (stages > 1 ? table : 0));
  }
  CHECK(layers_of_stages(whole) == 12);
  CHECK(first_layers(5, 12, {}) == std::vector<int>{0, 3, 5, 8, 10, 12});
  CHECK(first_layers(4, 12, {1, 4, 5, 2}) == std::vector<int>{0, 1, 5, 10, 12});
  const std::vector<int> by_hand = stages_of(whole, 4, {1, 4, 5, 2}).value();
  CHECK(stage_share(whole, by_hand, 1).parameter_elements() == 4 * layer);
  CHECK(stage_share(whole, by_hand, 2).parameter_elements() == 5 * layer);
  CHECK(stages_of(whole, 4, {3, 3, 3, 3}).value() == stages_of(whole, 4).value());
  const auto many = stages_of(whole, 13);
  REQUIRE_FALSE(many);
  CHECK(many.error().front().message == "--pipeline-parallel: 13 stages, and gpt2 has 12 layers; at most so many stages");
}

TEST_CASE("ranks that hold several stages have as many layers as others or one more") {
  const auto of_ranks = [](int stages, int layers, const std::vector<int>& ranks) {
    const std::vector<int> first = first_layers(stages, layers, {}, ranks);
    REQUIRE(static_cast<int>(first.size()) == stages + 1);
    CHECK(first.back() == layers);
    std::vector<int> sums(static_cast<std::size_t>(*std::max_element(ranks.begin(), ranks.end()) + 1), 0);
    for (std::size_t stage = 0; stage < ranks.size(); ++stage) {
      const int size = first[stage + 1] - first[stage];
      CHECK((size == layers / stages || size == layers / stages + 1));
      sums[static_cast<std::size_t>(ranks[stage])] += size;
    }
    return sums;
  };
  std::mt19937 random(5);
  const auto among = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  for (int i = 0; i < 300; ++i) {
    const int ranks = among(1, 20), parts = among(1, 9), stages = ranks * parts, layers = among(stages, 4 * stages);
    for (const bool turned : {false, true}) {
      INFO(layers << " layers, " << ranks << " ranks, " << parts << " parts" << (turned ? ", turned" : ""));
      std::vector<int> rank_of;
      for (int stage = 0; stage < stages; ++stage)
        rank_of.push_back(turned && stage / ranks % 2 == 1 ? ranks - 1 - stage % ranks : stage % ranks);
      const std::vector<int> sums = of_ranks(stages, layers, rank_of);
      CHECK(*std::max_element(sums.begin(), sums.end()) - *std::min_element(sums.begin(), sums.end()) <= 1);
      if (parts > 1 && layers % stages != 0) continue;
      std::vector<int> rounded;
      for (int stage = 0; stage <= stages; ++stage) rounded.push_back((stage * layers + stages - 1) / stages);
      CHECK(first_layers(stages, layers, {}, rank_of) == rounded);
      CHECK(first_layers(stages, layers, {}) == rounded);
    }
  }
  std::vector<int> interleaved;
  for (int stage = 0; stage < 112; ++stage) interleaved.push_back(stage % 16);
  const std::vector<int> sums = of_ranks(112, 126, interleaved);
  CHECK(std::count(sums.begin(), sums.end(), 8) == 14);
  CHECK(std::count(sums.begin(), sums.end(), 7) == 2);
}
