// Matrix products through cublasLt. Row-major C[m,n] = A[m,k] B[k,n] is column-major C' = B' A', so the operands change places.
#include <array>
#include <memory>
#include <type_traits>

#include "calibrate/cuda/setup.hpp"

namespace tbdsim::calibrate {
namespace {

void check_blas(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw GpuFailure("cublasLt: status " + std::to_string(static_cast<int>(status)));
}

struct Formats {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType_t in = CUDA_R_32F, out = CUDA_R_32F;
  std::size_t in_bytes = 4, out_bytes = 4;
};

Formats formats_of(const std::string& precision) {
  if (precision == "fp32") return {};
  if (precision == "tf32") return {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, 4, 4};
  if (precision == "fp16") return {CUBLAS_COMPUTE_32F, CUDA_R_16F, CUDA_R_16F, 2, 2};
  if (precision == "bf16") return {CUBLAS_COMPUTE_32F, CUDA_R_16BF, CUDA_R_16BF, 2, 2};
#if CUDART_VERSION >= 11080
  if (precision == "fp8") return {CUBLAS_COMPUTE_32F, CUDA_R_8F_E4M3, CUDA_R_16BF, 1, 2};
#endif
  throw GpuFailure("precision " + precision + " is not known to this cublasLt");
}

/// A descriptor and the function that destroys it.
template <class Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, cublasStatus_t (*)(Handle)>;

/// One product with its operands and descriptors.
class Product {
 public:
  Product(const GpuContext& gpu, const Measurement& measurement);
  void run() const;

 private:
  Owned<cublasLtMatrixLayout_t> layout(cudaDataType_t type, bool transposed, int rows, int columns) const;
  void choose();

  const CublasLt& blas_;
  cudaStream_t stream_;
  int batch_;
  Owned<cublasLtMatmulDesc_t> desc_;
  Owned<cublasLtMatrixLayout_t> first_, second_, result_;
  cublasLtMatmulAlgo_t algorithm_{};
  Buffer a_, b_, c_, bias_, workspace_;
};

Product::Product(const GpuContext& gpu, const Measurement& measurement)
    : blas_(*gpu.cublas),
      stream_(gpu.stream),
      batch_(whole(measurement, "b")),
      desc_(nullptr, blas_.cublasLtMatmulDescDestroy),
      first_(nullptr, blas_.cublasLtMatrixLayoutDestroy),
      second_(nullptr, blas_.cublasLtMatrixLayoutDestroy),
      result_(nullptr, blas_.cublasLtMatrixLayoutDestroy) {
  const Formats f = formats_of(measurement.sample.precision);
  const int m = whole(measurement, "m"), n = whole(measurement, "n"), k = whole(measurement, "k");
  const bool ta = whole(measurement, "ta") != 0, tb = whole(measurement, "tb") != 0;
  if (f.in_bytes == 1 && (ta || !tb)) throw GpuFailure("fp8 products exist for ta=0;tb=1 alone");
  const auto count = static_cast<std::size_t>(batch_);
  using C = DeviceMemory::Content;
  const C content = f.in_bytes == 4 ? C::random_fp32 : f.in_bytes == 2 ? C::random_16 : C::random_8;
  const auto operand = [&](std::size_t elements) {
    return make_buffer(elements * f.in_bytes, content, stream_, f.in == CUDA_R_16BF);
  };
  a_ = operand(count * static_cast<std::size_t>(m) * static_cast<std::size_t>(k));
  b_ = operand(count * static_cast<std::size_t>(k) * static_cast<std::size_t>(n));
  c_ = make_buffer(count * static_cast<std::size_t>(m) * static_cast<std::size_t>(n) * f.out_bytes, C::zero, stream_);
  cublasLtMatmulDesc_t made = nullptr;
  check_blas(blas_.cublasLtMatmulDescCreate(&made, f.compute, CUDA_R_32F));
  desc_.reset(made);
  const cublasOperation_t op_first = tb ? CUBLAS_OP_T : CUBLAS_OP_N, op_second = ta ? CUBLAS_OP_T : CUBLAS_OP_N;
  check_blas(blas_.cublasLtMatmulDescSetAttribute(desc_.get(), CUBLASLT_MATMUL_DESC_TRANSA, &op_first, sizeof op_first));
  check_blas(blas_.cublasLtMatmulDescSetAttribute(desc_.get(), CUBLASLT_MATMUL_DESC_TRANSB, &op_second, sizeof op_second));
  if (measurement.sample.op == "linear") {
    bias_ = make_buffer(static_cast<std::size_t>(n) * f.out_bytes, C::zero, stream_);
    const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    const void* pointer = bias_->get();
    check_blas(blas_.cublasLtMatmulDescSetAttribute(desc_.get(), CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
    check_blas(blas_.cublasLtMatmulDescSetAttribute(desc_.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, &pointer, sizeof pointer));
  } else if (measurement.sample.op != "matmul") {
    throw GpuFailure("gemm has no op " + measurement.sample.op + "; there are matmul and linear");
  }
  first_ = layout(f.in, tb, n, k);
  second_ = layout(f.in, ta, k, m);
  result_ = layout(f.out, false, n, m);
  choose();
}

/// Column-major `rows` x `columns`, or its transpose in memory.
Owned<cublasLtMatrixLayout_t> Product::layout(cudaDataType_t type, bool transposed, int rows, int columns) const {
  const auto r = static_cast<std::uint64_t>(transposed ? columns : rows),
             c = static_cast<std::uint64_t>(transposed ? rows : columns);
  cublasLtMatrixLayout_t made = nullptr;
  check_blas(blas_.cublasLtMatrixLayoutCreate(&made, type, r, c, static_cast<std::int64_t>(r)));
  Owned<cublasLtMatrixLayout_t> owner(made, blas_.cublasLtMatrixLayoutDestroy);
  const auto stride = static_cast<std::int64_t>(r * c);
  check_blas(blas_.cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch_, sizeof batch_));
  check_blas(blas_.cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride));
  return owner;
}

void Product::choose() {
  constexpr std::size_t kWorkspace = std::size_t{32} << 20;  // what frameworks grant cublasLt on recent devices
  workspace_ = std::make_shared<DeviceMemory>(kWorkspace);
  cublasLtMatmulPreference_t preference = nullptr;
  check_blas(blas_.cublasLtMatmulPreferenceCreate(&preference));
  const std::size_t bytes = workspace_->bytes();
  (void)blas_.cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes);
  std::array<cublasLtMatmulHeuristicResult_t, 8> ranked{};
  int count = 0;
  const cublasStatus_t status =
      blas_.cublasLtMatmulAlgoGetHeuristic(blas_.handle, desc_.get(), first_.get(), second_.get(), result_.get(), result_.get(),
                                           preference, static_cast<int>(ranked.size()), ranked.data(), &count);
  blas_.cublasLtMatmulPreferenceDestroy(preference);
  check_blas(status);
  // What the ranking offers may still be refused when it is run: the first that runs.
  std::string refusal = "cublasLt offers no kernel for this product";
  for (int i = 0; i < count; ++i) {
    const cublasLtMatmulHeuristicResult_t& offered = ranked[static_cast<std::size_t>(i)];
    if (offered.state != CUBLAS_STATUS_SUCCESS) continue;
    algorithm_ = offered.algo;
    try {
      return run();
    } catch (const GpuFailure& failure) {
      (void)cudaGetLastError();
      refusal = failure.what();
    }
  }
  throw GpuFailure(refusal);
}

void Product::run() const {
  const float one = 1.0f, zero = 0.0f;
  check_blas(blas_.cublasLtMatmul(blas_.handle, desc_.get(), &one, b_->get(), first_.get(), a_->get(), second_.get(), &zero,
                                  c_->get(), result_.get(), c_->get(), result_.get(), &algorithm_, workspace_->get(),
                                  workspace_->bytes(), stream_));
}

}  // namespace

Setup set_up_gemm(const GpuContext& gpu, const Measurement& m) {
  if (!gpu.cublas) throw GpuFailure(gpu.cublas_reason);
  if (m.sample.pass != "forward" && m.sample.pass != "none")
    throw GpuFailure("gemm is measured as one product; write the backward products as shapes of their own");
  auto product = std::make_shared<Product>(gpu, m);
  Setup setup;
  setup.run = [product] { product->run(); };
  setup.algorithm = "heuristic";
  setup.layout = "row-major";
  return setup;
}

Setup set_up_product(const GpuContext& gpu, const Measurement& m) {
  Measurement product = m;
  product.sample.family = "gemm";
  product.sample.op = "matmul";
  product.sample.shape = {{"b", 1}, {"m", whole(m, "m")}, {"n", whole(m, "n")}, {"k", whole(m, "k")}, {"ta", 0}, {"tb", 0}};
  return set_up_gemm(gpu, product);
}

Setup set_up_attention(const GpuContext& gpu, const Measurement& m) {
  if (whole(m, "fused") != 0) throw GpuFailure("fused attention needs a kernel library that is not linked here");
  if (m.sample.pass != "forward")
    throw GpuFailure("unfused attention is measured forward; its backward is made of gemm and softmax");
  // Scores, softmax, weighted sum: three calls, as frameworks without a fused kernel make them.
  const int sq = whole(m, "sq"), sk = whole(m, "sk"), d = whole(m, "d"), heads = whole(m, "b") * whole(m, "heads");
  const auto part = [&](std::string_view family, std::initializer_list<std::pair<std::string_view, std::int64_t>> shape) {
    Measurement p = m;
    p.sample.family = family;
    p.sample.op = family == "gemm" ? "matmul" : family;
    p.sample.shape.assign(shape);
    return p;
  };
  auto scores = set_up_gemm(gpu, part("gemm", {{"b", heads}, {"m", sq}, {"n", sk}, {"k", d}, {"ta", 0}, {"tb", 1}}));
  auto softmax = set_up_softmax(gpu, part("softmax", {{"rows", std::int64_t{heads} * sq}, {"cols", sk}}));
  auto weighted = set_up_gemm(gpu, part("gemm", {{"b", heads}, {"m", sq}, {"n", d}, {"k", sk}, {"ta", 0}, {"tb", 0}}));
  Setup setup;
  setup.run = [first = scores.run, second = softmax.run, third = weighted.run] {
    first();
    second();
    third();
  };
  setup.algorithm = "unfused";
  return setup;
}

}  // namespace tbdsim::calibrate
