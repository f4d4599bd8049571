#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/hardware/cluster.hpp"
#include "model/support/result.hpp"

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
};

/// What a copy from one GPU to another reaches: directly between peers, else staged in host memory.
struct CopyRate {
  BytesPerSecond alone;      ///< 0: no way
  BytesPerSecond contended;  ///< while every GPU of the group copies to every other, shared max-min fairly
  bool staged = false;
};

/// How some GPUs of one node are wired.
struct TopologySurvey {
  std::string system, device;
  std::vector<std::string> gpus;                              ///< the group, "gpu0"
  std::vector<std::vector<PairRelation>> pairs;               ///< of the group; the diagonal is empty
  std::vector<std::vector<std::vector<std::string>>> relays;  ///< names, pair by pair
  std::vector<std::vector<CopyRate>> copies;                  ///< pair by pair; the diagonal is empty
  int peer_pairs = 0;                                         ///< ordered pairs of the group with peer access
  RingSet rings;
  std::vector<std::vector<std::string>> ring_orders;  ///< of `rings`, GPUs by name, relays included
  BytesPerSecond ring_bandwidth;                      ///< of all rings together, one direction: the bus bandwidth they allow
};

/// Surveys the given GPUs of a node. Errors: numbers that the node lacks or that are given twice, no GPU at all.
[[nodiscard]] Result<TopologySurvey> survey(const System& system, const std::vector<int>& devices);

/// Every way that a transfer between two vertices ("gpu0", "cpu1", "nic0") can take, direct ways first.
/// Errors: unknown vertices, equal ends, no way at all.
[[nodiscard]] Result<std::vector<TransferWay>> transfer_ways(const System& system, const std::string& from, const std::string& to,
                                                             Bytes bytes);

}  // namespace tbdsim
