#pragma once
#include <optional>
#include <string>
#include <vector>

namespace tbdsim {

/// What the user asks, as given on the command line or in a row of a measured-run table. Empty or absent: default.
struct PredictOptions {
  std::string hardware;  ///< catalogue name or file
  std::string model;
  std::string stack;  ///< empty: newest catalogued PyTorch that supports the device
  std::optional<int> gpus, nodes, batch, image, seq_len;
  std::vector<int> devices;  ///< indices within a node; empty: the first ones
  std::string network, precision, exchange, optimizer, input;
  std::vector<std::string> set;    ///< KEY=VALUE
  std::string storage;             ///< where samples are read; empty: memory
  std::optional<int> input_hosts;  ///< other machines that prepare samples and send them over the network
  std::optional<int> workers;      ///< threads or processes of a node that decode
  bool mock_loader = false;        ///< samples are there when they are needed
  bool mock_trainer = false;       ///< load only
  int seed = 1;                    ///< of anything random
  std::string recompute;           ///< none, selective, block, layer, full
  std::optional<int> zero;         ///< ZeRO stage
  /// Ranks along the axes of a layout; chunks of a pipeline on each rank.
  std::optional<int> tensor_parallel, context_parallel, expert_parallel, expert_tensor_parallel, pipeline_parallel,
      virtual_stages;
  std::optional<int> first_stage_layers, last_stage_layers;  ///< of the GPUs at the ends of a pipeline
  std::string stage_layers;                                  ///< "3,4,4,3", of all stages; empty: evenly
  std::string sequence_parallel;                             ///< on, off; empty: the stack's
  std::string schedule;                                      ///< of a pipeline: a name or a file
  std::string attention;                                     ///< kernel; empty: the stack's
  std::optional<int> accumulate;                             ///< micro-batches per update
  std::optional<int> global_batch;                           ///< samples of one update, instead of `accumulate`
  std::string offload;                                       ///< none, states, activations, both
  std::string offload_share;                                 ///< of the states, 0 to 1; empty: all
  std::optional<int> offload_layers;                         ///< whose activations lie on the host
  std::string layout_from;                                   ///< file of a framework's settings, which say what is left open here
  std::string unmodelled;  ///< of them, what changes the cost and is not modelled: refuse, allow; empty: refuse
  /// Every kernel and every operator's host time so many times as long, where one GPU's step is known better than predicted.
  double compute_scale = 1.0;
  bool buckets = false;        ///< mean over the lengths of the data set
  bool detail = false;         ///< keep layers, kernels and timeline
  bool largest_batch = false;  ///< also search the largest batch that fits
  bool run = false;            ///< a whole run is asked about: `set` may change what is assumed of it
  bool emulated = false;       ///< one machine's worker and server exchange over the network named, or over PCIe
};

}  // namespace tbdsim
