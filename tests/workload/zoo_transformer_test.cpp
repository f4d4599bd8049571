#include <algorithm>
#include <set>

#include "model/workload/op_counts.hpp"
#include "model/workload/saved_tensors.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

OpGraph build(const std::string& name, ZooOptions options = {}) {
  const auto entry = find_network(name, "");
  if (!entry) FAIL(to_text(entry.error()));
  auto graph = (*entry)->build(**entry, options);
  if (!graph) FAIL(to_text(graph.error()));
  return std::move(*graph);
}

std::int64_t parameters(const std::string& name) { return build(name).parameter_elements(); }

}  // namespace

// Hugging Face: num_parameters() of BertForPreTraining, BertForQuestionAnswering, GPT2LMHeadModel, OPTForCausalLM with
// their published configurations. Each is also a sum that can be done by hand.
TEST_CASE("transformers have the published number of parameters") {
  CHECK(parameters("bert-base") == 110106428);
  CHECK(parameters("bert-large") == 336226108);
  CHECK(parameters("bert-base-squad") == 108893186);
  CHECK(parameters("bert-large-squad") == 334094338);
  CHECK(parameters("gpt2") == 124439808);
  CHECK(parameters("gpt2-medium") == 354823168);
  CHECK(parameters("gpt2-large") == 774030080);
  CHECK(parameters("gpt2-xl") == 1557611200);
  CHECK(parameters("opt-125m") == 125239296);
  CHECK(parameters("opt-350m") == 331196416);
  CHECK(parameters("opt-1.3b") == 1315758080);
  CHECK(parameters("opt-2.7b") == 2651596800);
  CHECK(parameters("opt-6.7b") == 6658473984);
  CHECK(parameters("opt-13b") == 12853473280);
  CHECK(parameters("opt-30b") == 29974540288);
  // Too large for most to print: layers of 12 d^2 + 13 d, 50,272 words and 2,050 positions, and the last norm.
  const auto opt = [](std::int64_t layers, std::int64_t d) { return layers * (12 * d * d + 13 * d) + (50272 + 2050 + 2) * d; };
  CHECK(opt(48, 7168) == 29974540288);
  CHECK(parameters("opt-66b") == opt(64, 9216));
  CHECK(parameters("opt-175b") == opt(96, 12288));
  // Printed by NVIDIA's training script of the base network.
  CHECK(parameters("transformer-xl-base") == 191950298);
  // Without the adaptive head: the three scores of the rarer classes go, weights and bias.
  CHECK(parameters("transformer-xl-base@softmax") == parameters("transformer-xl-base") - 3 * (512 + 1));
  // A wide embedding for every word, its bias among the scores, and neither projections nor classes.
  CHECK(parameters("transformer-xl-large@softmax") > 267735 * std::int64_t{1025});
}

// Counts of the weights published at huggingface.co (the metadata of Llama 2's files also counts 64 rotary frequencies a layer,
// which are no parameters), read 2026-11-23.
TEST_CASE("Llama, Mistral and Qwen have the published number of parameters") {
  CHECK(parameters("llama-2-7b") == 6738415616);
  CHECK(parameters("llama-2-13b") == 13015864320);
  CHECK(parameters("llama-2-70b") == 68976648192);
  CHECK(parameters("llama-3-8b") == 8030261248);
  CHECK(parameters("llama-3-70b") == 70553706496);
  CHECK(parameters("llama-3.1-405b") == 405853388800);
  CHECK(parameters("llama-3-405b") == 405853388800);
  CHECK(parameters("llama-3.2-1b") == 1235814400);
  CHECK(parameters("llama-3.2-3b") == 3212749824);
  CHECK(parameters("mistral-7b") == 7241732096);
  CHECK(parameters("qwen2.5-0.5b") == 494032768);
  CHECK(parameters("qwen2.5-1.5b") == 1543714304);
  CHECK(parameters("qwen2.5-3b") == 3085938688);
  CHECK(parameters("qwen2.5-7b") == 7615616512);
  CHECK(parameters("qwen2.5-14b") == 14770033664);
  CHECK(parameters("qwen2.5-32b") == 32763876352);
  CHECK(parameters("qwen2.5-72b") == 72706203648);
}

// A layer keeps 12 h + 4 g d + 6 f bytes a token in 16 bits: inputs of both norms, of the projections and of the feed-forward
// block, queries and context (h each), keys and values (g d each), gate, what it scales and their product (f each). Beside them
// fp32 statistics: one for each norm and one for each head's row of scores.
TEST_CASE("a Llama layer with fused attention keeps 12 h + 4 g d + 6 f bytes of each token") {
  ZooOptions fused;
  fused.fused_attention = true;
  const OpGraph graph = build("llama-3-8b", fused);
  const double h = 4096, g = 8, d = 128, f = 14336, heads = 32, tokens = 8192, layers = 32;
  const double layer = tokens * (12 * h + 4 * g * d + 6 * f + 4 * (2 + heads));
  // Tokens of the embedding; input and statistic of the last norm, its result.
  const double rest = tokens * (8 + 2 * h + 4 + 2 * h);
  CHECK(saved_bytes(graph, SavingRules::autograd_cuda, Bytes(2.0), true).per_sample == Bytes(layers * layer + rest));
}

TEST_CASE("forward multiply-adds of Llama 3 8B: its weights but the word table once a token, and all scores twice") {
  const double weights = 8030261248.0 - 128256.0 * 4096 - 65 * 4096, tokens = 8192;
  for (const bool one : {false, true}) {
    ZooOptions options;
    options.fused_attention = one;
    CHECK(static_cast<double>(macs_per_sample(build("llama-3-8b", options)).forward) ==
          tokens * weights + 32 * 2.0 * tokens * tokens * 4096);
  }
}

TEST_CASE("GPT-3 sizes, in the millions of table D.1 of Brown et al.") {
  const auto millions = [](const std::string& name) { return static_cast<double>(parameters(name)) / 1e6; };
  CHECK_THAT(millions("gpt3-125m"), Catch::WithinAbs(125, 0.5));
  CHECK_THAT(millions("gpt3-350m"), Catch::WithinAbs(356, 0.5));
  CHECK_THAT(millions("gpt3-760m"), Catch::WithinAbs(760, 0.5));
  CHECK_THAT(millions("gpt3-1.3b"), Catch::WithinAbs(1320, 5));
  CHECK_THAT(millions("gpt3-2.7b"), Catch::WithinAbs(2650, 5));
  CHECK_THAT(millions("gpt3-6.7b"), Catch::WithinAbs(6660, 5));
  CHECK_THAT(millions("gpt3-13b"), Catch::WithinAbs(12850, 5));
  CHECK_THAT(millions("gpt3-175b"), Catch::WithinAbs(174600, 50));
}

// Vaswani et al. print 213 million for the big network with a vocabulary of 37,000; encoder and decoder layers are
// 4 d^2 + 4 d per attention, 2 d f + f + d per feed-forward block and 2 d per norm.
TEST_CASE("transformers of translation") {
  const auto layers = [](std::int64_t d, std::int64_t f, bool bias) {
    const std::int64_t attention = 4 * d * d + (bias ? 4 * d : 0), block = 2 * d * f + f + d;
    return 6 * (attention + block + 4 * d) + 6 * (2 * attention + block + 6 * d) + 4 * d;
  };
  CHECK(parameters("transformer-big@pytorch") == layers(1024, 4096, true) + 33712 * 1024);
  // NVIDIA's has no biases in its attention.
  CHECK(parameters("transformer-big@nvidia") == layers(1024, 4096, false) + 33712 * 1024);
  CHECK(parameters("transformer-base@tf") == layers(512, 2048, false) + 33708 * 512);
  CHECK_THAT(static_cast<double>(parameters("transformer-base@tf")) / 1e6, Catch::WithinAbs(61.4, 0.05));
  CHECK_THAT(static_cast<double>(layers(1024, 4096, true) + 37000 * 1024) / 1e6, Catch::WithinAbs(213, 1.5));
}

TEST_CASE("multiply-adds of a transformer layer by hand") {
  // Per token: 4 d^2 projections, 2 d f feed-forward, 2 T d attention; then the pooler, the heads for 20 of 128 words.
  const std::int64_t d = 768, steps = 128;
  const std::int64_t layer = steps * (4 * d * d + 2 * d * 4 * d + 2 * steps * d);
  const std::int64_t heads = d * d + 2 * d + 20 * (d * d + 30522 * d);
  CHECK(macs_per_sample(build("bert-base")).forward == 12 * layer + heads);
  // The same arrays where every word is scored: 128 rows instead of 20 reach the head for masked words.
  CHECK(parameters("bert-base@every-word") == parameters("bert-base"));
  CHECK(macs_per_sample(build("bert-base@every-word")).forward == 12 * layer + heads + 108 * (d * d + 30522 * d));
  // Everything upstream of a product learns, so backward is twice forward.
  CHECK(macs_per_sample(build("bert-base")).backward == 2 * (12 * layer + heads));
}

TEST_CASE("another sequence length changes no parameters") {
  const OpGraph longer = build("bert-large", {{}, {}, 512});
  CHECK(to_text(longer.tensors.front().shape) == "512");
  CHECK(longer.parameter_elements() == 336226108);
  CHECK(longer.parts_per_sample == 512);
  const ZooEntry& bert = **find_network("bert-large", "");
  const auto beyond = bert.build(bert, {{}, {}, 513});
  REQUIRE_FALSE(beyond);
  CHECK(beyond.error().front().message == "embeddings.position: a table of 512 positions is too short for 513x1024");
  const auto endless = bert.build(bert, {{}, {}, 1000001});
  REQUIRE_FALSE(endless);
  CHECK(endless.error().front().message == "input: expected a sequence of at most 1000000 steps, got 1000001");
}

TEST_CASE("names that differ in a dot need their dot") {
  CHECK((*find_network("OPT-1.3b", ""))->name == "opt-1.3b");
  CHECK((*find_network("opt-13b", ""))->name == "opt-13b");
  CHECK((*find_network("BERT_large", ""))->name == "bert-large");
  const auto unclear = find_network("opt_13b", "");
  REQUIRE_FALSE(unclear);
  CHECK(unclear.error().front().message == "network \"opt_13b\" fits several: opt-1.3b, opt-13b");
}

TEST_CASE("depth and dominant layer as their authors count them") {
  const auto layers = [](const std::string& name) { return depth(build(name)); };
  CHECK(layers("alexnet@torchvision") == 8);
  CHECK(layers("vgg16@torchvision") == 16);
  CHECK(layers("resnet50@torchvision") == 50);
  CHECK(layers("resnet152@torchvision") == 152);
  CHECK(layers("densenet121@torchvision") == 121);
  CHECK(dominant_layer(build("resnet50@torchvision")) == "convolution");
  CHECK(dominant_layer(build("bert-base")) == "linear");
}

TEST_CASE("products that read heads where they lie spare the copies, and nothing else") {
  const auto copies = [](const OpGraph& graph) {
    std::size_t count = 0;
    for (const Op& op : graph.ops) count += op.kind == OpKind::transpose ? 1 : 0;
    return count;
  };
  const OpGraph copied = build("bert-base-squad"), strided = build("bert-base-squad@strided-heads");
  CHECK(macs_per_sample(strided).forward == macs_per_sample(copied).forward);
  CHECK(strided.parameter_elements() == copied.parameter_elements());
  // Queries, keys and values of twelve layers; their context is still copied back.
  CHECK(copies(copied) - copies(strided) == 12 * 3);
  // NVIDIA's writes the context in place too; only eighteen attentions differ, all else is fairseq's.
  CHECK(copies(build("transformer-big@nvidia")) == 0);
  CHECK(copies(build("transformer-big@pytorch")) == 18 * 4);
}

TEST_CASE("networks of nn.MultiheadAttention have one operator for it where the framework has, and equal products") {
  ZooOptions fused;
  fused.fused_attention = true;
  for (const auto& [name, layers] : {std::pair{"vit_b_16", 12}, std::pair{"transformer_encoder", 6}}) {
    INFO(name);
    const OpGraph one = build(name, fused), many = build(name);
    CHECK(std::count_if(one.ops.begin(), one.ops.end(), [](const Op& op) { return op.kind == OpKind::attention; }) == layers);
    CHECK(macs_per_sample(one).forward == macs_per_sample(many).forward);
    CHECK(one.parameter_elements() == many.parameter_elements());
    // Weights of all scores are kept by the separate operators only.
    CHECK(saved_bytes(one, SavingRules::autograd_cuda, Bytes(4.0), true).per_sample <
          saved_bytes(many, SavingRules::autograd_cuda).per_sample);
  }
  // BERT's own code writes its products out.
  CHECK(build("bert-base", fused).ops.size() == build("bert-base").ops.size());
}

TEST_CASE("an attention without a fused kernel keeps the weights of all scores") {
  ZooOptions fused;
  fused.fused_attention = true;
  const OpGraph graph = build("vit_b_16", fused);
  const auto kept = [&](bool kernel) {
    return saved_bytes(graph, SavingRules::autograd_cuda, Bytes(2.0), kernel).per_sample.base();
  };
  // 12 layers of 12 heads over 197 tokens: 197 weights of 2 bytes a row against one fp32 sum; the fused kernel also keeps its
  // result, which the packing of the context does not.
  const double rows = 12.0 * 12.0 * 197.0;
  CHECK(kept(false) - kept(true) == rows * (197.0 * 2.0 - 4.0) - 12.0 * 197.0 * 768.0 * 2.0);
}
