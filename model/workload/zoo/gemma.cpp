// Gemma: wide heads, norms before and after blocks, a large vocabulary; the text part of those that see images.
#include <array>

#include "model/workload/zoo/decoder.hpp"

namespace tbdsim {
namespace {

// Hyper-parameters: config.json beside the published weights at huggingface.co, as recalled on 2026-11-23.
constexpr const char* kGemma = "Gemma team, arXiv:2403.08295; google/gemma-*, config.json";
constexpr const char* kGemma2 = "Gemma team, arXiv:2408.00118; google/gemma-2-*, config.json";
constexpr const char* kGemma3 = "Gemma team, arXiv:2503.19786; google/gemma-3-*, config.json (text_config)";

struct Definition {
  std::string_view name;
  int generation;
  std::int64_t layers, width, heads, kv_heads, head_width, filter, words;
  std::int64_t window = 0, full_every = 0;
};

constexpr std::int64_t kWords = 256000, kTextWords = 262144, kImageWords = 262208;

constexpr std::array kDefinitions = {
    Definition{"gemma-2b", 1, 18, 2048, 8, 1, 256, 16384, kWords},
    Definition{"gemma-7b", 1, 28, 3072, 16, 16, 256, 24576, kWords},
    Definition{"gemma-2-2b", 2, 26, 2304, 8, 4, 256, 9216, kWords, 4096, 2},
    Definition{"gemma-2-9b", 2, 42, 3584, 16, 8, 256, 14336, kWords, 4096, 2},
    Definition{"gemma-2-27b", 2, 46, 4608, 32, 16, 128, 36864, kWords, 4096, 2},
    Definition{"gemma-3-270m", 3, 18, 640, 4, 1, 256, 2048, kTextWords, 512, 6},
    Definition{"gemma-3-1b", 3, 26, 1152, 4, 1, 256, 6912, kTextWords, 512, 6},
    Definition{"gemma-3-4b", 3, 34, 2560, 8, 4, 256, 10240, kImageWords, 1024, 6},
    Definition{"gemma-3-12b", 3, 48, 3840, 16, 8, 256, 15360, kImageWords, 1024, 6},
    Definition{"gemma-3-27b", 3, 62, 5376, 32, 16, 128, 21504, kImageWords, 1024, 6},
};

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const Definition& d = definition_named(kDefinitions, entry.name);
  TransformerNetwork n = plain_decoder();
  TransformerLayers& t = n.layer;
  t.width = d.width;
  t.heads = d.heads;
  t.kv_heads = d.kv_heads;
  t.head_width = d.head_width;
  t.filter = d.filter;
  t.activation = ActivationKind::gelu;
  t.post_norm = d.generation > 1;
  t.head_norm = d.generation == 3;
  t.window = d.window;
  n.full_every = d.full_every;
  n.decoder_layers = d.layers;
  n.words = d.words;
  n.tied = n.scaled_embedding = true;
  n.capped_scores = d.generation == 2;
  return build_decoder(entry, options, n);
}

}  // namespace

void append_gemma(std::vector<ZooEntry>& entries) {
  constexpr int kLength = 8192;
  for (const Definition& d : kDefinitions)
    append_decoder(entries, d.name, d.layers, kLength, d.generation == 1 ? kGemma : d.generation == 2 ? kGemma2 : kGemma3, build);
}

}  // namespace tbdsim
