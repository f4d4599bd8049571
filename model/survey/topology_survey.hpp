#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/hardware/cluster.hpp"
#include "model/support/result.hpp"
#include "model/survey/transfer_contention.hpp"

namespace tbdsim {

/// One way of a transfer between two vertices.
struct TransferWay {
  std::string via;                    ///< "direct", "relay", "host"
  std::vector<std::string> vertices;  ///< both ends included
  std::vector<std::string> links;
  BytesPerSecond bandwidth;  ///< of the narrowest bundle on the way, as copy engines reach it
  Seconds latency;
  Bytes bytes;
  Seconds time;  ///< latency + bytes / bandwidth, alone on its links
  /// Of a way over another GPU, where all of it may lie before it goes on, as MXNet's two-hop copies do; empty: no other GPU.
  std::string staged_at;
  Seconds staged_time;  ///< each hop after the one before; zero where `staged_at` is empty
};

/// One of several transfers at the same time.
struct SharedTransfer {
  std::vector<std::string> vertices;  ///< both ends included
  Bytes bytes;
  TransferShare share;
};

/// How some GPUs of one node are wired.
struct TopologySurvey {
  std::string system, device;
  std::string nccl;                                           ///< release that makes the rings, where one was asked for
  std::vector<std::string> gpus;                              ///< the group, "gpu0"
  std::vector<std::vector<PairRelation>> pairs;               ///< of the group; the diagonal is empty
  std::vector<std::vector<std::vector<std::string>>> relays;  ///< names, pair by pair
  std::vector<std::vector<TransferShare>> copies;             ///< pair by pair; the diagonal is empty
  int peer_pairs = 0;                                         ///< ordered pairs of the group with peer access
  RingSet rings;                                              ///< none where some step has no way
  std::vector<std::vector<std::string>> ring_orders;          ///< of `rings`, GPUs by name, relays included
  BytesPerSecond ring_bandwidth;  ///< of all rings together, one direction: the bus bandwidth they allow
};

/// Surveys the given GPUs of a node, with the rings that `rings` allow. Errors: numbers that the node lacks or that are given
/// twice, no GPU at all.
[[nodiscard]] Result<TopologySurvey> survey(const System& system, const std::vector<int>& devices, const RingOptions& rings);

/// Every way that a transfer between two vertices ("gpu0", "cpu1", "nic0") can take, direct ways first.
/// Errors: unknown vertices, equal ends, no way at all.
[[nodiscard]] Result<std::vector<TransferWay>> transfer_ways(const System& system, const std::string& from, const std::string& to,
                                                             Bytes bytes);

/// What several transfers get that start together, each from one name to the next: gpu0 to gpu4, gpu1 to gpu5, ...
/// Errors: as above. Expects an even number of names.
[[nodiscard]] Result<std::vector<SharedTransfer>> shared_transfers(const System& system, const std::vector<std::string>& names,
                                                                   Bytes bytes);

}  // namespace tbdsim
