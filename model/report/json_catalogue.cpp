#include "model/report/catalogue_entry.hpp"
#include "model/report/json_parts.hpp"

namespace tbdsim {
namespace {

using namespace json;

Json facts(const CatalogueEntry& entry) {
  Json json{{"kind", entry.kind}, {"id", entry.id}, {"name", entry.name}};
  Json sources = Json::object();
  for (const Fact& fact : entry.facts) {
    std::visit([&](const auto& value) { json[fact.key] = value; }, fact.value);
    if (!fact.source.empty()) sources[fact.key] = fact.source;
  }
  json["source"] = entry.source;
  if (!sources.empty()) json["sources"] = sources;
  return json;
}

Json layer_counts(const std::vector<LayerCounts>& layers) {
  Json all = Json::array();
  for (const LayerCounts& l : layers) {
    all.push_back({{"name", l.name},
                   {"kind", l.kind},
                   {"output_shape", l.output_shape},
                   {"parameters", l.parameters},
                   {"forward_macs_per_sample", l.macs.forward},
                   {"backward_macs_per_sample", l.macs.backward},
                   {"saved_bytes_per_sample", whole(l.saved)}});
  }
  return all;
}

}  // namespace

std::string entry_json(const CatalogueEntry& entry) {
  Json json{{"schema", "tbdsim.show/1"}, {"tool", tool()}};
  json.update(facts(entry));
  if (!entry.layers.empty()) json["layers"] = layer_counts(entry.layers);
  return text(json);
}

std::string entries_json(const std::string& kind, const std::vector<CatalogueEntry>& entries) {
  Json json{{"schema", "tbdsim.list/1"}, {"tool", tool()}, {"kind", kind}, {"entries", Json::array()}};
  for (const CatalogueEntry& entry : entries) json["entries"].push_back(facts(entry));
  return text(json);
}

}  // namespace tbdsim
