// Decoders with rotary positions, root-mean-square norms and gated feed-forward blocks: Llama and networks built like it.
#include <array>

#include "model/workload/zoo/decoder.hpp"

namespace tbdsim {
namespace {

// Hyper-parameters: config.json beside the published weights at huggingface.co, read 2026-11-23; those of Qwen 3
// as recalled then.
constexpr const char* kLlama2 = "Touvron et al., arXiv:2307.09288; meta-llama/Llama-2-*-hf, config.json";
constexpr const char* kLlama3 = "Grattafiori et al., arXiv:2407.21783; meta-llama/Llama-3*, config.json";
constexpr const char* kMistral = "Jiang et al., arXiv:2310.06825; mistralai/Mistral-7B-v0.*, config.json";
constexpr const char* kQwen = "Qwen team, arXiv:2412.15115; Qwen/Qwen2.5-*, config.json";
constexpr const char* kQwen3 = "Qwen team, arXiv:2505.09388; Qwen/Qwen3-*, config.json";

struct Definition {
  std::string_view name;
  std::int64_t layers, width, heads, kv_heads, filter, words;
  int length;  ///< tokens of a sequence in pre-training
  const char* source;
  bool tied = false;            ///< words are scored with the table of their vectors
  bool projects_bias = false;   ///< queries, keys and values have biases
  std::int64_t head_width = 0;  ///< where queries are not as wide as the layers; then queries and keys are normed, too
  std::int64_t window = 0;
};

constexpr std::int64_t kLlama2Words = 32000, kLlama3Words = 128256, kQwenWords = 152064, kSmallQwenWords = 151936;
constexpr std::int64_t kQwenHead = 128;

constexpr std::array kDefinitions = {
    Definition{"llama-2-7b", 32, 4096, 32, 32, 11008, kLlama2Words, 4096, kLlama2},
    Definition{"llama-2-13b", 40, 5120, 40, 40, 13824, kLlama2Words, 4096, kLlama2},
    Definition{"llama-2-70b", 80, 8192, 64, 8, 28672, kLlama2Words, 4096, kLlama2},
    Definition{"llama-3-8b", 32, 4096, 32, 8, 14336, kLlama3Words, 8192, kLlama3},
    Definition{"llama-3-70b", 80, 8192, 64, 8, 28672, kLlama3Words, 8192, kLlama3},
    Definition{"llama-3.1-405b", 126, 16384, 128, 8, 53248, kLlama3Words, 8192, kLlama3},
    Definition{"llama-3.2-1b", 16, 2048, 32, 8, 8192, kLlama3Words, 8192, kLlama3, true},
    Definition{"llama-3.2-3b", 28, 3072, 24, 8, 8192, kLlama3Words, 8192, kLlama3, true},
    Definition{"mistral-7b", 32, 4096, 32, 8, 14336, kLlama2Words, 8192, kMistral, false, false, 0, 4096},
    Definition{"mistral-7b-v0.3", 32, 4096, 32, 8, 14336, 32768, 8192, kMistral},
    Definition{"qwen2.5-0.5b", 24, 896, 14, 2, 4864, kSmallQwenWords, 4096, kQwen, true, true},
    Definition{"qwen2.5-1.5b", 28, 1536, 12, 2, 8960, kSmallQwenWords, 4096, kQwen, true, true},
    Definition{"qwen2.5-3b", 36, 2048, 16, 2, 11008, kSmallQwenWords, 4096, kQwen, true, true},
    Definition{"qwen2.5-7b", 28, 3584, 28, 4, 18944, kQwenWords, 4096, kQwen, false, true},
    Definition{"qwen2.5-14b", 48, 5120, 40, 8, 13824, kQwenWords, 4096, kQwen, false, true},
    Definition{"qwen2.5-32b", 64, 5120, 40, 8, 27648, kQwenWords, 4096, kQwen, false, true},
    Definition{"qwen2.5-72b", 80, 8192, 64, 8, 29568, kQwenWords, 4096, kQwen, false, true},
    Definition{"qwen3-0.6b", 28, 1024, 16, 8, 3072, kSmallQwenWords, 4096, kQwen3, true, false, kQwenHead},
    Definition{"qwen3-1.7b", 28, 2048, 16, 8, 6144, kSmallQwenWords, 4096, kQwen3, true, false, kQwenHead},
    Definition{"qwen3-4b", 36, 2560, 32, 8, 9728, kSmallQwenWords, 4096, kQwen3, true, false, kQwenHead},
    Definition{"qwen3-8b", 36, 4096, 32, 8, 12288, kSmallQwenWords, 4096, kQwen3, false, false, kQwenHead},
    Definition{"qwen3-14b", 40, 5120, 40, 8, 17408, kSmallQwenWords, 4096, kQwen3, false, false, kQwenHead},
    Definition{"qwen3-32b", 64, 5120, 64, 8, 25600, kSmallQwenWords, 4096, kQwen3, false, false, kQwenHead},
};

/// Other names of the same network: Llama 3.1 is Llama 3 with rotary angles for longer sequences, and 3.3 is 3.1 trained further.
struct Alias {
  std::string_view name, definition;
};
constexpr std::array kAliases = {
    Alias{"llama-3-405b", "llama-3.1-405b"}, Alias{"llama-3.1-8b", "llama-3-8b"},    Alias{"llama-3.1-70b", "llama-3-70b"},
    Alias{"llama-3.3-70b", "llama-3-70b"},   Alias{"mistral-7b-v0.1", "mistral-7b"},
};

const Definition& definition_of(std::string_view name) {
  for (const Alias& alias : kAliases)
    if (alias.name == name) name = alias.definition;
  return definition_named(kDefinitions, name);
}

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const Definition& d = definition_of(entry.name);
  TransformerNetwork n = plain_decoder();
  TransformerLayers& t = n.layer;
  t.width = d.width;
  t.heads = d.heads;
  t.kv_heads = d.kv_heads;
  t.head_width = d.head_width;
  t.head_norm = d.head_width > 0;
  t.filter = d.filter;
  t.window = d.window;
  t.attention_bias = d.projects_bias;
  n.decoder_layers = d.layers;
  n.words = d.words;
  n.tied = d.tied;
  return build_decoder(entry, options, n);
}

}  // namespace

void append_llama(std::vector<ZooEntry>& entries) {
  for (const Definition& d : kDefinitions) append_decoder(entries, d.name, d.layers, d.length, d.source, build);
  for (const Alias& alias : kAliases) {
    const Definition& d = definition_of(alias.definition);
    append_decoder(entries, alias.name, d.layers, d.length, d.source, build);
  }
}

}  // namespace tbdsim
