#pragma once
#include <algorithm>
#include <cassert>
#include <iterator>
#include <string_view>
#include <vector>

#include "model/workload/zoo/families.hpp"
#include "model/workload/zoo/transformer_layers.hpp"

namespace tbdsim {

/// A decoder as Llama's family has them: root-mean-square norms before the blocks, rotary positions, gated feed-forward blocks
/// with SiLU; no biases, no dropout, words scored with a table of their own. Families change what they have otherwise.
[[nodiscard]] TransformerNetwork plain_decoder();

/// Appends an entry of a network for text of `length` tokens.
void append_decoder(std::vector<ZooEntry>& entries, std::string_view name, std::int64_t layers, int length, const char* source,
                    Result<OpGraph> (*build)(const ZooEntry&, const ZooOptions&));

/// The network of an entry, with its attention as the options want it.
[[nodiscard]] Result<OpGraph> build_decoder(const ZooEntry& entry, const ZooOptions& options, TransformerNetwork network);

/// The row of a family's table that an entry stands for. Expects one.
template <class Definitions>
[[nodiscard]] const auto& definition_named(const Definitions& definitions, std::string_view name) {
  const auto found = std::find_if(std::begin(definitions), std::end(definitions), [&](const auto& d) { return d.name == name; });
  assert(found != std::end(definitions));
  return *found;
}

}  // namespace tbdsim
