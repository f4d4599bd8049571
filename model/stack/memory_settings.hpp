#pragma once
#include "model/input/toml_reader.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Which tensors the framework keeps for backward and how it plans memory.
enum class MemoryPlan { mxnet, caching_allocator, bfc, blobs };

/// What a framework holds in device memory.
struct MemorySettings {
  MemoryPlan plan = MemoryPlan::caching_allocator;
  Bytes context;                    ///< CUDA context, library handles, before the first tensor
  Bytes context_per_thread;         ///< and for each thread that the device keeps resident: stack and local memory
  Bytes training_start;             ///< what the first step adds: handles of kernel libraries, communicators
  double adam_arrays = 0;           ///< per parameter, that Adam makes besides its states; fused kernels make none
  int batches_on_device = 1;        ///< the one in use and those that wait there
  bool flattens_gradients = false;  ///< an update copies all gradients into one fp32 array (DeepSpeed)
  bool keeps_gradients = false;     ///< gradients of the last step stay, new ones are added to them
  bool online_loss = false;         ///< a compiled loss keeps its 16-bit scores alone, and makes their gradient at once
  /// fp32 arrays of all scores that a loss holds beside the one it keeps and their gradient: PyTorch's fills one (nll_loss).
  double loss_arrays = 1;
  double parallel_loss_arrays = 0;  ///< such arrays more, where the loss is divided by words
};

/// Reads a [memory] table.
[[nodiscard]] MemorySettings read_memory_settings(TomlTable table);

}  // namespace tbdsim
