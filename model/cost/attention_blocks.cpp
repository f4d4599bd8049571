#include "model/cost/attention_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tbdsim {
namespace {

using Count = std::int64_t;

/// Sum of floor((a i + b) / m) over i = 0 .. n-1; expects n, a, b >= 0 and m > 0. Steps as Euclid's algorithm.
Count sum_of_quotients(Count n, Count m, Count a, Count b) {
  Count sum = 0;
  while (n > 0) {
    sum += n * (n - 1) / 2 * (a / m) + n * (b / m);
    a %= m;
    b %= m;
    const Count top = a * n + b;
    if (top < m) break;
    n = top / m;
    b = top % m;
    std::swap(m, a);
  }
  return sum;
}

Count over(Count a, Count b) { return (a + b - 1) / b; }

/// One sequence of one head (or of a group that shares blocks): `rows` rows of which `group` belong to one place of the sequence.
struct Walk {
  Count rows, columns, block, step, group, offset, window;
  bool causal;
  [[nodiscard]] Count blocks() const { return over(rows, block); }
  /// Steps up to the last column that block i sees, and those before its first.
  [[nodiscard]] Count end(Count i) const {
    return causal ? over(std::min(columns, offset + over(std::min((i + 1) * block, rows), group)), step) : over(columns, step);
  }
  [[nodiscard]] Count begin(Count i) const {
    return window == 0 ? 0 : std::max<Count>(0, i * block / group + offset - window + 1) / step;
  }
  [[nodiscard]] Count visits() const {
    const Count n = blocks(), m = group * step;
    if (!causal) return n * over(columns, step) * step;
    // Whole blocks that see ever more columns, those that see all, and the last, which the end of the sequence cuts.
    const Count cut = std::min(n - 1, (columns - offset) * group / block);
    Count sum =
        sum_of_quotients(cut, m, block, block + offset * group + m - 1) + (n - 1 - cut) * over(columns, step) + end(n - 1);
    if (window > 0) {
      const Count first = std::max<Count>(0, over((window - 1 - offset) * group, block));
      if (first < n) sum -= sum_of_quotients(n - first, m, block, first * block + (offset - window + 1) * group);
    }
    return sum * step;
  }
  [[nodiscard]] Count longest() const {
    const Count last = blocks() - 1;
    Count steps = end(last) - begin(last);
    if (last > 0) steps = std::max(steps, end(last - 1) - begin(last - 1));
    return steps * step;
  }
};

Count whole(double v) { return static_cast<Count>(v); }

}  // namespace

AttentionBlocks attention_blocks(const AttentionShape& s, bool backward, const AttentionKernelInfo& kernel) {
  constexpr Count kGradientRows = 128;
  const auto* tile = kernel.tiles.data();
  while (tile != &kernel.tiles.back() && s.width > tile->width) ++tile;
  const Count offset = whole(std::max(0.0, s.keys - s.queries));
  Walk walk{whole(s.queries), whole(s.keys), tile->queries, tile->keys, 1, offset, whole(s.window), s.causal};
  double walks = s.batch * s.heads;
  if (backward) {
    // From the end of the sequence, where a key is seen by one query, the next by two.
    walk = {whole(s.keys), whole(s.queries), kGradientRows, tile->keys, 1, 0, whole(s.window), s.causal};
  } else if (kernel.packs_heads) {
    walk.group = std::max<Count>(1, whole(s.groups()));
    walk.rows *= walk.group;
    walks /= static_cast<double>(walk.group);
  }
  return {walks * static_cast<double>(walk.blocks()), walks * static_cast<double>(walk.visits()),
          static_cast<double>(walk.longest())};
}

}  // namespace tbdsim
