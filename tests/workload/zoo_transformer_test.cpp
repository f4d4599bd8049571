#include <algorithm>
#include <set>
#include <string_view>

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

// Counts that huggingface.co shows of the weights: sums over the layers of the published configurations. Read on 2026-11-23:
// Llama, Mistral, Qwen 2.5, DeepSeek-V3 and -V2-Lite, gpt-oss-120b and qwen3-30b-a3b. The others were not looked up again. Left
// out: 64 rotary frequencies a layer that the files of Llama 2 count, second copies of tied tables, Gemma 3's part for images
// (416,866,032 and a projection), DeepSeek-V3's layer for a second token. Megatron-LM's papers print billions; their sizes follow
// from 12 d^2 + 13 d a layer, 51,200 words and 2,048 positions.
TEST_CASE("language models have the published number of parameters") {
  struct Row {
    std::string_view name;
    std::int64_t parameters;
  };
  constexpr Row kPublished[] = {
      {"llama-2-7b", 6738415616},
      {"llama-2-13b", 13015864320},
      {"llama-2-70b", 68976648192},
      {"llama-3-8b", 8030261248},
      {"llama-3-70b", 70553706496},
      {"llama-3.1-405b", 405853388800},
      {"llama-3-405b", 405853388800},
      {"llama-3.2-1b", 1235814400},
      {"llama-3.2-3b", 3212749824},
      {"mistral-7b", 7241732096},
      {"qwen2.5-0.5b", 494032768},
      {"qwen2.5-1.5b", 1543714304},
      {"qwen2.5-3b", 3085938688},
      {"qwen2.5-7b", 7615616512},
      {"qwen2.5-14b", 14770033664},
      {"qwen2.5-32b", 32763876352},
      {"qwen2.5-72b", 72706203648},
      {"mistral-7b-v0.3", 7248023552},
      {"mixtral-8x7b", 46702792704},
      {"mixtral-8x22b", 140620634112},
      {"qwen3-0.6b", 596049920},
      {"qwen3-1.7b", 1720574976},
      {"qwen3-4b", 4022468096},
      {"qwen3-8b", 8190735360},
      {"qwen3-14b", 14768307200},
      {"qwen3-32b", 32762123264},
      {"qwen3-30b-a3b", 30532122624},
      {"qwen3-235b-a22b", 235093634560},
      {"gpt-oss-20b", 20914757184},
      {"gpt-oss-120b", 116829156672},
      {"deepseek-v2-lite", 15706484224},
      {"deepseek-v2", 235741434880},
      {"deepseek-v3", 671026419200},
      {"deepseek-r1", 671026419200},
      {"gemma-2b", 2506172416},
      {"gemma-7b", 8537680896},
      {"gemma-2-2b", 2614341888},
      {"gemma-2-9b", 9241705984},
      {"gemma-2-27b", 27227128320},
      {"gemma-3-1b", 999885952},
      {"gemma-3-270m", 268098176},
      {"gemma-3-4b", 3880263168},
      {"gemma-3-12b", 11766034176},
      {"gemma-3-27b", 27009346304},
      {"phi-3-mini", 3821079552},
      {"phi-3-medium", 13960238080},
      {"phi-2", 2779683840},
      {"phi-1.5", 1418270720},
      {"bloom-560m", 559214592},
      {"bloom-1b1", 1065314304},
      {"bloom-1b7", 1722408960},
      {"bloom-3b", 3002557440},
      {"bloom-7b1", 7069016064},
      {"bloom-176b", 176247271424},
      {"megatron-1.7b", 1652230656},
      {"megatron-3.6b", 3562168320},
      {"megatron-7.5b", 7467786240},
      {"megatron-18.4b", 18449756160},
      {"megatron-39.1b", 39096041472},
      {"megatron-76.1b", 76050739200},
      {"megatron-145.6b", 145622261760},
      {"megatron-310.1b", 310130540544},
      {"megatron-529.6b", 529600819200},
      {"megatron-1008b", 1008038758400},
      {"megatron-22b", 22074273792},
      {"phi-4", 14659507200},
      {"megatron-530b", 529600819200},
      {"megatron-1t", 1008038758400},
  };
  for (const Row& row : kPublished) {
    INFO(row.name);
    CHECK(parameters(std::string(row.name)) == row.parameters);
  }
}

TEST_CASE("networks go by their public names, whatever the case and the signs between") {
  for (const char* const name : {"Llama-3.1-405B", "llama_3_405b", "LLAMA-2-7b", "Qwen3-30B-A3B", "mixtral_8x7B", "DeepSeek-V3",
                                 "GPT-OSS-120b", "Gemma-2-27B", "Phi-3-mini", "phi_1_5", "Llama32-1b"}) {
    INFO(name);
    CHECK(find_network(name, ""));
  }
}

// Active weights: all but the word table of an untied network and the experts that a token does not visit. A token also meets the
// keys that it may see, twice: for scores and for values.
TEST_CASE("forward multiply-adds of a token: its active weights and the scores that it may see") {
  const auto forward = [](const std::string& name, int length) {
    ZooOptions options;
    options.seq_len = length;
    options.fused_attention = true;
    return macs_per_sample(build(name, options)).forward;
  };
  const std::int64_t T = 4096;
  {
    // Mixtral: 32 layers of 4096; 2 of 8 experts.
    const std::int64_t h = 4096, attention = 2 * h * h + 2 * h * 1024, experts = 2 * 3 * h * 14336, router = 8 * h;
    CHECK(forward("mixtral-8x7b", 4096) == T * (32 * (attention + experts + router + 2 * T * h) + 32000 * h));
  }
  {
    // GPT-OSS: 24 layers of 2880, every other one sees 128 tokens; 64 heads of 64, 8 of keys; 4 of 32 experts.
    const std::int64_t h = 2880, q = 64 * 64, kv = 8 * 64, attention = 2 * h * q + 2 * h * kv, experts = 4 * 3 * h * h;
    CHECK(forward("gpt-oss-20b", 4096) == T * (24 * (attention + experts + 32 * h) + 12 * 2 * q * (T + 128) + 201088 * h));
  }
  {
    // DeepSeek-V2-Lite: queries from the layer's width, keys and values from 512 features; scores of 192 features, values of 128;
    // one dense layer, then 6 of 64 experts and 2 for all.
    const std::int64_t h = 2048, a = 16, attention = h * a * 192 + h * (512 + 64) + 512 * a * 256 + a * 128 * h;
    const std::int64_t dense = 3 * h * 10944, experts = 8 * 3 * h * 1408 + 64 * h;
    CHECK(forward("deepseek-v2-lite", 4096) == T * (27 * (attention + T * a * (192 + 128)) + dense + 26 * experts + 102400 * h));
  }
  {
    // Gemma 2 9B: 42 layers of 3584, half of them with a window of 4096; 16 heads of 256, 8 of keys; tied words.
    const std::int64_t h = 3584, S = 8192, q = 16 * 256, kv = 8 * 256;
    CHECK(forward("gemma-2-9b", 8192) ==
          S * (42 * (2 * h * q + 2 * h * kv + 3 * h * 14336) + 21 * 2 * q * (S + 4096) + 256000 * h));
  }
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

TEST_CASE("GPT-3 calls the framework's attention, code of Hugging Face writes it out") {
  ZooOptions fused;
  fused.fused_attention = true;
  const auto count = [&](const std::string& name, OpKind kind) {
    const OpGraph graph = build(name, fused);
    return std::count_if(graph.ops.begin(), graph.ops.end(), [&](const Op& op) { return op.kind == kind; });
  };
  CHECK(count("gpt3-125m", OpKind::attention) == 12);
  CHECK(count("gpt3-125m", OpKind::matmul) == 0);
  CHECK(count("gpt2", OpKind::attention) == 0);
  CHECK(count("gpt2", OpKind::matmul) == 24);
  CHECK(count("opt-125m", OpKind::matmul) == 24);
}

TEST_CASE("later releases of Hugging Face's code call the framework's attention, with the same products and weights") {
  ZooOptions early, later;
  early.fused_attention = later.fused_attention = true;
  later.later_code = true;
  for (const std::string name :
       {"gpt2", "opt-125m", "bert-base", "hf_Bert", "hf_GPT2", "BartForConditionalGeneration", "whisper-tiny"}) {
    INFO(name);
    const OpGraph apart = build(name, early), one = build(name, later);
    const auto count = [](const OpGraph& graph, OpKind kind) {
      return std::count_if(graph.ops.begin(), graph.ops.end(), [&](const Op& op) { return op.kind == kind; });
    };
    CHECK(apart.later_calls_attention);
    CHECK(count(one, OpKind::matmul) == 0);
    CHECK(2 * count(one, OpKind::attention) == count(apart, OpKind::matmul));
    CHECK(one.parameter_elements() == apart.parameter_elements());
    CHECK(macs_per_sample(one).forward <= macs_per_sample(apart).forward);
  }
  CHECK_FALSE(build("t5-base", early).later_calls_attention);
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
  // The same arrays where every word is scored, but for six words that fill the vocabulary up to a multiple of eight: 128 rows
  // instead of 20 reach the head for masked words.
  CHECK(parameters("bert-base@every-word") == parameters("bert-base") + 6 * (d + 1));
  CHECK(macs_per_sample(build("bert-base@every-word")).forward == 12 * layer + heads + 108 * (d * d + 30528 * d) + 20 * 6 * d);
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
