#pragma once
#include <string_view>

#include "model/input/toml_reader.hpp"
#include "model/stack/parallel/divided_update.hpp"
#include "model/stack/parallel/expert_axis.hpp"
#include "model/stack/parallel/gradient_sums.hpp"
#include "model/stack/parallel/loss_kernels.hpp"
#include "model/stack/parallel/norm_kernels.hpp"
#include "model/stack/parallel/offload_settings.hpp"
#include "model/stack/parallel/pipeline_settings.hpp"
#include "model/stack/parallel/shard_settings.hpp"
#include "model/stack/parallel/tensor_axis.hpp"
#include "model/stack/parallel/weight_copies.hpp"

namespace tbdsim {

/// What `--recompute selective` computes again.
enum class SelectiveRecompute {
  attention,  ///< all between the products of attention's projections (Megatron-LM)
  operators,  ///< all but every second product, attention and what was scattered (torchtitan)
};

/// What attention exchanges along the context axis.
enum class ContextExchange {
  gather,      ///< keys and values are gathered before it
  ring,        ///< they are passed round beside it
  all_to_all,  ///< each rank gets all positions of a share of the heads (Ulysses)
};

[[nodiscard]] std::string_view name(ContextExchange exchange);  ///< "all-to-all"

/// How a framework trains a network that is divided over GPUs. What a stack does not say is as PyTorch's own parts do it.
struct ParallelSettings {
  bool every_job = false;  ///< its training loop is that of divided networks, also where nothing is divided
  TensorAxisSettings tensor;
  SelectiveRecompute selective = SelectiveRecompute::operators;
  bool recompute_stops = false;  ///< other recomputation ends where all that backward reads is there again (`Repetition`)
  ContextExchange context = ContextExchange::gather;
  PipelineSettings pipeline;
  ShardSettings shards;
  WeightCopies weights;
  GradientSums gradients;
  DividedUpdate update;
  LossKernels loss;
  NormKernels norms;
  ExpertAxisSettings experts;
  OffloadSettings offload;
  double batch_operators = 0;  ///< operators that read, mask and embed a micro-batch, beside the network's own
};

/// Reads a [parallel] table.
[[nodiscard]] ParallelSettings read_parallel_settings(TomlTable table);

}  // namespace tbdsim
