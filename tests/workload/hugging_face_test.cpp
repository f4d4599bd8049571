#include "model/workload/hugging_face.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "model/workload/op_counts.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string file(const std::string& name) {
  return text_of(std::string(TBDSIM_SOURCE_DIR) + "/tests/data/configurations/" + name + ".json");
}

/// A configuration with one text in it replaced.
std::string with(std::string text, const std::string& old, const std::string& fresh) {
  const std::size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old.size(), fresh);
}

Result<ConfiguredNetwork> read(const std::string& text, std::optional<std::int64_t> length = std::nullopt, bool fused = true) {
  return read_hugging_face(text, "config.json", "mine", length, fused);
}

std::string refused(const std::string& text, std::optional<std::int64_t> length = std::nullopt) {
  const auto network = read(text, length);
  return network ? "accepted" : to_text(network.error());
}

}  // namespace

TEST_CASE("a configuration of each family is the catalogue's network, operator by operator") {
  std::set<std::string_view> missing;
  for (const std::string_view family : hugging_face_families()) missing.insert(family);
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TBDSIM_SOURCE_DIR) + "/tests/data/configurations")) {
    const std::string name = entry.path().stem().string(), text = text_of(entry.path());
    INFO(name);
    for (const std::string_view family : hugging_face_families())
      if (text.find("\"model_type\": \"" + std::string(family) + "\"") != std::string::npos) missing.erase(family);
    // The catalogue's GPT-2 and OPT write attention out, as transformers did when they were published.
    const bool fused = name != "gpt2" && name != "opt-350m";
    const auto network = read(text, 1024, fused);
    if (!network) FAIL(to_text(network.error()));
    if (name == "gpt-neox-20b") {  // not in the catalogue
      CHECK(network->graph.parameter_elements() == 20554567680);
      continue;
    }
    ZooOptions options;
    options.seq_len = 1024;
    options.fused_attention = fused;
    const OpGraph catalogued = build_network(**find_network(name, ""), options).value();
    REQUIRE(network->graph.ops.size() == catalogued.ops.size());
    for (std::size_t i = 0; i < catalogued.ops.size(); ++i) {
      const Op &a = network->graph.ops[i], &b = catalogued.ops[i];
      INFO(a.name);
      CHECK(a.name == b.name);
      CHECK(a.kind == b.kind);
      CHECK(network->graph.output_shape(a) == catalogued.output_shape(b));
      if (const auto* attention = std::get_if<AttentionAttributes>(&a.attributes))
        CHECK(attention->window == std::get<AttentionAttributes>(b.attributes).window);
    }
    CHECK(network->graph.parameter_elements() == catalogued.parameter_elements());
    CHECK(macs_per_sample(network->graph).forward == macs_per_sample(catalogued).forward);
  }
  CHECK(missing.empty());
}

TEST_CASE("a configuration has at most 4,096 tokens unless told otherwise, and no more than it has positions for") {
  const auto length = [](const std::string& name) { return read(file(name))->graph.tensors.front().shape; };
  CHECK(length("llama-3.2-1b") == Shape{4096});
  CHECK(length("gpt2") == Shape{1024});
  CHECK(read(file("gpt2"), 1024));
  CHECK(refused(file("gpt2"), 1025) == "config.json:1:1: 1024 positions are too few for a length of 1025\n");
}

TEST_CASE("fields that are not understood are named, parts that are left out are told") {
  const std::string llama = file("llama-3.2-1b");
  CHECK(read(llama)->notices.empty());
  CHECK(read(with(llama, "\"pretraining_tp\"", "\"mamba_layers\": 3, \"pretraining_tp\""))->notices ==
        std::vector<std::string>{"config.json: not understood, and without effect on the prediction: mamba_layers"});
  CHECK(read(with(llama, "\"pretraining_tp\"", "\"mamba_layers\": null, \"pretraining_tp\""))->notices.empty());
  CHECK(read(file("gemma-3-4b"))->notices ==
        std::vector<std::string>{"config.json: vision_config: the text part alone is predicted, without what sees images"});
  CHECK(read(file("deepseek-v3"))->notices ==
        std::vector<std::string>{"config.json: num_nextn_predict_layers: layers that predict further tokens are left out",
                                 "config.json: quantization_config: weights of the file are quantised; training is predicted in "
                                 "--precision"});
}

TEST_CASE("what a configuration says beside its sizes: type of the weights, its end, further tokens, dense layers") {
  const std::string llama = file("llama-3.2-1b"), v3 = file("deepseek-v3");
  CHECK(read(llama)->stored_type == "bfloat16");
  CHECK(read(file("gpt2"))->stored_type.empty());
  CHECK(read(with(llama, "LlamaForCausalLM", "LlamaForSequenceClassification"))->notices ==
        std::vector<std::string>{"config.json: architectures: LlamaForSequenceClassification has another end than the language "
                                 "model that is predicted"});
  CHECK(read(with(v3, "\"num_nextn_predict_layers\": 1", "\"num_nextn_predict_layers\": 0"))->notices.size() == 1);
  CHECK(refused(with(v3, "\"first_k_dense_replace\": 3", "\"first_k_dense_replace\": 62"))
            .find("first_k_dense_replace: expected a whole number of 0 to 61, got 62\n") != std::string::npos);
}

TEST_CASE("a configuration that cannot be is refused: family, types, ranges, what does not divide") {
  const std::string llama = file("llama-3.2-1b"), oss = file("gpt-oss-20b");
  const std::string families =
      "bloom, deepseek_v2, deepseek_v3, gemma, gemma2, gemma3, gemma3_text, gpt2, gpt_neox, gpt_oss, llama, mistral, mixtral, "
      "opt, "
      "phi3, qwen2, qwen3, qwen3_moe";
  CHECK(refused(with(llama, "\"llama\"", "\"mamba\"")) ==
        "config.json:5:3: model_type: expected one of " + families +
            ", got \"mamba\"; a [transformer] table of a network file describes others\n");
  CHECK(refused("{}") == "config.json:1:1: model_type: expected one of " + families +
                             ", got none; a [transformer] table of a network file describes others\n");
  CHECK(refused(with(with(llama, "2048", "\"2048\""), "\"vocab_size\": 128256,", "")) ==
        "config.json:1:1: vocab_size: missing, expected a whole number of 1 to 1000000\n"
        "config.json:6:3: hidden_size: expected a whole number of 1 to 1000000, got text\n");
  CHECK(refused(with(llama, "2048", "123456789012345678901234567890")) ==
        "config.json:6:3: hidden_size: expected a whole number of 1 to 1000000, got 1.2345678901234568e+29\n");
  CHECK(refused(with(llama, "\"num_key_value_heads\": 8", "\"num_key_value_heads\": 5")) ==
        "config.json:9:3: num_key_value_heads: 32 heads do not share 5 of keys and values evenly\n");
  CHECK(refused(with(llama, "\"silu\"", "\"sinus\"")).find("hidden_act: expected one of silu, swish, gelu") != std::string::npos);
  CHECK(refused(with(oss, "\"num_experts_per_tok\": 4", "\"num_experts_per_tok\": 33"))
            .find("num_experts_per_tok: a token cannot go to 33 of 32 experts\n") != std::string::npos);
  const std::string deepseek = file("deepseek-v3");
  CHECK(refused(with(deepseek, "\"topk_group\": 4", "\"topk_group\": 9")).find("n_group: a token cannot go to 9 of 8 groups\n") !=
        std::string::npos);
  CHECK(refused(with(deepseek, "\"n_group\": 8", "\"n_group\": 7")).find("n_group: 256 experts do not divide over 7 groups\n") !=
        std::string::npos);
  CHECK(refused(with(oss, "\"sliding_attention\",\n    \"full_attention\",", "\"full_attention\",\n    \"full_attention\","))
            .find("layer_types: expected full_attention at each so manieth layer; write the network as [[layer]]s\n") !=
        std::string::npos);
  CHECK(refused(with(oss, "\"full_attention\",", "")).find("layer_types: expected 24 of them, got 23\n") != std::string::npos);
  CHECK(refused(with(with(llama, "\"num_attention_heads\": 32", "\"num_attention_heads\": 1000000"), "\"head_dim\": 64",
                     "\"head_dim\": 1000000"))
            .find("too large to simulate: about ") != std::string::npos);
  CHECK(refused("{\"model_type\": \"llama\"").find("not valid JSON") != std::string::npos);
}
