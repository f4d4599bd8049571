#include "model/workload/collective_kind.hpp"

#include <algorithm>
#include <array>

#include "model/support/edit_distance.hpp"

namespace tbdsim {
namespace {

constexpr std::array<CollectiveFacts, 7> kKinds{{
    {CollectiveKind::all_reduce, "all-reduce", "all_reduce", 2.0},
    {CollectiveKind::reduce_scatter, "reduce-scatter", "reduce_scatter"},
    {CollectiveKind::all_gather, "all-gather", "all_gather"},
    {CollectiveKind::reduce, "reduce", "reduce", 1.0, false},
    {CollectiveKind::broadcast, "broadcast", "broadcast", 1.0, false},
    {CollectiveKind::all_to_all, "all-to-all", "all_to_all", 1.0, true, true},
    {CollectiveKind::send_receive, "send-receive", "send_recv", 1.0, false, true},
}};
constexpr std::array<std::string_view, 6> kAlgorithms{"none", "ring", "tree", "nvls", "nvls-tree", "pairwise"};

}  // namespace

std::span<const CollectiveFacts> collective_facts() { return kKinds; }
const CollectiveFacts& facts(CollectiveKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::string_view name(CollectiveKind kind) { return facts(kind).name; }
std::string_view name(CollectiveAlgorithm algorithm) { return kAlgorithms[static_cast<std::size_t>(algorithm)]; }

std::optional<CollectiveKind> parse_collective(std::string_view text) {
  for (const CollectiveFacts& fact : kKinds) {
    if (fold_name(fact.name) == fold_name(text) || fold_name(fact.sample_name) == fold_name(text)) return fact.kind;
  }
  return std::nullopt;
}

std::vector<std::string> collective_names() {
  std::vector<std::string> names;
  names.reserve(std::size(kKinds));
  for (const CollectiveFacts& fact : kKinds) names.emplace_back(fact.name);
  return names;
}

double sent_share(CollectiveKind kind, double ranks) {
  const CollectiveFacts& fact = facts(kind);
  return fact.parts ? fact.rounds * (ranks - 1.0) / ranks : 1.0;
}

}  // namespace tbdsim
