// Phi: up to the second, attention and feed-forward block side by side; from the third, as Llama with one product of queries,
// keys and values.
#include <array>

#include "model/workload/zoo/decoder.hpp"

namespace tbdsim {
namespace {

// Hyper-parameters: config.json beside the published weights at huggingface.co, as recalled on 2026-11-23.
constexpr const char* kPhi15 = "Li et al., arXiv:2309.05463; microsoft/phi-1_5, config.json";
constexpr const char* kPhi2 = "Javaheripi & Bubeck 2023; microsoft/phi-2, config.json";
constexpr const char* kPhi3 = "Abdin et al., arXiv:2404.14219; microsoft/Phi-3-*-4k-instruct, config.json";
constexpr const char* kPhi4 = "Abdin et al., arXiv:2412.08905; microsoft/phi-4, config.json";

struct Definition {
  std::string_view name;
  std::int64_t layers, width, heads, kv_heads, filter, words;
  int length;
  const char* source;
  bool parallel = false;
  std::int64_t window = 0;
  double dropout = 0.0;
};

constexpr std::array kDefinitions = {
    Definition{"phi-1.5", 24, 2048, 32, 32, 8192, 51200, 2048, kPhi15, true},
    Definition{"phi-2", 32, 2560, 32, 32, 10240, 51200, 2048, kPhi2, true, 0, 0.1},
    Definition{"phi-3-mini", 32, 3072, 32, 32, 8192, 32064, 4096, kPhi3, false, 2047},
    Definition{"phi-3-medium", 40, 5120, 40, 10, 17920, 32064, 4096, kPhi3, false, 2047},
    Definition{"phi-4", 40, 5120, 40, 10, 17920, 100352, 4096, kPhi4},
};

Result<OpGraph> build(const ZooEntry& entry, const ZooOptions& options) {
  const Definition& d = definition_named(kDefinitions, entry.name);
  TransformerNetwork n = plain_decoder();
  TransformerLayers& t = n.layer;
  t.width = d.width;
  t.heads = d.heads;
  t.kv_heads = d.kv_heads;
  t.filter = d.filter;
  t.window = d.window;
  t.dropout = d.dropout;
  t.fused_projection = !d.parallel;
  if (d.parallel) {
    t.norm = OpKind::layer_norm;
    t.gated = false;
    t.activation = ActivationKind::gelu;
    t.parallel = t.shared_norm = t.attention_bias = t.output_bias = t.feed_forward_bias = n.scores_bias = true;
  }
  n.decoder_layers = d.layers;
  n.words = d.words;
  return build_decoder(entry, options, n);
}

}  // namespace

void append_phi(std::vector<ZooEntry>& entries) {
  for (const Definition& d : kDefinitions) append_decoder(entries, d.name, d.layers, d.length, d.source, build);
}

}  // namespace tbdsim
