// Decoders whose feed-forward blocks are mixtures of experts.
#include <array>

#include "model/workload/zoo/decoder.hpp"

namespace tbdsim {
namespace {

// Hyper-parameters: config.json beside the published weights at huggingface.co, as recalled on 2026-11-23.
constexpr const char* kMixtral = "Jiang et al., arXiv:2401.04088; mistralai/Mixtral-8x*-v0.1, config.json";
constexpr const char* kQwen3 = "Qwen team, arXiv:2505.09388; Qwen/Qwen3-*, config.json";
constexpr const char* kGptOss = "OpenAI, arXiv:2508.10925; openai/gpt-oss-*, config.json";
constexpr const char* kDeepSeek2 = "DeepSeek-AI, arXiv:2405.04434; deepseek-ai/DeepSeek-V2*, config.json";
constexpr const char* kDeepSeek3 =
    "DeepSeek-AI, arXiv:2412.19437; deepseek-ai/DeepSeek-V3, config.json; without the layer that "
    "predicts a second token";

enum class Family { mixtral, qwen3, gpt_oss, deepseek };

struct Definition {
  std::string_view name;
  Family family;
  std::int64_t layers, width, heads, kv_heads, head_width, words;
  std::int64_t experts, per_token, filter;  ///< of one expert
  int length;                               ///< tokens of a sequence in pre-training
  const char* source;
  std::int64_t dense_filter = 0, first_dense = 0, shared = 0;  ///< width and number of dense layers; experts of all tokens
  LatentProjections latent{};
  std::int64_t groups = 0, groups_per_token = 0;
};

constexpr LatentProjections kLatentLite{512, 0, 128, 64, 128}, kLatent{512, 1536, 128, 64, 128};
constexpr std::int64_t kQwenWords = 151936, kOssWords = 201088, kOssWindow = 128;

constexpr std::array kDefinitions = {
    Definition{"mixtral-8x7b", Family::mixtral, 32, 4096, 32, 8, 0, 32000, 8, 2, 14336, 4096, kMixtral},
    Definition{"mixtral-8x22b", Family::mixtral, 56, 6144, 48, 8, 0, 32000, 8, 2, 16384, 4096, kMixtral},
    Definition{"qwen3-30b-a3b", Family::qwen3, 48, 2048, 32, 4, 128, kQwenWords, 128, 8, 768, 4096, kQwen3},
    Definition{"qwen3-235b-a22b", Family::qwen3, 94, 4096, 64, 4, 128, kQwenWords, 128, 8, 1536, 4096, kQwen3},
    Definition{"gpt-oss-20b", Family::gpt_oss, 24, 2880, 64, 8, 64, kOssWords, 32, 4, 2880, 4096, kGptOss},
    Definition{"gpt-oss-120b", Family::gpt_oss, 36, 2880, 64, 8, 64, kOssWords, 128, 4, 2880, 4096, kGptOss},
    Definition{"deepseek-v2-lite", Family::deepseek, 27, 2048, 16, 16, 0, 102400, 64, 6, 1408, 4096, kDeepSeek2, 10944, 1, 2,
               kLatentLite},
    Definition{"deepseek-v2", Family::deepseek, 60, 5120, 128, 128, 0, 102400, 160, 6, 1536, 4096, kDeepSeek2, 12288, 1, 2,
               kLatent, 8, 3},
    Definition{"deepseek-v3", Family::deepseek, 61, 7168, 128, 128, 0, 129280, 256, 8, 2048, 4096, kDeepSeek3, 18432, 3, 1,
               kLatent, 8, 4},
    // DeepSeek-V3, trained further.
    Definition{"deepseek-r1", Family::deepseek, 61, 7168, 128, 128, 0, 129280, 256, 8, 2048, 4096, kDeepSeek3, 18432, 3, 1,
               kLatent, 8, 4},
};

/// Whether a number that balances the experts' load is added to each score.
bool balances_scores(const Definition& d) { return d.experts == 256; }

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const Definition& d = definition_named(kDefinitions, entry.name);
  TransformerNetwork n = plain_decoder();
  TransformerLayers& t = n.layer;
  t.width = d.width;
  t.heads = d.heads;
  t.kv_heads = d.kv_heads;
  t.head_width = d.head_width;
  t.head_norm = d.family == Family::qwen3;
  t.filter = d.dense_filter;
  t.latent = d.latent;
  t.experts = {d.experts, d.per_token,        d.filter, d.shared, d.first_dense,
               1,         balances_scores(d), false,    d.groups, d.groups_per_token};
  if (d.family == Family::gpt_oss) {
    t.attention_bias = t.output_bias = t.sinks = t.experts.router_bias = t.experts.bias = true;
    t.window = kOssWindow;
    n.full_every = 2;
  }
  n.decoder_layers = d.layers;
  n.words = d.words;
  return build_decoder(entry, options, n);
}

}  // namespace

void append_mixtures(std::vector<ZooEntry>& entries) {
  for (const Definition& d : kDefinitions) append_decoder(entries, d.name, d.layers, d.length, d.source, build);
}

}  // namespace tbdsim
