// cublasLt of the made-up machine.
#include <cublasLt.h>

#include <cstring>

#include "tests/collect/made_up_gpu/machine.hpp"

using namespace made_up;

namespace {

struct Layout {
  cudaDataType_t type = CUDA_R_32F;
  std::uint64_t rows = 0, cols = 0;
  std::int64_t ld = 0, stride = 0;
  std::int32_t batch = 1;
  [[nodiscard]] std::size_t width() const { return type == CUDA_R_32F ? 4 : type == CUDA_R_16F || type == CUDA_R_16BF ? 2 : 1; }
  [[nodiscard]] std::size_t bytes() const {
    return width() * (static_cast<std::size_t>(stride) * static_cast<std::size_t>(batch - 1) +
                      static_cast<std::size_t>(ld) * (cols - 1) + rows);
  }
};
struct Product {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};
struct Preference {
  std::uint64_t workspace = 0;
};

std::set<const void*>& live() {
  static auto* const all = new std::set<const void*>;
  return *all;
}
template <class T, class Handle>
T& alive(Handle handle) {
  if (live().count(handle) == 0) refuse("cublasLt: a descriptor that does not live");
  return *reinterpret_cast<T*>(handle);
}
template <class T, class Handle>
cublasStatus_t make(Handle* handle) {
  auto* made = new T;
  live().insert(made);
  ++machine().descriptors;
  *handle = reinterpret_cast<Handle>(made);
  return CUBLAS_STATUS_SUCCESS;
}
template <class T, class Handle>
cublasStatus_t drop(Handle handle) {
  delete &alive<T>(handle);
  live().erase(handle);
  --machine().descriptors;
  return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t take(T& value, const void* from, std::size_t size) {
  if (size != sizeof(T)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&value, from, size);
  return CUBLAS_STATUS_SUCCESS;
}

/// The combinations of cublasLtMatmul's table that the collector asks for.
bool supported(const Product& p, const Layout& a, const Layout& b, const Layout& c, const Layout& d) {
  if (a.type != b.type || c.type != d.type) return false;
  if (p.compute == CUBLAS_COMPUTE_32F_FAST_TF32)
    return a.type == CUDA_R_32F && d.type == CUDA_R_32F && machine().capability >= 80;
  if (p.compute != CUBLAS_COMPUTE_32F) return false;
#if CUDART_VERSION >= 11080
  if (a.type == CUDA_R_8F_E4M3) {
    // "TN" only, all dimensions in multiples of 16.
    return machine().capability >= 89 && p.a == CUBLAS_OP_T && p.b == CUBLAS_OP_N && d.type == CUDA_R_16BF && a.rows % 16 == 0 &&
           a.cols % 16 == 0 && b.cols % 16 == 0;
  }
#endif
  return a.type == d.type && (a.type != CUDA_R_16BF || machine().capability >= 80);
}

cublasStatus_t check(const Product& p, const Layout& a, const Layout& b, const Layout& c, const Layout& d, double& flop) {
  const std::uint64_t m = p.a == CUBLAS_OP_N ? a.rows : a.cols, k = p.a == CUBLAS_OP_N ? a.cols : a.rows;
  const std::uint64_t kb = p.b == CUBLAS_OP_N ? b.rows : b.cols, n = p.b == CUBLAS_OP_N ? b.cols : b.rows;
  if (k != kb || d.rows != m || d.cols != n || c.rows != m || c.cols != n) return CUBLAS_STATUS_INVALID_VALUE;
  for (const Layout* l : {&a, &b, &c, &d}) {
    if (l->batch != d.batch || l->ld < static_cast<std::int64_t>(l->rows)) return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (p.epilogue == CUBLASLT_EPILOGUE_BIAS && p.bias == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  flop = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) * d.batch;
  return supported(p, a, b, c, d) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

}  // namespace

extern "C" {
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  host(5e4);
  *handle = reinterpret_cast<cublasLtHandle_t>(&machine());
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
std::size_t cublasLtGetVersion() { return 130002; }
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* desc, cublasComputeType_t compute, cudaDataType_t scale) {
  if (scale != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  make<Product>(desc);
  alive<Product>(*desc).compute = compute;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) { return drop<Product>(desc); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t name, const void* value,
                                              std::size_t size) {
  auto& p = alive<Product>(desc);
  switch (name) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return take(p.a, value, size);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return take(p.b, value, size);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return take(p.epilogue, value, size);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return take(p.bias, value, size);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, std::uint64_t rows,
                                          std::uint64_t cols, std::int64_t ld) {
  if (rows == 0 || cols == 0) return CUBLAS_STATUS_INVALID_VALUE;
  make<Layout>(layout);
  auto& l = alive<Layout>(*layout);
  l.type = type;
  l.rows = rows;
  l.cols = cols;
  l.ld = ld;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) { return drop<Layout>(layout); }
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t name,
                                                const void* value, std::size_t size) {
  auto& l = alive<Layout>(layout);
  if (name == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) return take(l.batch, value, size);
  if (name == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) return take(l.stride, value, size);
  return CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) { return make<Preference>(preference); }
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) { return drop<Preference>(preference); }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t name, const void* value,
                                                    std::size_t size) {
  if (name != CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return CUBLAS_STATUS_INVALID_VALUE;
  return take(alive<Preference>(preference).workspace, value, size);
}
/// The algorithm carries the workspace that it needs.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int* count) {
  host(150.0);
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  double flop = 0.0;
  *count = 0;
  const cublasStatus_t status =
      check(alive<Product>(desc), alive<Layout>(a), alive<Layout>(b), alive<Layout>(c), alive<Layout>(d), flop);
  if (status != CUBLAS_STATUS_SUCCESS || wanted < 1) return status;
  results[0] = {};
  results[0].workspaceSize = std::min<std::size_t>(alive<Preference>(preference).workspace, std::size_t{8} << 20);
  results[0].algo.data[0] = results[0].workspaceSize;
  results[0].algo.data[1] = reinterpret_cast<std::uint64_t>(desc);
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a_data,
                              cublasLtMatrixLayout_t a, const void* b_data, cublasLtMatrixLayout_t b, const void* beta,
                              const void* c_data, cublasLtMatrixLayout_t c, void* d_data, cublasLtMatrixLayout_t d,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace, std::size_t bytes, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const auto& p = alive<Product>(desc);
  const auto &la = alive<Layout>(a), &lb = alive<Layout>(b), &lc = alive<Layout>(c), &ld = alive<Layout>(d);
  Work work;
  const cublasStatus_t status = check(p, la, lb, lc, ld, work.flop);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  if (alpha == nullptr || beta == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (algorithm->data[1] != reinterpret_cast<std::uint64_t>(desc)) refuse("cublasLt: an algorithm of another product");
  if (bytes < algorithm->data[0]) return CUBLAS_STATUS_INVALID_VALUE;
  for (const void* pointer : {a_data, b_data, c_data, static_cast<const void*>(d_data), static_cast<const void*>(workspace)}) {
    if (reinterpret_cast<std::uintptr_t>(pointer) % 16 != 0) return CUBLAS_STATUS_INVALID_VALUE;
  }
  reads(a_data, la.bytes(), stream, "cublasLt A");
  reads(b_data, lb.bytes(), stream, "cublasLt B");
  if (p.epilogue == CUBLASLT_EPILOGUE_BIAS) reads(p.bias, ld.width() * ld.rows, stream, "cublasLt bias");
  writes(d_data, ld.bytes(), stream, "cublasLt D");
  if (algorithm->data[0] > 0) writes(workspace, algorithm->data[0], stream, "cublasLt workspace");
  work.name = "made_up_gemm";
  work.bytes = static_cast<double>(la.bytes() + lb.bytes() + ld.bytes());
  work.rate = rate_of(la.width() == 1   ? "fp8"
                      : la.width() == 2 ? "half"
                                        : (p.compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? "tf32" : "fp32"));
  work.block[0] = 256;
  return enqueue(stream, work) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
}
