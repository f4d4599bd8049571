// GPTs trained with Megatron-LM: the sizes of its papers, and BLOOM.
#include <array>

#include "model/workload/zoo/decoder.hpp"

namespace tbdsim {
namespace {

constexpr const char* kMegatron = "Narayanan et al., arXiv:2104.04473, table 1; Korthikanti et al., arXiv:2205.05198, table 3";
constexpr const char* kBloom = "BigScience, arXiv:2211.05100; bigscience/bloom*, config.json, as recalled on 2026-11-23";

struct Definition {
  std::string_view name;
  std::int64_t layers, width, heads;
};

constexpr std::array kMegatrons = {
    Definition{"megatron-1.7b", 24, 2304, 24},    Definition{"megatron-3.6b", 30, 3072, 32},
    Definition{"megatron-7.5b", 36, 4096, 32},    Definition{"megatron-18.4b", 40, 6144, 48},
    Definition{"megatron-22b", 48, 6144, 64},     Definition{"megatron-39.1b", 48, 8192, 64},
    Definition{"megatron-76.1b", 60, 10240, 80},  Definition{"megatron-145.6b", 80, 12288, 96},
    Definition{"megatron-175b", 96, 12288, 96},   Definition{"megatron-310.1b", 96, 16384, 128},
    Definition{"megatron-530b", 105, 20480, 128}, Definition{"megatron-529.6b", 105, 20480, 128},
    Definition{"megatron-1t", 128, 25600, 160},   Definition{"megatron-1008b", 128, 25600, 160},
};
constexpr std::array kBlooms = {
    Definition{"bloom-560m", 24, 1024, 16}, Definition{"bloom-1b1", 24, 1536, 16}, Definition{"bloom-1b7", 24, 2048, 16},
    Definition{"bloom-3b", 30, 2560, 32},   Definition{"bloom-7b1", 30, 4096, 32}, Definition{"bloom-176b", 70, 14336, 112},
};

TransformerNetwork gpt(const Definition& d) {
  TransformerNetwork n;
  TransformerLayers& t = n.layer;
  t.width = d.width;
  t.heads = d.heads;
  t.filter = 4 * d.width;
  t.pre_norm = t.fused_projection = true;
  n.decoder_layers = d.layers;
  return n;
}

Result<OpGraph> build_megatron(const ZooEntry& entry, const ZooOptions& options) {
  TransformerNetwork n = gpt(definition_named(kMegatrons, entry.name));
  n.words = 51200;
  n.positions = 2048;
  return build_decoder(entry, options, n);
}

Result<OpGraph> build_bloom(const ZooEntry& entry, const ZooOptions& options) {
  TransformerNetwork n = gpt(definition_named(kBlooms, entry.name));
  n.words = 250880;
  n.alibi = n.embedding_norm = true;
  n.layer.dropout = n.layer.attention_dropout = n.embedding_dropout = 0.0;
  return build_decoder(entry, options, n);
}

}  // namespace

void append_megatron(std::vector<ZooEntry>& entries) {
  constexpr int kLength = 2048;
  for (const Definition& d : kMegatrons) append_decoder(entries, d.name, d.layers, kLength, kMegatron, build_megatron);
  for (const Definition& d : kBlooms) append_decoder(entries, d.name, d.layers, kLength, kBloom, build_bloom);
}

}  // namespace tbdsim
