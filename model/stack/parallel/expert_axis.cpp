#include "model/stack/parallel/expert_axis.hpp"

#include <array>
#include <string_view>

#include "model/input/known_word.hpp"

namespace tbdsim {
namespace {

constexpr std::array<std::string_view, 2> kDispatch{"rows", "once-per-node"};

}  // namespace

std::string_view name(ExpertDispatch dispatch) { return kDispatch[static_cast<std::size_t>(dispatch)]; }

ExpertAxisSettings read_expert_axis(TomlTable& table) {
  ExpertAxisSettings s;
  s.spread = table.number_or("expert_spread", s.spread, {0.0, 1000.0});
  s.dispatch = word_or(table, "dispatch", kDispatch, s.dispatch, "dispatch to experts");
  s.capacity = table.number_or("expert_capacity", s.capacity, {0.0, 1000.0});
  return s;
}

}  // namespace tbdsim
