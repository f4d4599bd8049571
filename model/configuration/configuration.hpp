#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/configuration/offload.hpp"
#include "model/configuration/session.hpp"
#include "model/schedule/input_pipeline.hpp"
#include "model/schedule/pipeline/pipeline_schedule.hpp"
#include "model/stack/exchange.hpp"
#include "model/workload/layout.hpp"
#include "model/workload/recompute.hpp"

namespace tbdsim {

/// One optimiser: fp32 arrays it keeps per parameter, and passes over the parameters against SGD with momentum.
struct Optimizer {
  std::string name;
  double states = 1;
  double relative_passes = 1.0;
  // The same where every step of the formula is a kernel of its own (PyTorch's loops over arrays), and its kernels.
  double unfused_passes = 1.0, unfused_kernels = 1.0;
  bool loops_over_arrays = false;  ///< written by a script as such a loop, which also reads a norm back at every array
  /// fp32 arrays per parameter that its formula makes of weights and states alone: a dataflow executor, which starts whatever
  /// has its inputs, makes them as the step begins and holds them until the gradients are there.
  int gradient_free_arrays = 0;
  bool makes_arrays = false;   ///< its formula makes the stack's `adam_arrays`
  bool byte_states = false;    ///< states of one byte, no narrower beside 16-bit weights
  double listed_passes = 0.0;  ///< `unfused_passes` where the kernels take lists of arrays; 0: the same
};

/// A prediction's inputs, resolved: every name looked up, every default filled in, every size checked.
struct Configuration {
  std::shared_ptr<const Result<System>> system;
  std::shared_ptr<const Result<Workload>> workload;
  std::shared_ptr<const Result<KernelConstants>> constants;
  std::shared_ptr<const Result<NcclLibrary>> nccl;  ///< of the stack; its errors matter where gradients are exchanged
  Stack stack;
  std::optional<Network> network;
  std::vector<int> devices;  ///< within each node
  int gpus = 1, nodes = 1, batch = 1;
  Precision precision = Precision::fp32;
  Optimizer optimizer;
  Exchange exchange = Exchange::allreduce;
  std::string input;
  Recompute recompute = Recompute::none;
  int zero = 0, accumulate = 1;
  Offload offload;                                                        ///< what is kept on the hosts
  Layout layout;                                                          ///< how the network is divided over the GPUs
  pipeline::ScheduleKind schedule = pipeline::ScheduleKind::one_f_one_b;  ///< of a pipeline
  std::optional<pipeline::PipelineSchedule> own_schedule;                 ///< from a file, instead
  double compute_scale = 1.0;                                             ///< of kernels and host
  std::optional<InputPipeline> pipeline;                                  ///< absent: samples are there when they are needed
  std::string input_source;                                               ///< where its decode time comes from
  std::string decode_of;                                                  ///< what states it: "stack NAME", "input NAME"
  int input_hosts = 0;                     ///< other machines that prepare samples; 0: the nodes do
  std::string storage, storage_source;     ///< that samples are read from; empty: memory
  Bytes data_set;                          ///< as stored
  Bytes kept_samples;                      ///< of them, what the memory of a node has to keep
  bool shared_storage = false;             ///< by all nodes of the job
  Bytes device_samples;                    ///< that lie in the memory of every GPU for good
  bool cached_later = false;               ///< the host's page cache holds all of it after the first epoch
  bool copies_input = true;                ///< false: samples lie in GPU memory
  bool environments = false;               ///< samples are simulated
  bool mock_trainer = false;               ///< load only
  bool mock_loader = false;                ///< samples are there when they are needed
  bool emulated = false;                   ///< one machine stands for two, its worker and server joined by `network`
  bool other_attention = false;            ///< attention runs as another kernel than the stack's own
  std::uint64_t seed = 1;                  ///< of decode times
  std::string layout_file, layout_sha256;  ///< of a framework's settings; empty: none
  std::vector<std::string> notices;
  std::vector<std::string> set;  ///< values of input files that were changed, KEY=VALUE

  /// Whether every GPU holds a part of the network only.
  [[nodiscard]] bool divided() const { return layout.divides_network(); }
  /// Whether the step is simulated layer by layer: the network or its state is divided, a part lies on the host, or the
  /// stack's training loop is such.
  [[nodiscard]] bool by_layers() const {
    return divided() || (zero > 0 && layout.data > 1) || stack.parallel.every_job || offload.any();
  }
  [[nodiscard]] pipeline::PipelineShape pipeline_shape() const { return {layout.pipeline, accumulate, layout.virtual_stages}; }
  /// Different parts of the network that lie on the ranks of a pipeline.
  [[nodiscard]] int pipeline_stages() const {
    return own_schedule ? own_schedule->stages() : stage_count(pipeline::info(schedule).placement, pipeline_shape());
  }
  /// The ZeRO stage that is in force: stages of a pipeline keep gathered weights and whole gradients from the first to the last
  /// micro-batch, so that they are not gathered for each. Source: pytorch/torchtitan, parallelize_llama.py ("For PP, do not
  /// reshard after forward"), gradients reduced after the last one.
  [[nodiscard]] int sharding() const { return gathers_by_layer() && layout.pipeline > 1 ? 1 : zero; }
  /// Weights are gathered layer by layer beside the passes, else all of them after the update.
  [[nodiscard]] bool gathers_by_layer() const { return zero == 3 || (zero == 2 && stack.parallel.shards.units); }
  /// Copies of the network.
  [[nodiscard]] int data_parallel() const { return layout.data; }
  [[nodiscard]] std::int64_t samples_per_step() const { return std::int64_t{batch} * accumulate * data_parallel(); }

  [[nodiscard]] const System& hardware() const { return **system; }
  [[nodiscard]] const Workload& network_graph() const { return **workload; }
};

/// The table of passes of a configuration's pipeline. Expects more than one stage. Errors: a shape that its schedule cannot have.
[[nodiscard]] Result<pipeline::PipelineSchedule> configured_schedule(const Configuration& configuration);

/// The training step in the order in which this configuration runs it.
[[nodiscard]] TrainingStep configured_step(const Configuration& configuration);

/// What is computed again, and whether the framework stops early.
[[nodiscard]] Repetition repetition(const Configuration& configuration);

}  // namespace tbdsim
