#pragma once
#include <string>

#include "model/input/toml_reader.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// What runs beside the collectives of the tensor axis.
enum class TensorOverlap {
  none,     ///< nothing: each is waited for
  pieces,   ///< in pieces the product that makes what is divided, or reads what is gathered (asynchronous tensor parallelism)
  weights,  ///< backward: gradients of weights run beside the sum of the input's gradient, and the input is gathered beside that
};

/// What `--recompute selective` computes again.
enum class SelectiveRecompute {
  attention,  ///< all between the products of attention's projections (Megatron-LM)
  operators,  ///< all but every second product, attention and what was scattered (torchtitan)
};

/// How keys and values go round along the context axis.
enum class ContextExchange {
  gather,  ///< gathered before attention
  ring,    ///< passed round beside it
};

/// How a framework trains a network that is divided over GPUs. What a stack does not say is as PyTorch's own parts do it.
struct ParallelSettings {
  bool every_job = false;  ///< its training loop is that of divided networks, also where nothing is divided
  bool sequence = true;    ///< sequence parallelism where tensor parallelism is asked for
  bool regathers = false;  ///< what it gathers is gathered again for backward
  TensorOverlap tensor_overlap = TensorOverlap::none;
  SelectiveRecompute selective = SelectiveRecompute::operators;
  ContextExchange context = ContextExchange::gather;
  bool masters = false;                ///< 16 bits mean fp32 weights and states beside 16-bit ones
  bool casts_shards = false;           ///< of which the 16-bit ones are made where weights are gathered, and not kept
  bool gathers_8_bit = false;          ///< under fp8 weights are gathered in 8 bits
  bool wide_gradients = true;          ///< gradients are summed over ranks in fp32, else as they are
  Bytes gradient_sum{0.0};             ///< moved for each parameter when a micro-batch's gradient joins the sum
  bool fuses_gradient_sum = false;     ///< by the product that makes the gradient, beside its arithmetic
  bool overlaps_gradients = true;      ///< they leave while the last backward still runs
  bool overlaps_parameters = false;    ///< updated weights are gathered while the next forward runs
  bool broadcasts_parameters = false;  ///< each rank broadcasts the part that it has updated, one after the other
  bool reduces_everywhere = false;     ///< every copy gets all gradients, though some divide the state
  Bytes bucket_copies{0.0};            ///< moved for each gradient on its way into a bucket and out of it, beside no other kernel
  Bytes bucket{0.0};                   ///< of gradients that leave together
  Bytes bucket_per_rank{0.0};          ///< at least so much for each copy of the network
  bool blocking_hops = false;          ///< a stage waits until what it sends has arrived
  bool clips = true;                   ///< gradients are read for their norm and scaled before the update
  int zero = 0;                        ///< stage of sharding where none is asked for
  int shard_ranks = 0;                 ///< next to each other, over which `zero` divides; 0: all copies
  bool shards_stages = false;          ///< weights may be sharded beside a pipeline
  int most_zero = 3;                   ///< stage that it has; what `plan` searches
  std::string schedules{};             ///< of pipelines that it has, between blanks, for `plan`; empty: all
  Bytes update_moves{0.0};             ///< by the update of each parameter; 0: as [update] says
  Bytes loss_forward{0.0}, loss_backward{0.0};  ///< moved for each score by a loss of several kernels; 0: one fused kernel a pass
  double loss_operators = 0;                    ///< operators of such a loss in both passes, half of them forward
  double batch_operators = 0;                   ///< operators that read, mask and embed a micro-batch, beside the network's own
  double expert_spread = 1;  ///< of the experts' popularity over that of tokens that choose alike; 0: balance is forced
};

/// Reads a [parallel] table.
[[nodiscard]] ParallelSettings read_parallel_settings(TomlTable table);

}  // namespace tbdsim
