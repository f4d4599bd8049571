#include "model/workload/pass.hpp"

#include <array>

#include "model/support/enum_table.hpp"

namespace tbdsim {
namespace {

// name, phase; gradients of inputs, of parameters
constexpr std::array<PassInfo, 6> kRows{{
    {Pass::forward, "forward", Phase::forward, false, false},
    {Pass::backward_data, "backward_data", Phase::backward, true, false},
    {Pass::backward_weights, "backward_weights", Phase::backward, false, true},
    {Pass::backward, "backward", Phase::backward, true, true},
    {Pass::gradient_sum, "gradient_sum", Phase::backward, false, false},
    {Pass::update, "update", Phase::update, false, false},
}};
static_assert(rows_in_order(kRows));

}  // namespace

// A phase is called as its pass that is all of it.
std::string_view name(Phase phase) {
  return name(phase == Phase::forward ? Pass::forward : phase == Phase::backward ? Pass::backward : Pass::update);
}

std::span<const PassInfo> passes() { return kRows; }

const PassInfo& info(Pass pass) { return kRows[static_cast<std::size_t>(pass)]; }

}  // namespace tbdsim
