#include "model/report/catalogue_entry.hpp"

#include <fmt/format.h>

#include "model/report/csv.hpp"
#include "model/report/text_table.hpp"

namespace tbdsim {
namespace {

constexpr std::size_t kLayerName = 26, kShape = 14, kLabel = 34;

std::string layers_table(const std::vector<LayerCounts>& layers) {
  TextTable table({{"layer", Align::left, kLayerName},
                   {"output", Align::left, kShape},
                   {"parameters", Align::right},
                   {"forward", Align::right},
                   {"backward", Align::right},
                   {"kept", Align::right}});
  for (const LayerCounts& layer : layers) {
    const auto count = [](std::int64_t value) { return value > 0 ? std::to_string(value) : std::string(); };
    table.add({layer.name, layer.output_shape, count(layer.parameters), count(layer.macs.forward), count(layer.macs.backward),
               layer.saved > Bytes(0.0) ? format(layer.saved) : ""});
  }
  return "\nLayers, one sample: multiply-adds forward and backward, bytes kept for backward\n" + table.text();
}

std::string value_text(const Fact& fact) {
  return std::visit([](const auto& value) { return fmt::format("{}", value); }, fact.value);
}

}  // namespace

std::string entry_table(const CatalogueEntry& entry) {
  std::string text =
      fmt::format("{} {}\n", entry.kind, entry.id == entry.name ? entry.id : fmt::format("{} ({})", entry.id, entry.name));
  std::size_t label = std::string_view("source").size();
  for (const Fact& fact : entry.facts) {
    if (fact.label.size() <= kLabel) label = std::max(label, fact.label.size());
  }
  const std::size_t indent = 2 + label + 2;
  const auto add = [&](const std::string& name, const std::string& value) {
    // A long label stands alone, so that it does not push every value to the right.
    const std::string begin =
        name.size() <= label ? fmt::format("  {:<{}}  ", name, label) : fmt::format("  {}\n{:{}}", name, "", indent);
    std::string lines = begin + wrapped(value, kTextWidth, indent) + '\n';
    const bool fits = value.find(' ') != std::string::npos || lines.find('\n') <= kTextWidth;
    text += fits ? lines : fmt::format("  {}\n    {}\n", name, value);  // a digest
  };
  for (const Fact& fact : entry.facts) add(fact.label, fact.text);
  add("source", entry.source);
  return entry.layers.empty() ? text : text + layers_table(entry.layers);
}

std::string entry_csv(const CatalogueEntry& entry) {
  std::string text = csv_line({"key", "value", "source"});
  text += csv_line({"kind", entry.kind, ""}) + csv_line({"id", entry.id, ""}) + csv_line({"name", entry.name, entry.source});
  for (const Fact& fact : entry.facts) text += csv_line({fact.key, value_text(fact), fact.source});
  return text;
}

std::string entries_table(const std::vector<CatalogueEntry>& entries) {
  // Facts that an entry lacks leave a blank: columns come from all of them, in order of first appearance.
  std::vector<std::pair<std::string, std::string>> columns;
  for (const CatalogueEntry& entry : entries) {
    for (const Fact& fact : entry.facts) {
      const std::pair column{fact.key, fact.label};
      if (fact.in_lists && std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
    }
  }
  std::vector<TextTable::Column> titles{{"name", Align::left, 0, true}};
  for (const auto& [key, label] : columns) titles.push_back({label});
  TextTable table(titles);
  for (const CatalogueEntry& entry : entries) {
    std::vector<std::string> row{entry.id};
    for (const auto& [key, label] : columns) {
      const auto fact =
          std::find_if(entry.facts.begin(), entry.facts.end(), [&, wanted = key](const Fact& f) { return f.key == wanted; });
      row.push_back(fact == entry.facts.end() ? "" : fact->text);
    }
    table.add(std::move(row));
  }
  return table.text();
}

std::string entries_csv(const std::vector<CatalogueEntry>& entries) {
  std::string text = csv_line({"kind", "id", "name", "source"});
  for (const CatalogueEntry& entry : entries) text += csv_line({entry.kind, entry.id, entry.name, entry.source});
  return text;
}

}  // namespace tbdsim
