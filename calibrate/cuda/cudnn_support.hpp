#pragma once
// Shared by the families that cuDNN serves. Included only where its header was found.
#include "calibrate/cuda/setup.hpp"

namespace tbdsim::calibrate {

inline void check_dnn(const Cudnn& dnn, cudnnStatus_t status) {
  if (status != CUDNN_STATUS_SUCCESS) throw GpuFailure(std::string("cuDNN: ") + dnn.cudnnGetErrorString(status));
}

inline const Cudnn& need_cudnn(const GpuContext& gpu) {
  if (!gpu.cudnn) throw GpuFailure(gpu.cudnn_reason);
  return *gpu.cudnn;
}

inline cudnnDataType_t dnn_type(Element element) {
  if (element == Element::fp16) return CUDNN_DATA_HALF;
  return element == Element::bf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
}

/// fp32 means IEEE arithmetic: FMA excludes the tensor cores' tf32, which the default permits; PyTorch asks in the same way.
inline cudnnMathType_t math_type(const std::string& precision) {
  if (precision == "fp32") return CUDNN_FMA_MATH;
  return precision == "fp16" ? CUDNN_TENSOR_OP_MATH : CUDNN_DEFAULT_MATH;
}

/// A cuDNN descriptor that goes when its last user goes.
template <class T>
using Descriptor = std::shared_ptr<std::remove_pointer_t<T>>;

template <class T>
[[nodiscard]] Descriptor<T> make_descriptor(const Cudnn& dnn, cudnnStatus_t (*create)(T*), cudnnStatus_t (*destroy)(T)) {
  T made = nullptr;
  check_dnn(dnn, create(&made));
  return Descriptor<T>(made, [destroy](T d) { destroy(d); });
}

[[nodiscard]] inline Descriptor<cudnnTensorDescriptor_t> tensor4d(const Cudnn& dnn, cudnnTensorFormat_t format, Element element,
                                                                  int n, int c, int h, int w) {
  auto d = make_descriptor(dnn, dnn.cudnnCreateTensorDescriptor, dnn.cudnnDestroyTensorDescriptor);
  check_dnn(dnn, dnn.cudnnSetTensor4dDescriptor(d.get(), format, dnn_type(element), n, c, h, w));
  return d;
}

}  // namespace tbdsim::calibrate
