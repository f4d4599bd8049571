#pragma once
#include <string>
#include <vector>

#include "model/configuration/session.hpp"
#include "model/prediction/predict.hpp"
#include "model/schedule/collective/collective.hpp"

namespace tbdsim {

/// What is asked about one collective. Of `options`, only hardware, gpus, nodes, devices, network, stack and set
/// matter.
struct CollectiveOptions {
  PredictOptions options;
  std::string collective;  ///< "all-reduce"
  std::string nccl;        ///< release; empty: the stack's, without a stack the first that supports the GPU
  std::string launch;      ///< how calls are started; empty: not known
  std::vector<Bytes> messages;
};

/// One message size, as nccl-tests prints it.
struct CollectiveRow {
  Bytes bytes;
  Ranged<Seconds> time;
  BytesPerSecond algorithm_bandwidth;  ///< bytes / time
  Ranged<double> bus_bandwidth;        ///< B/s; of all-reduce 2(n-1)/n of the algorithm bandwidth
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::none;
  Protocol protocol = Protocol::simple;
  int channels = 0;                     ///< thread blocks kept busy on every GPU
  Seconds least;                        ///< with the fastest way, which the library's own plan may not choose
  Protocol fastest = Protocol::simple;  ///< of that way
};

struct CollectiveSurvey {
  std::string system, device, nccl, network;
  CollectiveKind kind = CollectiveKind::all_reduce;
  int gpus = 1, nodes = 1;
  CollectivePlan plan;
  std::vector<CollectiveRow> rows;
};

/// The collective library meant: the release asked for, else the stack's, else the default of the device.
/// Errors: no release or stack of that name.
[[nodiscard]] Result<NcclLibrary> asked_library(Session& session, const CollectiveOptions& asked, const Device& device);

/// Times of a collective over message sizes.
/// Errors: unknown hardware, collective, release, network or way of launching; GPUs that do not fill nodes or cannot
/// reach each other; fewer than two GPUs; a message larger than a GPU's memory.
[[nodiscard]] Result<CollectiveSurvey> survey_collective(Session& session, const CollectiveOptions& options);

/// The bus bandwidth of the first message, B/s. Errors: as above.
[[nodiscard]] Result<Ranged<double>> bus_bandwidth(Session& session, const CollectiveOptions& options);

}  // namespace tbdsim
