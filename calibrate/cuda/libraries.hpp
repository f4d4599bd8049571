#pragma once
// Tables of the library functions that the collector calls, filled when the program runs. Types come from the toolkit's
// headers, so a call that does not match them does not compile.
#include <cublasLt.h>
#include <cupti.h>
#if TBDSIM_HAVE_CUDNN
#include <cudnn.h>
#endif
#if TBDSIM_HAVE_NCCL
#include <nccl.h>
#endif

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace tbdsim::calibrate {

// clang-format off
// NOLINTNEXTLINE(bugprone-macro-parentheses): a member's name cannot stand in parentheses
#define TBDSIM_ENTRY(name) decltype(&::name) name = nullptr;

#define TBDSIM_CUPTI_FUNCTIONS(X)                                                                                               \
  X(cuptiGetVersion) X(cuptiActivityFlushPeriod) X(cuptiActivityEnable)                                                                                                        \
  X(cuptiActivityDisable)                                                                                                       \
  X(cuptiActivityRegisterCallbacks) X(cuptiActivityGetNextRecord) X(cuptiActivityFlushAll) X(cuptiActivityGetNumDroppedRecords) \
      X(cuptiGetResultString)
struct Cupti {
  TBDSIM_CUPTI_FUNCTIONS(TBDSIM_ENTRY)
  /// Under one of the names below.
  [[nodiscard]] static tl::expected<Cupti, std::string> load(const char* name);
  /// Names of its releases: that of the CUDA it is built with first, for its records are certain to be understood.
  [[nodiscard]] static std::vector<const char*> names();
};

#define TBDSIM_CUBLASLT_FUNCTIONS(X)                                                                               \
  X(cublasLtCreate)                                                                                                \
  X(cublasLtDestroy)                                                                                               \
  X(cublasLtGetVersion) X(cublasLtMatmul) X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescDestroy)                 \
      X(cublasLtMatmulDescSetAttribute) X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutDestroy)               \
          X(cublasLtMatrixLayoutSetAttribute) X(cublasLtMatmulPreferenceCreate) X(cublasLtMatmulPreferenceDestroy) \
              X(cublasLtMatmulPreferenceSetAttribute) X(cublasLtMatmulAlgoGetHeuristic)
struct CublasLt {
  TBDSIM_CUBLASLT_FUNCTIONS(TBDSIM_ENTRY)
  cublasLtHandle_t handle = nullptr;
  [[nodiscard]] static tl::expected<CublasLt, std::string> load();
};

#if TBDSIM_HAVE_CUDNN
#define TBDSIM_CUDNN_FUNCTIONS(X)                                                                                                \
  X(cudnnCreate)                                                                                                                 \
  X(cudnnSetStream)                                                                                                              \
  X(cudnnGetVersion) X(cudnnGetErrorString) X(cudnnCreateTensorDescriptor) X(cudnnDestroyTensorDescriptor)                       \
      X(cudnnSetTensor4dDescriptor) X(cudnnSetTensorNdDescriptor) X(cudnnCreateFilterDescriptor) X(cudnnDestroyFilterDescriptor) \
          X(cudnnSetFilter4dDescriptor) X(cudnnCreateConvolutionDescriptor) X(cudnnDestroyConvolutionDescriptor)                 \
              X(cudnnSetConvolution2dDescriptor) X(cudnnSetConvolutionGroupCount) X(cudnnSetConvolutionMathType)                 \
                  X(cudnnGetConvolution2dForwardOutputDim) X(cudnnGetConvolutionForwardAlgorithm_v7)                             \
                      X(cudnnGetConvolutionBackwardDataAlgorithm_v7) X(cudnnGetConvolutionBackwardFilterAlgorithm_v7)            \
                          X(cudnnConvolutionForward) X(cudnnConvolutionBackwardData) X(cudnnConvolutionBackwardFilter)           \
                              X(cudnnSoftmaxForward) X(cudnnSoftmaxBackward) X(cudnnCreatePoolingDescriptor)                     \
                                  X(cudnnDestroyPoolingDescriptor) X(cudnnSetPooling2dDescriptor) X(cudnnPoolingForward)         \
                                      X(cudnnPoolingBackward) X(cudnnBatchNormalizationForwardTraining)                          \
                                          X(cudnnBatchNormalizationBackward) X(cudnnDeriveBNTensorDescriptor)                    \
                                              X(cudnnCreateDropoutDescriptor) X(cudnnDestroyDropoutDescriptor)                   \
                                                  X(cudnnSetDropoutDescriptor) X(cudnnDropoutGetStatesSize)                      \
                                                      X(cudnnDropoutGetReserveSpaceSize) X(cudnnDropoutForward)                  \
                                                          X(cudnnDropoutBackward) X(cudnnCreateRNNDescriptor)                    \
                                                              X(cudnnDestroyRNNDescriptor) X(cudnnSetRNNDescriptor_v8) X(        \
                                                                  cudnnCreateRNNDataDescriptor) X(cudnnDestroyRNNDataDescriptor) \
                                                                  X(cudnnSetRNNDataDescriptor) X(cudnnGetRNNWeightSpaceSize)     \
                                                                      X(cudnnGetRNNTempSpaceSizes) X(cudnnRNNForward)            \
                                                                          X(cudnnRNNBackwardData_v8)                             \
                                                                              X(cudnnRNNBackwardWeights_v8)
struct Cudnn {
  TBDSIM_CUDNN_FUNCTIONS(TBDSIM_ENTRY)
  cudnnHandle_t handle = nullptr;
  [[nodiscard]] static tl::expected<Cudnn, std::string> load();
};
#endif

#if TBDSIM_HAVE_NCCL
#define TBDSIM_NCCL_FUNCTIONS(X)                                                                                          \
  X(ncclGetVersion)                                                                                                       \
  X(ncclGetErrorString)                                                                                                   \
  X(ncclCommInitAll) X(ncclCommDestroy) X(ncclGroupStart) X(ncclGroupEnd) X(ncclAllReduce) X(ncclBroadcast) X(ncclReduce) \
      X(ncclAllGather) X(ncclReduceScatter) X(ncclSend) X(ncclRecv)
struct Nccl {
  TBDSIM_NCCL_FUNCTIONS(TBDSIM_ENTRY)
  [[nodiscard]] static tl::expected<Nccl, std::string> load();
};
#endif

// clang-format on
#undef TBDSIM_ENTRY

}  // namespace tbdsim::calibrate
