#include "calibrate/cuda/libraries.hpp"

#include <cuda.h>

#include <algorithm>

#include "calibrate/cuda/dynamic_library.hpp"

namespace tbdsim::calibrate {

#define TBDSIM_LOAD(name) complete = library->get(table.name, #name) && complete;

std::vector<const char*> Cupti::names() {
  std::vector<const char*> names{"libcupti.so.13",   "libcupti.so.12",   "libcupti.so.11.8", "libcupti.so.11.7",
                                 "libcupti.so.11.6", "libcupti.so.11.5", "libcupti.so.11.4", "libcupti.so.11.3",
                                 "libcupti.so.11.2", "libcupti.so.11.1"};
  const std::size_t own = CUDA_VERSION >= 13000 ? 0 : CUDA_VERSION >= 12000 ? 1 : 2;
  std::rotate(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(own), names.end());
  names.push_back("libcupti.so");
  return names;
}

tl::expected<Cupti, std::string> Cupti::load(const char* name) {
  const auto library = DynamicLibrary::open({name});
  if (!library) return tl::make_unexpected(library.error());
  Cupti table;
  bool complete = true;
  TBDSIM_CUPTI_FUNCTIONS(TBDSIM_LOAD)
  if (!complete) return tl::make_unexpected(std::string("libcupti lacks a function of the activity interface"));
  return table;
}

tl::expected<CublasLt, std::string> CublasLt::load() {
  const auto library = DynamicLibrary::open({"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11", "libcublasLt.so"});
  if (!library) return tl::make_unexpected(library.error());
  CublasLt table;
  bool complete = true;
  TBDSIM_CUBLASLT_FUNCTIONS(TBDSIM_LOAD)
  if (!complete) return tl::make_unexpected(std::string("libcublasLt is too old"));
  if (table.cublasLtCreate(&table.handle) != CUBLAS_STATUS_SUCCESS)
    return tl::make_unexpected(std::string("cublasLt does not start"));
  return table;
}

#if TBDSIM_HAVE_CUDNN
tl::expected<Cudnn, std::string> Cudnn::load() {
  const auto library = DynamicLibrary::open({"libcudnn.so.9", "libcudnn.so.8", "libcudnn.so"});
  if (!library) return tl::make_unexpected(library.error());
  Cudnn table;
  bool complete = true;
  TBDSIM_CUDNN_FUNCTIONS(TBDSIM_LOAD)
  if (!complete) return tl::make_unexpected(std::string("libcudnn is older than version 8"));
  if (table.cudnnCreate(&table.handle) != CUDNN_STATUS_SUCCESS) return tl::make_unexpected(std::string("cuDNN does not start"));
  return table;
}
#endif

#if TBDSIM_HAVE_NCCL
tl::expected<Nccl, std::string> Nccl::load() {
  const auto library = DynamicLibrary::open({"libnccl.so.2", "libnccl.so"});
  if (!library) return tl::make_unexpected(library.error());
  Nccl table;
  bool complete = true;
  TBDSIM_NCCL_FUNCTIONS(TBDSIM_LOAD)
  if (!complete) return tl::make_unexpected(std::string("libnccl is older than 2.7"));
  return table;
}
#endif

#undef TBDSIM_LOAD

}  // namespace tbdsim::calibrate
