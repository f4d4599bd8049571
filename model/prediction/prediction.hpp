#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/hardware/cluster.hpp"
#include "model/prediction/input_verdict.hpp"
#include "model/prediction/memory_verdict.hpp"
#include "model/prediction/predicted_job.hpp"
#include "model/prediction/running_cost.hpp"
#include "model/prediction/step_details.hpp"
#include "model/prediction/step_division.hpp"
#include "model/schedule/exchange/peer_copies.hpp"
#include "model/schedule/resource.hpp"

namespace tbdsim {

/// A value with its central 80 % range.
template <class Q>
struct Ranged {
  Q value, low, high;
};

/// Where the time of a step goes, by phase.
struct PhaseTimes {
  Seconds forward, backward, weight_update, metric, exchange_total, exchange_exposed, input_exposed, host_exposed;
  Seconds bubble;   ///< of a pipeline: waiting until another stage has computed
  Seconds offload;  ///< waiting for copies to and from the host, and for its update
  /// The parts of host_exposed, by the stage that waited; with samples at hand, before loading hides some of them.
  Seconds host_forward, host_backward, host_update;
  /// The same of exchange_exposed where the calls of forward and backward hold the exchange (PyTorch's DataParallel).
  Seconds exchange_forward, exchange_backward;
  /// Of all arrays, wherever they are updated; with a store it may overlap, and `weight_update` is what a GPU waits for.
  Seconds weight_update_total;
  Seconds store_update;          ///< the part of `weight_update` for which the GPU waits while a store updates
  Seconds exchange_in_backward;  ///< the part of `backward` that the exchange beside it adds: slower kernels, copies into buckets
};

/// What bounds the step: `share` is the part of `resource` of the critical path.
struct Limit {
  Resource resource = Resource::gpu_compute;
  double share = 0.0;
  std::string text;
};

/// `fp32` and `tensor_core`: share of the time in which kernels run that the units execute multiply-adds, at the clock they keep.
/// `useful`: FLOP of the direct method over the listed peak; Winograd needs fewer multiply-adds, so those may pass 1.
struct Utilization {
  double gpu_busy = 0, fp32 = 0, tensor_core = 0, mfu = 0, cpu = 0;
  double hfu = 0;  ///< as mfu, with what is computed again
  double fp32_useful = 0, tensor_core_useful = 0;
  /// The parts of `cpu`, by cause: operators issued, samples loaded, environments simulated, gradients served.
  double cpu_launch = 0, cpu_input = 0, cpu_environment = 0, cpu_server = 0;
};
struct ProvenanceEntry {
  std::string what, kind, source;
};

/// How much of what the host and its connections could do a step takes; absent: the step does not use it, or it is not known.
struct Loads {
  std::optional<double> host_memory, network, storage;
};

/// Samples of one length and the step they take.
struct BucketTime {
  int length = 0;
  double share = 0;  ///< of the samples
  Seconds step;
};

/// Standard deviation of ln(measured step / predicted step), by what it belongs to: to a device under a stack, to one
/// configuration, to the exchange between GPUs.
struct StepSpread {
  double board = 0, row = 0, exchange = 0;
};

/// Gradients that travel in a step.
struct ExchangedGradients {
  Bytes bytes;                         ///< that a rank hands over
  std::vector<IndirectCopy> indirect;  ///< copies between GPUs that no link joins
};

/// Arithmetic of a step, and what could do it.
struct StepWork {
  std::int64_t parameters = 0;  ///< of the network
  Flop flop_per_gpu;            ///< of a step
  FlopPerSecond peak;           ///< of one GPU at the precision used
};

/// What `predict` says of a job, by concept.
struct Prediction {
  PredictedJob job;
  SampleKind samples;
  InputFiles files;
  std::vector<std::string> notices;
  std::vector<ProvenanceEntry> provenance;

  Ranged<Seconds> step_time;
  Ranged<double> throughput;        ///< samples per second over all ranks
  StepSpread spread;                ///< behind the ranges of time and throughput
  PhaseTimes phases;                ///< of `step_time`
  std::vector<BucketTime> buckets;  ///< with `buckets`
  Seconds start_up;                 ///< of one run, outside steady iterations

  Limit limit;
  std::vector<Limit> limits;  ///< all shares, largest first; they sum to 1
  Utilization utilization;
  Loads loads;
  std::optional<InputVerdict> input_verdict;  ///< absent: nothing is loaded
  MemoryVerdict memory;
  std::optional<Ranged<double>> largest_batch;  ///< per GPU, asked for by `largest_batch`
  RunningCost cost;
  ExchangedGradients exchanged;
  StepDivision division;
  StepWork work;
  StepDetails detail;

  /// Useful work of forward, backward and update.
  [[nodiscard]] Flop flop_per_sample() const {
    return static_cast<double>(job.gpus) / static_cast<double>(job.global_batch) * work.flop_per_gpu;
  }
};

}  // namespace tbdsim
