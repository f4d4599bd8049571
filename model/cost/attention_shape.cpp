#include "model/cost/attention_shape.hpp"

#include <algorithm>

namespace tbdsim {

double attention_scores(const AttentionShape& s) {
  const double all = s.batch * s.heads;
  if (!s.causal) return all * s.queries * s.keys;
  // A square mask leaves half (the diagonal counts half); a window cuts the triangle of what lies farther back.
  const double seen = s.queries * s.keys - 0.5 * std::min(s.queries, s.keys) * s.queries;
  const double before = s.window > 0 ? std::max(0.0, s.keys - s.window) : 0.0;
  const double cut = 0.5 * before * std::min(before, s.queries) + std::max(0.0, before - s.queries) * 0.5 * s.queries;
  return all * std::max(seen - cut, 0.0);
}

Flop attention_flop(const AttentionShape& s, bool backward) {
  return Flop(2.0 * attention_scores(s) * (s.width + s.values()) * (backward ? 2.0 : 1.0));
}

}  // namespace tbdsim
