#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/prediction/predict.hpp"
#include "model/survey/array_traffic.hpp"

namespace tbdsim {

struct NetworkOptions {
  PredictOptions job;
  double target = 0.9;  ///< efficiency of the nodes against as many single ones
};

/// One way to exchange gradients between the nodes.
struct ScheduleVerdict {
  Exchange exchange = Exchange::allreduce;
  Seconds step;
  double gain = 0;  ///< throughput of all nodes over that of one
  /// Line rates of the network, to 1 %; absent: no rate will do.
  std::optional<BytesPerSecond> least_to_pay, least_to_reach;
};

/// What the network does to a job of several nodes, or to the two that one machine emulates.
struct NetworkProfile {
  Prediction predicted;
  Seconds one_node_step;
  PhaseTimes one_node_phases;  ///< of that step; where servers update, the job updates nothing itself
  /// Of the job's waits for the exchange and for what stores update meanwhile, what is no array's: all wait for the GPU that
  /// computes longest.
  Seconds waiting_for_slowest;
  int nodes = 1;                              ///< two where one machine emulates them
  bool emulated = false;                      ///< one worker and one server on one machine
  std::string network;                        ///< between them
  std::optional<Exchange> one_node_exchange;  ///< of that node's GPUs; absent where it has one GPU
  BytesPerSecond line_rate;
  double target = 0;
  double gain = 0, efficiency = 0;
  bool pays = false, reaches = false;      ///< more than one node's throughput; the target
  std::vector<ArrayTraffic> arrays;        ///< most exposed first; of equals, longest on the way first
  std::vector<ScheduleVerdict> schedules;  ///< as asked first; under parameter servers also with P3 (or without)
};

/// What is wrong with what is asked, whichever job it is of; nothing: all is well.
[[nodiscard]] std::optional<Error> network_problem(const NetworkOptions& options);

/// Which arrays delay a job, whether several nodes beat one and reach the target, and on which network they would.
///
/// One node alone exchanges inside only, as the job does or, if faster, by all-reduce. The least line rate is found by bisection
/// between 1 MB/s and 10 TB/s, protocol efficiency and latency of the network kept.
///
/// A single node emulates two: its one worker and its one server exchange over the network that is named, else over PCIe. The
/// worker sends as many bytes and receives as many as each of two machines does that have a server each. Its step is an upper
/// bound of theirs: one server has an array whole before it replies, two have half of it each. Gain and rates are those of two.
/// Errors: as `predict`; a single node without servers or with several GPUs; a target outside 0..1.
[[nodiscard]] Result<NetworkProfile> profile_network(Session& session, const NetworkOptions& options);

}  // namespace tbdsim
