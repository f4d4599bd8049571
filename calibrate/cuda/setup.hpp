#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "calibrate/collect/plan.hpp"
#include "calibrate/cuda/device_memory.hpp"
#include "calibrate/cuda/kernels.hpp"
#include "calibrate/cuda/libraries.hpp"

namespace tbdsim::calibrate {

/// What the families' setups share: a stream of one device and the libraries that were found.
struct GpuContext {
  cudaStream_t stream = nullptr;
  int device = 0, device_count = 1;
  int capability = 0;  ///< 90: compute capability 9.0
  std::optional<CublasLt> cublas;
  std::string cublas_reason, cudnn_reason, nccl_reason;  ///< why a library is missing
#if TBDSIM_HAVE_CUDNN
  std::optional<Cudnn> cudnn;
#endif
#if TBDSIM_HAVE_NCCL
  std::optional<Nccl> nccl;
#endif
};

/// Work that is ready to run; it keeps its buffers alive.
struct Setup {
  std::function<void()> run;  ///< enqueues one repetition; throws GpuFailure
  std::string algorithm, layout, flags;
  bool call_timing = false;            ///< `host_time` measures it instead of the device
  std::function<Seconds()> host_time;  ///< one repetition, timed by the setup itself from issue to completion; empty: device time
};

/// One setup per family. Each throws GpuFailure with the reason when the GPU or a library cannot do it.
[[nodiscard]] Setup set_up_gemm(const GpuContext& gpu, const Measurement& m);
[[nodiscard]] Setup set_up_convolution(const GpuContext& gpu, const Measurement& m);
[[nodiscard]] Setup set_up_recurrent(const GpuContext& gpu, const Measurement& m);
[[nodiscard]] Setup set_up_attention(const GpuContext& gpu, const Measurement& m);
[[nodiscard]] Setup set_up_softmax(const GpuContext& gpu, const Measurement& m);
[[nodiscard]] Setup set_up_batch_norm(const GpuContext& gpu, const Measurement& m);
[[nodiscard]] Setup set_up_pool(const GpuContext& gpu, const Measurement& m);
[[nodiscard]] Setup set_up_dropout(const GpuContext& gpu, const Measurement& m);
[[nodiscard]] Setup set_up_layer_norm(const GpuContext& gpu, const Measurement& m);
[[nodiscard]] Setup set_up_elementwise(const GpuContext& gpu, const Measurement& m);
[[nodiscard]] Setup set_up_embedding(const GpuContext& gpu, const Measurement& m);
[[nodiscard]] Setup set_up_optimizer(const GpuContext& gpu, const Measurement& m);
[[nodiscard]] Setup set_up_copy(const GpuContext& gpu, const Measurement& m);
[[nodiscard]] Setup set_up_launch(const GpuContext& gpu, const Measurement& m);
[[nodiscard]] Setup set_up_collective(const GpuContext& gpu, const Measurement& m);
[[nodiscard]] Setup set_up_overlap(const GpuContext& gpu, const Measurement& m);
/// The product of a shape that has `m`, `n` and `k`.
[[nodiscard]] Setup set_up_product(const GpuContext& gpu, const Measurement& m);

/// Storage format of a precision. fp8 has none here: only products take it.
[[nodiscard]] Element element_of(const std::string& precision);
[[nodiscard]] std::size_t bytes_of(Element element);
/// Random data in that format.
[[nodiscard]] Buffer random_buffer(std::size_t elements, Element element, cudaStream_t stream);
/// A size as the libraries take it. Throws GpuFailure above 2^31.
[[nodiscard]] int whole(const Measurement& m, std::string_view key);

}  // namespace tbdsim::calibrate
