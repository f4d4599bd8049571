#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/input/toml_reader.hpp"
#include "model/stack/engine_settings.hpp"
#include "model/stack/framework.hpp"
#include "model/stack/input_settings.hpp"
#include "model/stack/metric_settings.hpp"
#include "model/stack/parameter_server.hpp"
#include "model/stack/rank_settings.hpp"
#include "model/stack/store.hpp"
#include "model/support/result.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Convolution algorithms a library may offer.
enum class ConvolutionAlgorithm { implicit_gemm, direct, winograd_fused, winograd_nonfused, fft };
[[nodiscard]] std::string_view name(ConvolutionAlgorithm algorithm);

/// How the host and the device wait for each other.
enum class HostCoupling {
  queued,      ///< operators are queued ahead; the device idles only when the host is late (PyTorch, TensorFlow)
  serialized,  ///< the device idles while the host handles each operator (MXNet and Torch7, as their batch curves show)
};

/// Which kernels a recurrent layer runs.
enum class RecurrentKernels {
  library,  ///< cuDNN's (MIOpen's) layers: one call for all steps
  cells,    ///< cells of the framework's own operators, unrolled, each dispatched by the host
};

/// How arrays are updated.
enum class UpdateKind {
  per_array,     ///< one chain of kernels per parameter array
  multi_tensor,  ///< few kernels over all arrays
};

/// Where the host waits for the device before it goes on with the update.
enum class UpdateWait {
  never,
  once,        ///< before it: the loss scale is checked for an overflow (mixed precision)
  each_array,  ///< at every array: a script's loop reads a norm back
};

/// Which tensors the framework keeps for backward and how it plans memory.
enum class MemoryPlan { mxnet, caching_allocator, bfc, blobs };

/// Convolution side of a cuDNN (or MIOpen) generation: which algorithms exist and which are offered per pass.
struct ConvolutionLibrary {
  std::string name;        ///< "cudnn-5.1"
  std::string generation;  ///< row of the shared kernel constants: "cudnn5", "cudnn7"
  std::vector<ConvolutionAlgorithm> forward, backward_data, backward_weights;
  std::optional<Bytes> workspace_limit;  ///< absent: as much as it asks for
};

/// What the same hardware does under one framework version. Read from hardware/stacks/*.toml.
struct Stack {
  std::string id;  ///< "mxnet-1.2"
  Framework framework = Framework::pytorch;
  std::string version;
  std::string variant;      ///< "nhwc", "xla"; empty: plain
  std::string zoo_variant;  ///< network variant this framework ships: "mxnet", "torchvision", "tf", "torch7"
  std::string cuda;
  std::string vendor = "NVIDIA";           ///< of the devices it runs on
  std::string minimum_compute_capability;  ///< "3.7"; empty: any
  ConvolutionLibrary convolution;
  // Host
  HostCoupling coupling = HostCoupling::queued;
  bool eager = false;       ///< kernels are issued as the script reaches them (PyTorch), not from a graph that is known before
  Seconds dispatch;         ///< host time per operator (forward, backward, gradient sum)
  Seconds update_dispatch;  ///< host time per kernel launch of the optimiser update
  EngineSettings engine;
  // Operators
  bool fuses_batch_norm_relu = false;  ///< BN, add and ReLU in one kernel
  bool fuses_elementwise = false;      ///< XLA or a compiler fuses chains of elementwise operators
  bool compiles_kernels = false;       ///< kernels beside the libraries' are a compiler's, which load several numbers at once
  bool inplace_activation = true;      ///< activation backward needs only the output
  bool separate_bias = true;           ///< convolution bias is a kernel of its own
  bool turns_filters = false;  ///< filters lie channels last, and every pass turns them around for the library (TensorFlow)
  bool channels_last = false;
  bool fuses_linear_bias = false;                                        ///< a linear layer's bias is added by its product
  double batch_norm_forward_passes = 3, batch_norm_backward_passes = 5;  ///< passes over the tensor
  double dropout_forward_passes = 3, dropout_backward_passes = 3;        ///< over the tensor, by all kernels it is made of
  double softmax_backward_passes = 3;                                    ///< the same
  bool vectorizes_16_bit = true;  ///< elementwise and row kernels load several 16-bit numbers at once (`moves_single_numbers`)
  bool amp_16_bit = false;  ///< under amp all runs in 16 bits but loss and update (apex O2); else some operators between casts
  bool fused_attention = false;  ///< attention layers run as one kernel that keeps the scores on the chip
  RecurrentKernels recurrent = RecurrentKernels::library;
  bool persistent_recurrent = false;  ///< 16-bit layers may keep their weights in registers (cuDNN's persistent kernels)
  // Update
  UpdateKind update = UpdateKind::per_array;
  int update_kernels_per_array = 1;
  bool update_fuses_loops = false;      ///< optimisers that scripts write as loops over arrays are multi-tensor kernels too
  bool update_checks_overflow = false;  ///< mixed precision reads back whether a gradient overflowed before it updates
  UpdateWait update_wait = UpdateWait::never;  ///< of the configured run, not of the file
  double update_passes_sgd_momentum = 5;       ///< reads and writes of P floats: w, g, m read; w, m written
  double update_extra_passes = 0;              ///< copies the framework adds (MXNet's key-value store: 2)
  double gradient_passes = 0;                  ///< over each array as its gradient is made: zeros written, gradient added to them
  int gradient_kernels = 0;                    ///< that make these passes, for each array
  // Memory
  MemoryPlan memory_plan = MemoryPlan::caching_allocator;
  Bytes context;                    ///< CUDA context, library handles, before the first tensor
  Bytes context_per_thread;         ///< and for each thread that the device keeps resident: stack and local memory
  Bytes training_start;             ///< what the first step adds: handles of kernel libraries, communicators
  double adam_arrays = 0;           ///< per parameter, that Adam makes besides its states; fused kernels make none
  int batches_on_device = 1;        ///< the one in use and those that wait there
  bool flattens_gradients = false;  ///< an update copies all gradients into one fp32 array (DeepSpeed)
  bool keeps_gradients = false;     ///< gradients of the last step stay, new ones are added to them
  // Input and run
  Seconds start_up;  ///< of one run, outside steady iterations
  // Exchange
  std::string nccl;                  ///< "2.1.15"
  bool exchange_copies_all = false;  ///< every gradient has a place of its own in some bucket, all step long (DDP)
  bool exchange_overlaps = true;     ///< buckets leave while backward still runs
  bool exchange_amp_16_bit = false;  ///< under amp gradients are those of a 16-bit copy of the weights
  Bytes exchange_bucket;             ///< gradients are exchanged when so many bytes have gathered; 0: each array by itself
  Bytes exchange_first_bucket;       ///< of a step, where it differs; 0: it does not
  Seconds exchange_cycle;            ///< how often the library looks for gradients (Horovod); 0: it is told
  std::string exchange_launch;       ///< how calls are started, as hardware/nccl.toml names it; empty: not known
  std::optional<double> exchange_overlap_cost;  ///< time that a second of exchange adds to kernels beside it; absent: by SMs
  RankSettings ranks;
  std::optional<ParameterServer> server;  ///< absent: the framework has none
  StoreSettings store;
  InputSettings input;
  MetricSettings metric;
  std::string source;
  std::vector<std::string> notices;  ///< set on resolution: "no mxnet-1.3 in the catalogue, using mxnet-1.2"
  double extra_spread = 0.0;         ///< added to the range when the name only resolved to this stack
  std::string file, sha256;
};

/// Reads one stack file. Errors: all problems of the file.
[[nodiscard]] Result<Stack> read_stack(const std::string& path);
[[nodiscard]] Result<Stack> read_stack(TomlFile file);

/// Finds a stack by user's words: framework[-ngc]-version[-variant] or a file. A version the catalogue lacks
/// resolves to the nearest of that framework, an unknown variant is dropped, each with a notice and wider range.
[[nodiscard]] Result<Stack> load_stack(const std::string& catalogue_root, const std::string& name);

/// Stacks of the catalogue of the same framework and line (NGC or not) that are no older, newest first; without `id` itself.
[[nodiscard]] std::vector<std::string> later_stacks(const std::string& catalogue_root, const std::string& id);

}  // namespace tbdsim
