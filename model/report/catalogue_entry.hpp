#pragma once
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "model/hardware/cluster.hpp"
#include "model/hardware/input_source.hpp"
#include "model/hardware/storage.hpp"
#include "model/stack/stack.hpp"
#include "model/survey/workload_summary.hpp"
#include "model/units/format.hpp"
#include "model/workload/zoo/zoo.hpp"

namespace tbdsim {

/// One property of a catalogue entry, for people and for programs.
struct Fact {
  std::string label;                                            ///< "memory bandwidth"
  std::string key;                                              ///< "memory_bandwidth_bytes_per_s"
  std::string text;                                             ///< "900 GB/s"
  std::variant<bool, std::int64_t, double, std::string> value;  ///< in base units
  std::string source;                                           ///< empty: the entry's own
  bool in_lists = false;                                        ///< shown where many entries are listed
};

/// What the catalogue holds under one name.
struct CatalogueEntry {
  std::string kind, id, name, source;
  std::vector<Fact> facts;
  std::vector<LayerCounts> layers;  ///< of a model

  /// Adds a quantity; one that is absent is left out. The key ends in its unit.
  template <class Q>
  void add(std::string label, std::string key, const std::optional<Q>& value, bool in_lists = false, std::string from = {}) {
    if (!value) return;
    Fact fact{std::move(label), std::move(key), format(*value, 4), value->base(), std::move(from), in_lists};
    // Bytes are whole numbers, and scripts compare them as such.
    if constexpr (std::is_same_v<Q, Bytes>) fact.value = static_cast<std::int64_t>(std::llround(value->base()));
    facts.push_back(std::move(fact));
  }
  void add_count(std::string label, std::string key, std::int64_t value, bool in_lists = false) {
    facts.push_back({std::move(label), std::move(key), std::to_string(value), value, {}, in_lists});
  }
  void add_flag(std::string label, std::string key, bool value, std::string from = {}) {
    facts.push_back({std::move(label), std::move(key), value ? "yes" : "no", value, std::move(from), false});
  }
  /// Empty text is left out.
  void add_text(std::string label, std::string key, std::string value, bool in_lists = false) {
    if (!value.empty()) facts.push_back({std::move(label), std::move(key), value, value, {}, in_lists});
  }
};

[[nodiscard]] CatalogueEntry describe(const Device& device);
[[nodiscard]] CatalogueEntry describe(const Host& host);
[[nodiscard]] CatalogueEntry describe(const Network& network);
[[nodiscard]] CatalogueEntry describe(const Storage& storage);
[[nodiscard]] CatalogueEntry describe(const DataPathStage& stage);
[[nodiscard]] CatalogueEntry describe(const InputSource& input);
[[nodiscard]] CatalogueEntry describe(const System& system);
[[nodiscard]] CatalogueEntry describe(const Stack& stack);
/// Without the figures that need the network built.
[[nodiscard]] CatalogueEntry describe(const ZooEntry& model);
/// Adds layers and dominant layer.
void add_structure(const ZooEntry& model, const OpGraph& graph, CatalogueEntry& entry);
/// Adds the time that `size` takes at the bandwidth that the entry reaches, latency left out; false where none is stated.
[[nodiscard]] bool add_transfer_time(Bytes size, CatalogueEntry& entry);
/// With every layer.
[[nodiscard]] CatalogueEntry describe(const ZooEntry& model, const OpGraph& graph);
/// The same of a network from a user's file, which is its source.
[[nodiscard]] CatalogueEntry describe_file(const std::string& file, const OpGraph& graph);

[[nodiscard]] std::string entry_table(const CatalogueEntry& entry);
/// Schema "tbdsim.show/1".
[[nodiscard]] std::string entry_json(const CatalogueEntry& entry);
[[nodiscard]] std::string entry_csv(const CatalogueEntry& entry);

/// One line per entry: id and the facts meant for lists. The entries are of one kind.
[[nodiscard]] std::string entries_table(const std::vector<CatalogueEntry>& entries);
/// Schema "tbdsim.list/1".
[[nodiscard]] std::string entries_json(const std::string& kind, const std::vector<CatalogueEntry>& entries);
[[nodiscard]] std::string entries_csv(const std::vector<CatalogueEntry>& entries);

}  // namespace tbdsim
