#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbdsim {

/// What a group of ranks does together.
enum class CollectiveKind { all_reduce, reduce_scatter, all_gather, reduce, broadcast, all_to_all, send_receive };

/// How a library does it.
enum class CollectiveAlgorithm { none, ring, tree, nvls, nvls_tree, pairwise };

/// What sets the kinds apart.
struct CollectiveFacts {
  CollectiveKind kind;
  std::string_view name;         ///< "all-reduce"
  std::string_view sample_name;  ///< in sample files: "all_reduce"
  double rounds = 1;             ///< times a ring is walked
  bool parts = true;             ///< each rank owns a part of the message; false: every step moves the whole message
  bool pairs = false;            ///< ranks talk to each other directly, not round a ring
};
[[nodiscard]] std::span<const CollectiveFacts> collective_facts();
[[nodiscard]] const CollectiveFacts& facts(CollectiveKind kind);

[[nodiscard]] std::string_view name(CollectiveKind kind);
[[nodiscard]] std::string_view name(CollectiveAlgorithm algorithm);
[[nodiscard]] std::optional<CollectiveKind> parse_collective(std::string_view text);  ///< either name, case and -_ ignored
[[nodiscard]] std::vector<std::string> collective_names();

/// Bytes that a rank sends per byte of message, where a ring or pairs carry it; the message is counted as nccl-tests does:
/// the larger of the buffers that each rank gives and gets. Expects ranks >= 2.
[[nodiscard]] double sent_share(CollectiveKind kind, double ranks);

/// Bus bandwidth over algorithm bandwidth (nccl-tests, doc/PERFORMANCE.md). It is what each rank sends per byte of message.
[[nodiscard]] inline double bus_factor(CollectiveKind kind, int ranks) { return sent_share(kind, ranks); }

}  // namespace tbdsim
