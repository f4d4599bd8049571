#include <algorithm>
#include <array>
#include <cassert>

#include "model/workload/operators/row_groups.hpp"

namespace tbdsim {
namespace {

using Table = std::array<OperatorRow, kOpKindCount>;

/// Copied side by side, so that looking a kind up is one index.
Table joined() {
  Table table;
  for (const auto rows : {arranging_rows(), attention_rows(), convolution_rows(), detection_rows(), elementwise_rows(),
                          expert_rows(), image_rows(), loss_rows(), norm_rows(), product_rows(), recurrent_rows()})
    for (const OperatorRow& row : rows) {
      OperatorRow& place = table[static_cast<std::size_t>(row.kind)];
      assert(place.name.empty() && "two rows of one kind");
      place = row;
    }
  assert(std::ranges::none_of(table, [](const OperatorRow& row) { return row.name.empty(); }) && "a kind without a row");
  return table;
}

const Table& table() {
  static const Table rows = joined();
  return rows;
}

}  // namespace

std::span<const OperatorRow> op_kinds() { return table(); }

const OperatorRow& info(OpKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  assert(index < kOpKindCount);
  return table()[index];
}

bool is_loss(OpKind kind) { return info(kind).loss; }

}  // namespace tbdsim
