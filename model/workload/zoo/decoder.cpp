#include "model/workload/zoo/decoder.hpp"

namespace tbdsim {

TransformerNetwork plain_decoder() {
  TransformerNetwork n;
  TransformerLayers& t = n.layer;
  t.norm = OpKind::rms_norm;
  t.pre_norm = t.rotary = t.gated = true;
  t.attention_bias = t.output_bias = t.feed_forward_bias = false;
  t.activation = ActivationKind::silu;
  t.dropout = t.attention_dropout = n.embedding_dropout = 0.0;
  n.tied = false;
  return n;
}

void append_decoder(std::vector<ZooEntry>& entries, std::string_view name, std::int64_t layers, int length, const char* source,
                    Result<OpGraph> (*build)(const ZooEntry&, const ZooOptions&)) {
  ZooEntry entry = sequence_entry(std::string(name), "pytorch", "language modelling", "web text", length, 1, source, build);
  entry.layers = std::to_string(layers);
  entry.dominant_layer = "attention";
  entries.push_back(std::move(entry));
}

Result<OpGraph> build_decoder(const ZooEntry& entry, const ZooOptions& options, TransformerNetwork network) {
  GraphBuilder g = token_builder(entry, options, "sequence");
  g.counts_in("token", static_cast<double>(sequence_length(entry, options)));
  network.layer.fused_attention = options.fused_attention;
  transformer_network(g, network);
  return std::move(g).finish();
}

}  // namespace tbdsim
