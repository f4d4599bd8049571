#include "model/stack/parallel/offload_settings.hpp"

#include <array>
#include <string_view>

#include "model/input/known_word.hpp"

namespace tbdsim {
namespace {

constexpr std::array<std::string_view, 3> kOverlaps{"none", "backward", "update"};

}  // namespace

std::string_view name(OffloadOverlap overlap) { return kOverlaps[static_cast<std::size_t>(overlap)]; }

OffloadSettings read_offload_settings(TomlTable& table) {
  OffloadSettings s;
  s.states = table.boolean_or("offloads_states", s.states);
  s.weights = table.boolean_or("offloads_weights", s.weights);
  s.parts = table.boolean_or("offloads_parts", s.parts);
  s.activations = table.boolean_or("offloads_activations", s.activations);
  s.overlap = word_or(table, "offload_overlaps", kOverlaps, s.overlap, "overlap of copies to the host");
  s.gradient = table.quantity_if<Bytes>("host_gradient").value_or(s.gradient);
  s.weight = table.quantity_if<Bytes>("host_weight").value_or(s.weight);
  s.moves = table.quantity_if<Bytes>("host_update_moves").value_or(s.moves);
  return s;
}

}  // namespace tbdsim
