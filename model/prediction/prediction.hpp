#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/hardware/cluster.hpp"
#include "model/prediction/axis_traffic.hpp"
#include "model/prediction/input_verdict.hpp"
#include "model/prediction/memory_verdict.hpp"
#include "model/prediction/price_basis.hpp"
#include "model/prediction/step_details.hpp"
#include "model/prediction/step_drawing.hpp"
#include "model/schedule/exchange/peer_copies.hpp"
#include "model/schedule/resource.hpp"
#include "model/stack/exchange.hpp"
#include "model/stack/stack.hpp"
#include "model/workload/layout.hpp"
#include "model/workload/op_graph.hpp"

namespace tbdsim {

/// A value with its central 80 % range.
template <class Q>
struct Ranged {
  Q value, low, high;
};

struct Stages {
  Seconds forward, backward, weight_update, metric, exchange_total, exchange_exposed, input_exposed, host_exposed;
  Seconds bubble;  ///< of a pipeline: waiting until another stage has computed
  /// The parts of host_exposed, by the stage that waited; with samples at hand, before loading hides some of them.
  Seconds host_forward, host_backward, host_update;
  /// The same of exchange_exposed where the calls of forward and backward hold the exchange (PyTorch's DataParallel).
  Seconds exchange_forward, exchange_backward;
  /// Of all arrays, wherever they are updated; with a store it may overlap, and `weight_update` is what a GPU waits for.
  Seconds weight_update_total;
  Seconds store_update;  ///< the part of `weight_update` for which the GPU waits while a store updates
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

struct Prediction {
  // identity
  std::string hardware_name, hardware_file, hardware_sha256, device, model, variant, stack, stack_file, stack_sha256;
  std::string workload_file, workload_sha256;  ///< of a user's network file
  std::string layout_file, layout_sha256;      ///< of a framework's settings; empty: none
  std::string precision, optimizer, input, input_unit;
  Exchange exchange = Exchange::allreduce;
  std::string sample;             ///< what one is: "image 3x224x224", "length 128"
  bool products_in_fp32 = false;  ///< asked for 16 bits, which are only stored: device or libraries have no kernels for them
  bool reads_overflow = false;  ///< mixed precision whose host reads, before it issues the update, whether a gradient overflowed
  std::string network;          ///< between nodes; empty for one node
  int ports = 1;                ///< on it, of a node
  std::vector<std::string> notices;
  std::vector<std::string> set;  ///< changed values of input files, KEY=VALUE
  Seconds start_up;              ///< of one run, outside steady iterations
  int gpus = 1, nodes = 1, batch_per_gpu = 1, global_batch = 1;
  // results
  Ranged<Seconds> step_time;
  StepSpread spread;          ///< behind the ranges of time and throughput
  Ranged<double> throughput;  ///< samples per second over all ranks
  std::string part_unit;      ///< what throughput is also told in: "token", "audio second"; empty: nothing else
  double parts_per_sample = 0;
  std::vector<BucketTime> buckets;  ///< with `buckets`
  Stages stages;
  Utilization utilization;
  Loads loads;
  MemoryVerdict memory;
  Limit limit;
  std::vector<Limit> limits;                  ///< all shares, largest first; they sum to 1
  std::optional<InputVerdict> input_verdict;  ///< absent: nothing is loaded
  std::optional<Usd> hour_cost, million_samples_cost;
  std::optional<Joules> sample_energy;
  PriceBasis price;  ///< of `hour_cost`; empty without
  std::optional<Payment> bought, rented;
  std::optional<Watts> gpu_power, host_power;  ///< drawn while the job runs, by all of its GPUs and by all else of its nodes
  std::vector<ProvenanceEntry> provenance;
  std::vector<LayerTime> layers;        ///< with `detail`
  std::vector<KernelTime> kernels;      ///< with `detail`: of one rank, in time order
  std::vector<ExchangeTime> exchanges;  ///< with `detail`: in time order
  std::vector<HostTime> host;           ///< with `detail`: of the slowest rank's process and a node's workers
  std::vector<LaneEvent> lanes;         ///< with `detail`: of the same, within one steady step
  std::vector<LinkTraffic> links;       ///< with `detail`: links that the exchange uses
  std::vector<IndirectCopy> indirect;   ///< copies of the exchange between GPUs that no link joins
  bool by_layers = false;               ///< the step was simulated layer by layer, divided as `layout` says
  Layout layout;
  int zero = 0;
  int micro_batches = 1;
  std::string schedule;  ///< of a pipeline; empty: there is none
  std::string recompute;
  std::vector<AxisTraffic> communication;  ///< by axis, of a step that is simulated layer by layer
  Seconds recomputed;                      ///< part of `stages.backward` that computes again, of such a step
  Seconds mean_kernels;                    ///< forward and backward kernels of the mean stage, of such a step
  StepDrawing drawing;                     ///< with `detail`, of such a step
  Bytes exchanged;                         ///< gradients that a rank hands over in a step
  std::int64_t parameters = 0;             ///< of the network
  // for accuracy baselines
  Flop flop_per_step_per_gpu;
  FlopPerSecond peak;                           ///< of one GPU at the precision used
  std::optional<Ranged<double>> largest_batch;  ///< per GPU, asked for by `largest_batch`

  /// Useful work of forward, backward and update.
  [[nodiscard]] Flop flop_per_sample() const {
    return static_cast<double>(gpus) / static_cast<double>(global_batch) * flop_per_step_per_gpu;
  }
};

}  // namespace tbdsim
