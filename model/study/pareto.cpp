#include "model/study/pareto.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>

namespace tbdsim {
namespace {

auto in_order(const Choice& c) { return std::tuple(c.time, c.cost.value_or(Usd(0.0)), c.memory); }

bool beats(const Choice& a, const Choice& b) {
  return a.time <= b.time && a.cost.value_or(Usd(0.0)) <= b.cost.value_or(Usd(0.0)) && a.memory <= b.memory &&
         in_order(a) != in_order(b);
}

}  // namespace

std::vector<bool> pareto_front(std::span<const Choice> choices) {
  std::vector<std::size_t> order(choices.size()), front;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return in_order(choices[a]) < in_order(choices[b]); });
  std::vector<bool> kept(choices.size(), false);
  if (std::any_of(choices.begin(), choices.end(), [](const Choice& c) { return c.cost.has_value(); }))
    std::erase_if(order, [&](std::size_t i) { return !choices[i].cost; });
  // What beats a choice stands before it, and is itself on the front or beaten by one that is.
  for (const std::size_t i : order) {
    kept[i] = std::none_of(front.begin(), front.end(), [&](std::size_t f) { return beats(choices[f], choices[i]); });
    if (kept[i]) front.push_back(i);
  }
  return kept;
}

}  // namespace tbdsim
