// cuDNN of the made-up machine: one function of its interface after the other, so the file is long.
#if TBDSIM_HAVE_CUDNN
#include <cudnn.h>

#include <algorithm>
#include <string>

#include "tests/collect/made_up_gpu/machine.hpp"

using namespace made_up;

namespace {

struct Tensor {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW;
  std::size_t n = 0, c = 0, h = 1, w = 1;
  [[nodiscard]] std::size_t width() const { return type == CUDNN_DATA_FLOAT ? 4 : 2; }
  [[nodiscard]] std::size_t bytes() const { return width() * n * c * h * w; }
};
struct Convolution {
  std::size_t pad_h = 0, pad_w = 0, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1, groups = 1;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};
struct Pooling {
  std::size_t r = 1, s = 1, pad = 0, stride = 1;
};
struct Dropout {
  bool set = false;
};
struct Recurrent {
  std::size_t input = 0, hidden = 0, layers = 0, directions = 1, gates = 1;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  bool half = false, tf32 = false, skip = false;
};
struct Sequences {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::size_t steps = 0, batch = 0, width = 0;
  [[nodiscard]] std::size_t bytes() const { return (type == CUDNN_DATA_FLOAT ? 4 : 2) * steps * batch * width; }
};

cudaStream_t stream = nullptr;

std::set<const void*>& live() {
  static auto* const all = new std::set<const void*>;
  return *all;
}
template <class T, class Handle>
T& alive(Handle handle) {
  if (live().count(handle) == 0) refuse("cuDNN: a descriptor that does not live");
  return *reinterpret_cast<T*>(handle);
}
template <class T, class Handle>
cudnnStatus_t make(Handle* handle) {
  auto* made = new T;
  live().insert(made);
  *handle = reinterpret_cast<Handle>(made);
  return CUDNN_STATUS_SUCCESS;
}
template <class T, class Handle>
cudnnStatus_t drop(Handle handle) {
  delete &alive<T>(handle);
  live().erase(handle);
  return CUDNN_STATUS_SUCCESS;
}
std::size_t size(int value) { return static_cast<std::size_t>(value); }

const char* const kNames[3][8] = {
    {"implicit_gemm", "implicit_precomp_gemm", "gemm", "direct", "fft", "fft_tiling", "winograd", "winograd_nonfused"},
    {"algo_0", "algo_1", "fft", "fft_tiling", "winograd", "winograd_nonfused", "", ""},
    {"algo_0", "algo_1", "fft", "algo_3", "winograd", "winograd_nonfused", "fft_tiling", ""}};
constexpr int kCounts[3] = {8, 6, 7};

/// Output extents of a convolution; false where shapes, types or layouts do not fit.
bool fits(const Tensor& x, const Tensor& w, const Convolution& conv, Tensor& y) {
  if (x.type != w.type || x.format != w.format || x.c != w.c * conv.groups || w.n % conv.groups != 0) return false;
  const std::size_t high = conv.dilation_h * (w.h - 1) + 1, wide = conv.dilation_w * (w.w - 1) + 1;
  if (x.h + 2 * conv.pad_h < high || x.w + 2 * conv.pad_w < wide) return false;
  y = {x.type,
       x.format,
       x.n,
       w.n,
       (x.h + 2 * conv.pad_h - high) / conv.stride_h + 1,
       (x.w + 2 * conv.pad_w - wide) / conv.stride_w + 1};
  return true;
}

bool is_fft(int pass, int algorithm) { return algorithm == (pass == 0 ? 4 : 2); }

/// Tensor-core kernels need more room than the others: an algorithm run under another math type than it was chosen for
/// finds too little. FFT needs most.
std::size_t room(int pass, const Tensor& x, int algorithm, cudnnMathType_t math) {
  const std::size_t base = algorithm == 0            ? 0
                           : is_fft(pass, algorithm) ? std::size_t{1} << 30
                                                     : std::min<std::size_t>(x.bytes(), std::size_t{64} << 20);
  return math == CUDNN_FMA_MATH ? base : base + 4096;
}

/// Ranks algorithm 1 on tensor cores where the descriptor permits them, then each under plain arithmetic.
template <class Perf>
cudnnStatus_t rank(int pass, const Tensor& x, const Tensor& w, const Convolution& conv, const Tensor& y, int wanted, int* count,
                   Perf* results) {
  host(300.0);
  Tensor expected;
  if (!fits(x, w, conv, expected) || expected.bytes() != y.bytes()) return CUDNN_STATUS_BAD_PARAM;
  *count = 0;
  const auto add = [&](int algorithm, cudnnMathType_t math) {
    if (*count >= wanted) return;
    Perf& perf = results[(*count)++];
    perf = {};
    perf.algo = static_cast<decltype(perf.algo)>(algorithm);
    perf.mathType = math;
    perf.memory = room(pass, x, algorithm, math);
    const bool winograd = algorithm >= (pass == 0 ? 6 : 4);
    const bool no = told("without", kNames[pass][algorithm]) || (winograd && (w.h != 3 || conv.stride_h != 1 || conv.groups > 1));
    perf.status = no ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS;
  };
  const bool tensor_cores = conv.math != CUDNN_FMA_MATH && machine().capability >= (x.type == CUDNN_DATA_FLOAT ? 80 : 70);
  if (tensor_cores) {
    for (const int algorithm : {1, 5, 0}) add(algorithm, CUDNN_TENSOR_OP_MATH);
  }
  const cudnnMathType_t plain = conv.math == CUDNN_FMA_MATH ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH;
  add(1, plain);
  for (int algorithm = 0; algorithm < kCounts[pass]; ++algorithm) {
    if (algorithm != 1) add(algorithm, plain);
  }
  return CUDNN_STATUS_SUCCESS;
}

/// Share of the peak rate. What is ranked first is not the fastest; FFT is, of large filters.
double share(int pass, const Tensor& w, int algorithm) {
  if (is_fft(pass, algorithm)) return w.h > 5 ? 0.8 : 0.2;
  return algorithm == 0 ? 0.6 : algorithm == 1 ? 0.5 : 0.3;
}

cudnnStatus_t convolve(int pass, const Tensor& x, const Tensor& w, const Convolution& conv, const Tensor& y, int algorithm,
                       void* workspace, std::size_t bytes) {
  if (algorithm == told("refuses")) return CUDNN_STATUS_NOT_SUPPORTED;
  Tensor expected;
  if (!fits(x, w, conv, expected) || expected.bytes() != y.bytes()) return CUDNN_STATUS_BAD_PARAM;
  const std::size_t needed = room(pass, x, algorithm, conv.math);
  if (bytes < needed) return CUDNN_STATUS_BAD_PARAM;
  if (needed > 0) writes(workspace, needed, stream, "cuDNN workspace");
  Work work;
  work.name = "made_up_convolution";
  work.flop = 2.0 * static_cast<double>(y.n * y.c * y.h * y.w) * static_cast<double>(w.c * w.h * w.w);
  work.bytes = static_cast<double>(x.bytes() + w.bytes() + y.bytes());
  work.rate = share(pass, w, algorithm) * rate_of(x.type != CUDNN_DATA_FLOAT    ? "half"
                                                  : conv.math == CUDNN_FMA_MATH ? "fp32"
                                                                                : "tf32");
  if (w.c == 1) work.rate /= 20.0;
  return enqueue(stream, work) == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

/// Where batch norm's forward pass has left mean and inverse deviation.
std::set<const void*>& saved_statistics() {
  static auto* const all = new std::set<const void*>;
  return *all;
}

cudnnStatus_t move(const char* name, std::size_t bytes) {
  Work work;
  work.name = name;
  work.bytes = static_cast<double>(bytes);
  return enqueue(stream, work) == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

std::size_t weight_bytes(const Recurrent& r) {
  const std::size_t first = r.gates * r.hidden * ((r.skip ? 0 : r.input) + r.hidden + 1);
  const std::size_t later = r.gates * r.hidden * (r.hidden * r.directions + r.hidden + 1);
  return (r.type == CUDNN_DATA_FLOAT ? 4 : 2) * r.directions * (first + (r.layers - 1) * later);
}
std::size_t temporary(const Recurrent& r, const Sequences& x) {
  return 4 * r.gates * r.hidden * r.directions * x.batch * x.steps;
}

/// A stream of cuDNN's own beside the one that it was given.
cudaStream_t second_stream() {
  static Stream* const own = [] {
    auto* s = new Stream;
    s->device = stream_of(stream).device;
    machine().streams.insert(s);
    return s;
  }();
  return reinterpret_cast<cudaStream_t>(own);
}

/// One pass of a recurrent layer: a kernel for the inputs, one a step; two directions run side by side.
cudnnStatus_t step_through(const Recurrent& r, const Sequences& x, const Sequences& y, const Tensor& h, std::size_t weights,
                           std::size_t work_bytes, std::size_t reserve_bytes, bool steps) {
  if (x.type != r.type || x.width != r.input || y.width != r.hidden * r.directions || x.steps != y.steps || x.batch != y.batch ||
      h.bytes() != (r.type == CUDNN_DATA_FLOAT ? 4 : 2) * r.layers * r.directions * x.batch * r.hidden)
    return CUDNN_STATUS_BAD_PARAM;
  if (weights != weight_bytes(r) || work_bytes < temporary(r, x) || reserve_bytes < 2 * temporary(r, x))
    return CUDNN_STATUS_BAD_PARAM;
  const double parameters = static_cast<double>(weight_bytes(r)) / (r.type == CUDNN_DATA_FLOAT ? 4.0 : 2.0);
  const std::size_t launches = (steps ? x.steps : 1) * r.layers * r.directions;
  Stream &main = stream_of(stream), &side = stream_of(second_stream());
  side.ready_ns = std::max(side.ready_ns, main.ready_ns);
  for (std::size_t i = 0; i < launches; ++i) {
    Work work;
    work.name = "made_up_recurrent";
    work.flop = 2.0 * parameters * static_cast<double>(x.batch * x.steps) / static_cast<double>(launches);
    work.bytes = static_cast<double>(weight_bytes(r)) / static_cast<double>(r.layers);
    work.rate = 0.5 * rate_of(r.half ? "half" : r.tf32 ? "tf32" : "fp32");
    if (enqueue(i % r.directions == 1 ? second_stream() : stream, work) != cudaSuccess) return CUDNN_STATUS_EXECUTION_FAILED;
  }
  main.ready_ns = std::max(main.ready_ns, side.ready_ns);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

extern "C" {
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  host(1.5e6);
  *handle = reinterpret_cast<cudnnHandle_t>(&machine());
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t, cudaStream_t s) {
  stream_of(s);
  stream = s;
  return CUDNN_STATUS_SUCCESS;
}
std::size_t cudnnGetVersion() { return 91900; }
const char* cudnnGetErrorString(cudnnStatus_t status) {
  if (status == CUDNN_STATUS_BAD_PARAM) return "CUDNN_STATUS_BAD_PARAM";
  return status == CUDNN_STATUS_EXECUTION_FAILED ? "CUDNN_STATUS_EXECUTION_FAILED" : "CUDNN_STATUS_NOT_SUPPORTED";
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* d) { return make<Tensor>(d); }
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t d) { return drop<Tensor>(d); }
cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t d, cudnnTensorFormat_t format, cudnnDataType_t type, int n,
                                         int c, int h, int w) {
  if (n < 1 || c < 1 || h < 1 || w < 1) return CUDNN_STATUS_BAD_PARAM;
  alive<Tensor>(d) = {type, format, size(n), size(c), size(h), size(w)};
  // "The total size of a tensor including the potential padding between dimensions is limited to 2 Giga-elements".
  return alive<Tensor>(d).bytes() / alive<Tensor>(d).width() < (std::size_t{1} << 31) ? CUDNN_STATUS_SUCCESS
                                                                                      : CUDNN_STATUS_NOT_SUPPORTED;
}
cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t d, cudnnDataType_t type, int count, const int* extents,
                                         const int* strides) {
  if (count != 3 || strides[2] != 1) return CUDNN_STATUS_BAD_PARAM;
  alive<Tensor>(d) = {type, CUDNN_TENSOR_NCHW, size(extents[0]), size(extents[1]), size(extents[2]), 1};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t* d) { return make<Tensor>(d); }
cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t d) { return drop<Tensor>(d); }
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t d, cudnnDataType_t type, cudnnTensorFormat_t format, int k,
                                         int c, int h, int w) {
  if (k < 1 || c < 1 || h < 1 || w < 1) return CUDNN_STATUS_BAD_PARAM;
  alive<Tensor>(d) = {type, format, size(k), size(c), size(h), size(w)};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t* d) { return make<Convolution>(d); }
cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t d) { return drop<Convolution>(d); }
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t d, int pad_h, int pad_w, int u, int v, int dilation_h,
                                              int dilation_w, cudnnConvolutionMode_t, cudnnDataType_t compute) {
  if (pad_h < 0 || pad_w < 0 || u < 1 || v < 1 || dilation_h < 1 || dilation_w < 1) return CUDNN_STATUS_BAD_PARAM;
  if (compute != CUDNN_DATA_FLOAT) return CUDNN_STATUS_NOT_SUPPORTED;
  alive<Convolution>(d) = {size(pad_h), size(pad_w), size(u), size(v), size(dilation_h), size(dilation_w), 1, CUDNN_DEFAULT_MATH};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t d, int groups) {
  alive<Convolution>(d).groups = size(groups);
  return groups > 0 ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t d, cudnnMathType_t math) {
  alive<Convolution>(d).math = math;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolution2dForwardOutputDim(const cudnnConvolutionDescriptor_t conv, const cudnnTensorDescriptor_t x,
                                                    const cudnnFilterDescriptor_t w, int* n, int* c, int* h, int* wide) {
  Tensor y;
  if (!fits(alive<Tensor>(x), alive<Tensor>(w), alive<Convolution>(conv), y)) return CUDNN_STATUS_BAD_PARAM;
  *n = static_cast<int>(y.n);
  *c = static_cast<int>(y.c);
  *h = static_cast<int>(y.h);
  *wide = static_cast<int>(y.w);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t x,
                                                     const cudnnFilterDescriptor_t w, const cudnnConvolutionDescriptor_t conv,
                                                     const cudnnTensorDescriptor_t y, const int wanted, int* count,
                                                     cudnnConvolutionFwdAlgoPerf_t* results) {
  return rank(0, alive<Tensor>(x), alive<Tensor>(w), alive<Convolution>(conv), alive<Tensor>(y), wanted, count, results);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t, const cudnnFilterDescriptor_t w,
                                                          const cudnnTensorDescriptor_t dy,
                                                          const cudnnConvolutionDescriptor_t conv,
                                                          const cudnnTensorDescriptor_t dx, const int wanted, int* count,
                                                          cudnnConvolutionBwdDataAlgoPerf_t* results) {
  return rank(1, alive<Tensor>(dx), alive<Tensor>(w), alive<Convolution>(conv), alive<Tensor>(dy), wanted, count, results);
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t x,
                                                            const cudnnTensorDescriptor_t dy,
                                                            const cudnnConvolutionDescriptor_t conv,
                                                            const cudnnFilterDescriptor_t dw, const int wanted, int* count,
                                                            cudnnConvolutionBwdFilterAlgoPerf_t* results) {
  return rank(2, alive<Tensor>(x), alive<Tensor>(dw), alive<Convolution>(conv), alive<Tensor>(dy), wanted, count, results);
}
cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t, const void*, const cudnnTensorDescriptor_t x, const void* x_data,
                                      const cudnnFilterDescriptor_t w, const void* w_data,
                                      const cudnnConvolutionDescriptor_t conv, cudnnConvolutionFwdAlgo_t algorithm,
                                      void* workspace, std::size_t bytes, const void*, const cudnnTensorDescriptor_t y,
                                      void* y_data) {
  reads(x_data, alive<Tensor>(x).bytes(), stream, "convolution input");
  reads(w_data, alive<Tensor>(w).bytes(), stream, "convolution filter");
  writes(y_data, alive<Tensor>(y).bytes(), stream, "convolution output");
  return convolve(0, alive<Tensor>(x), alive<Tensor>(w), alive<Convolution>(conv), alive<Tensor>(y), algorithm, workspace, bytes);
}
cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t, const void*, const cudnnFilterDescriptor_t w, const void* w_data,
                                           const cudnnTensorDescriptor_t dy, const void* dy_data,
                                           const cudnnConvolutionDescriptor_t conv, cudnnConvolutionBwdDataAlgo_t algorithm,
                                           void* workspace, std::size_t bytes, const void*, const cudnnTensorDescriptor_t dx,
                                           void* dx_data) {
  reads(dy_data, alive<Tensor>(dy).bytes(), stream, "convolution gradient");
  reads(w_data, alive<Tensor>(w).bytes(), stream, "convolution filter");
  writes(dx_data, alive<Tensor>(dx).bytes(), stream, "convolution input gradient");
  return convolve(1, alive<Tensor>(dx), alive<Tensor>(w), alive<Convolution>(conv), alive<Tensor>(dy), algorithm, workspace,
                  bytes);
}
cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t, const void*, const cudnnTensorDescriptor_t x, const void* x_data,
                                             const cudnnTensorDescriptor_t dy, const void* dy_data,
                                             const cudnnConvolutionDescriptor_t conv, cudnnConvolutionBwdFilterAlgo_t algorithm,
                                             void* workspace, std::size_t bytes, const void*, const cudnnFilterDescriptor_t dw,
                                             void* dw_data) {
  reads(x_data, alive<Tensor>(x).bytes(), stream, "convolution input");
  reads(dy_data, alive<Tensor>(dy).bytes(), stream, "convolution gradient");
  writes(dw_data, alive<Tensor>(dw).bytes(), stream, "convolution filter gradient");
  return convolve(2, alive<Tensor>(x), alive<Tensor>(dw), alive<Convolution>(conv), alive<Tensor>(dy), algorithm, workspace,
                  bytes);
}

cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t, cudnnSoftmaxAlgorithm_t, cudnnSoftmaxMode_t, const void*,
                                  const cudnnTensorDescriptor_t x, const void* x_data, const void*,
                                  const cudnnTensorDescriptor_t y, void* y_data) {
  reads(x_data, alive<Tensor>(x).bytes(), stream, "softmax input");
  writes(y_data, alive<Tensor>(y).bytes(), stream, "softmax output");
  return move("made_up_softmax", 2 * alive<Tensor>(x).bytes());
}
cudnnStatus_t cudnnSoftmaxBackward(cudnnHandle_t, cudnnSoftmaxAlgorithm_t, cudnnSoftmaxMode_t, const void*,
                                   const cudnnTensorDescriptor_t y, const void* y_data, const cudnnTensorDescriptor_t dy,
                                   const void* dy_data, const void*, const cudnnTensorDescriptor_t dx, void* dx_data) {
  reads(y_data, alive<Tensor>(y).bytes(), stream, "softmax output");
  reads(dy_data, alive<Tensor>(dy).bytes(), stream, "softmax gradient");
  writes(dx_data, alive<Tensor>(dx).bytes(), stream, "softmax input gradient");
  return move("made_up_softmax", 3 * alive<Tensor>(y).bytes());
}

cudnnStatus_t cudnnDeriveBNTensorDescriptor(cudnnTensorDescriptor_t stats, const cudnnTensorDescriptor_t x,
                                            cudnnBatchNormMode_t) {
  alive<Tensor>(stats) = {CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, alive<Tensor>(x).c, 1, 1};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBatchNormalizationForwardTraining(cudnnHandle_t, cudnnBatchNormMode_t, const void*, const void*,
                                                     const cudnnTensorDescriptor_t x, const void* x_data,
                                                     const cudnnTensorDescriptor_t y, void* y_data,
                                                     const cudnnTensorDescriptor_t stats, const void* scale, const void* bias,
                                                     double factor, void* running_mean, void* running_variance, double epsilon,
                                                     void* mean, void* variance) {
  if ((running_mean == nullptr) != (running_variance == nullptr) || epsilon < CUDNN_BN_MIN_EPSILON || factor <= 0.0)
    return CUDNN_STATUS_BAD_PARAM;
  const std::size_t bytes = alive<Tensor>(stats).bytes();
  for (const void* p : {scale, bias, static_cast<const void*>(mean), static_cast<const void*>(variance)})
    reads(p, bytes, stream, "batch norm");
  reads(x_data, alive<Tensor>(x).bytes(), stream, "batch norm input");
  writes(y_data, alive<Tensor>(y).bytes(), stream, "batch norm output");
  saved_statistics().insert({mean, variance});
  return move("made_up_batch_norm", 3 * alive<Tensor>(x).bytes());
}
cudnnStatus_t cudnnBatchNormalizationBackward(cudnnHandle_t, cudnnBatchNormMode_t, const void*, const void*, const void*,
                                              const void*, const cudnnTensorDescriptor_t x, const void* x_data,
                                              const cudnnTensorDescriptor_t dy, const void* dy_data,
                                              const cudnnTensorDescriptor_t dx, void* dx_data,
                                              const cudnnTensorDescriptor_t stats, const void* scale, void* scale_gradient,
                                              void* bias_gradient, double epsilon, const void* mean, const void* variance) {
  if ((mean == nullptr) != (variance == nullptr) || epsilon < CUDNN_BN_MIN_EPSILON) return CUDNN_STATUS_BAD_PARAM;
  for (const void* p : {scale, static_cast<const void*>(scale_gradient), static_cast<const void*>(bias_gradient)})
    reads(p, alive<Tensor>(stats).bytes(), stream, "batch norm");
  reads(x_data, alive<Tensor>(x).bytes(), stream, "batch norm input");
  reads(dy_data, alive<Tensor>(dy).bytes(), stream, "batch norm gradient");
  writes(dx_data, alive<Tensor>(dx).bytes(), stream, "batch norm input gradient");
  for (const void* gradient : {scale_gradient, bias_gradient}) {
    if (gradient == scale || gradient == mean || gradient == variance || scale_gradient == bias_gradient)
      refuse("batch norm: a gradient overwrites an operand");
  }
  if (mean != nullptr && (saved_statistics().count(mean) == 0 || saved_statistics().count(variance) == 0))
    refuse("batch norm: statistics that forward has not saved");
  // Without them it reads its input once more.
  return move("made_up_batch_norm", (mean != nullptr ? 5 : 6) * alive<Tensor>(x).bytes());
}

cudnnStatus_t cudnnCreatePoolingDescriptor(cudnnPoolingDescriptor_t* d) { return make<Pooling>(d); }
cudnnStatus_t cudnnDestroyPoolingDescriptor(cudnnPoolingDescriptor_t d) { return drop<Pooling>(d); }
cudnnStatus_t cudnnSetPooling2dDescriptor(cudnnPoolingDescriptor_t d, cudnnPoolingMode_t, cudnnNanPropagation_t, int r, int s,
                                          int pad, int, int stride_h, int) {
  if (pad >= r || pad >= s || stride_h < 1) return CUDNN_STATUS_BAD_PARAM;
  alive<Pooling>(d) = {size(r), size(s), size(pad), size(stride_h)};
  return CUDNN_STATUS_SUCCESS;
}
static bool pooled(const Pooling& p, const Tensor& x, const Tensor& y) {
  return y.h == (x.h + 2 * p.pad - p.r) / p.stride + 1 && y.w == (x.w + 2 * p.pad - p.s) / p.stride + 1 && x.c == y.c &&
         x.n == y.n;
}
cudnnStatus_t cudnnPoolingForward(cudnnHandle_t, const cudnnPoolingDescriptor_t d, const void*, const cudnnTensorDescriptor_t x,
                                  const void* x_data, const void*, const cudnnTensorDescriptor_t y, void* y_data) {
  if (!pooled(alive<Pooling>(d), alive<Tensor>(x), alive<Tensor>(y))) return CUDNN_STATUS_BAD_PARAM;
  reads(x_data, alive<Tensor>(x).bytes(), stream, "pool input");
  writes(y_data, alive<Tensor>(y).bytes(), stream, "pool output");
  return move("made_up_pool", alive<Tensor>(x).bytes() + alive<Tensor>(y).bytes());
}
cudnnStatus_t cudnnPoolingBackward(cudnnHandle_t, const cudnnPoolingDescriptor_t d, const void*, const cudnnTensorDescriptor_t y,
                                   const void* y_data, const cudnnTensorDescriptor_t dy, const void* dy_data,
                                   const cudnnTensorDescriptor_t x, const void* x_data, const void*,
                                   const cudnnTensorDescriptor_t dx, void* dx_data) {
  if (!pooled(alive<Pooling>(d), alive<Tensor>(x), alive<Tensor>(y))) return CUDNN_STATUS_BAD_PARAM;
  reads(y_data, alive<Tensor>(y).bytes(), stream, "pool output");
  reads(dy_data, alive<Tensor>(dy).bytes(), stream, "pool gradient");
  reads(x_data, alive<Tensor>(x).bytes(), stream, "pool input");
  writes(dx_data, alive<Tensor>(dx).bytes(), stream, "pool input gradient");
  return move("made_up_pool", 2 * alive<Tensor>(x).bytes() + 2 * alive<Tensor>(y).bytes());
}

cudnnStatus_t cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t* d) { return make<Dropout>(d); }
cudnnStatus_t cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t d) { return drop<Dropout>(d); }
cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t, std::size_t* bytes) {
  *bytes = 3'244'032;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDropoutGetReserveSpaceSize(cudnnTensorDescriptor_t x, std::size_t* bytes) {
  *bytes = alive<Tensor>(x).bytes() / alive<Tensor>(x).width() / 8 + 1;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t d, cudnnHandle_t, float, void* states, std::size_t bytes,
                                        unsigned long long) {
  if (bytes < 3'244'032) return CUDNN_STATUS_BAD_PARAM;
  writes(states, bytes, stream, "dropout states");
  alive<Dropout>(d).set = true;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDropoutForward(cudnnHandle_t, const cudnnDropoutDescriptor_t d, const cudnnTensorDescriptor_t x,
                                  const void* x_data, const cudnnTensorDescriptor_t y, void* y_data, void* reserve,
                                  std::size_t bytes) {
  if (!alive<Dropout>(d).set) return CUDNN_STATUS_BAD_PARAM;
  reads(x_data, alive<Tensor>(x).bytes(), stream, "dropout input");
  writes(y_data, alive<Tensor>(y).bytes(), stream, "dropout output");
  writes(reserve, bytes, stream, "dropout reserve");
  return move("made_up_dropout", 2 * alive<Tensor>(x).bytes());
}
cudnnStatus_t cudnnDropoutBackward(cudnnHandle_t handle, const cudnnDropoutDescriptor_t d, const cudnnTensorDescriptor_t dy,
                                   const void* dy_data, const cudnnTensorDescriptor_t dx, void* dx_data, void* reserve,
                                   std::size_t bytes) {
  return cudnnDropoutForward(handle, d, dy, dy_data, dx, dx_data, reserve, bytes);
}

cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t* d) { return make<Recurrent>(d); }
cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t d) { return drop<Recurrent>(d); }
cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t d, cudnnRNNAlgo_t, cudnnRNNMode_t cell, cudnnRNNBiasMode_t,
                                       cudnnDirectionMode_t direction, cudnnRNNInputMode_t mode, cudnnDataType_t type,
                                       cudnnDataType_t precision, cudnnMathType_t math, std::int32_t input, std::int32_t hidden,
                                       std::int32_t projection, std::int32_t layers, cudnnDropoutDescriptor_t dropout,
                                       std::uint32_t) {
  if (!alive<Dropout>(dropout).set || projection != hidden || precision != CUDNN_DATA_FLOAT || input < 1 || layers < 1 ||
      (mode == CUDNN_SKIP_INPUT && input != hidden))
    return CUDNN_STATUS_BAD_PARAM;
  alive<Recurrent>(d) = {size(input),
                         size(hidden),
                         size(layers),
                         direction == CUDNN_BIDIRECTIONAL ? std::size_t{2} : std::size_t{1},
                         cell == CUDNN_LSTM  ? std::size_t{4}
                         : cell == CUDNN_GRU ? std::size_t{3}
                                             : std::size_t{1},
                         type,
                         type != CUDNN_DATA_FLOAT,
                         math != CUDNN_FMA_MATH,
                         mode == CUDNN_SKIP_INPUT};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t* d) { return make<Sequences>(d); }
cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t d) { return drop<Sequences>(d); }
cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t d, cudnnDataType_t type, cudnnRNNDataLayout_t, int steps,
                                        int batch, int width, const int lengths[], void*) {
  for (int i = 0; i < batch; ++i) {
    if (lengths[i] < 1 || lengths[i] > steps) return CUDNN_STATUS_BAD_PARAM;
  }
  alive<Sequences>(d) = {type, size(steps), size(batch), size(width)};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t, cudnnRNNDescriptor_t d, std::size_t* bytes) {
  *bytes = weight_bytes(alive<Recurrent>(d));
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t, cudnnRNNDescriptor_t d, cudnnForwardMode_t, cudnnRNNDataDescriptor_t x,
                                        std::size_t* work, std::size_t* reserve) {
  *work = temporary(alive<Recurrent>(d), alive<Sequences>(x));
  *reserve = 2 * *work;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnRNNForward(cudnnHandle_t, cudnnRNNDescriptor_t d, cudnnForwardMode_t, const std::int32_t lengths[],
                              cudnnRNNDataDescriptor_t x, const void* x_data, cudnnRNNDataDescriptor_t y, void* y_data,
                              cudnnTensorDescriptor_t h, const void* hx, void* hy, cudnnTensorDescriptor_t c, const void* cx,
                              void* cy, std::size_t weights, const void* weight_data, std::size_t work, void* work_data,
                              std::size_t reserve, void* reserve_data) {
  reads(lengths, 4 * alive<Sequences>(x).batch, stream, "sequence lengths");
  reads(x_data, alive<Sequences>(x).bytes(), stream, "recurrent input");
  writes(y_data, alive<Sequences>(y).bytes(), stream, "recurrent output");
  for (const void* p : {hx, static_cast<const void*>(hy)}) reads(p, alive<Tensor>(h).bytes(), stream, "hidden state");
  for (const void* p : {cx, static_cast<const void*>(cy)}) reads(p, alive<Tensor>(c).bytes(), stream, "cell state");
  reads(weight_data, weights, stream, "recurrent weights");
  writes(work_data, work, stream, "recurrent workspace");
  writes(reserve_data, reserve, stream, "recurrent reserve");
  return step_through(alive<Recurrent>(d), alive<Sequences>(x), alive<Sequences>(y), alive<Tensor>(h), weights, work, reserve,
                      true);
}
cudnnStatus_t cudnnRNNBackwardData_v8(cudnnHandle_t, cudnnRNNDescriptor_t d, const std::int32_t lengths[],
                                      cudnnRNNDataDescriptor_t y, const void* y_data, const void* dy, cudnnRNNDataDescriptor_t x,
                                      void* dx, cudnnTensorDescriptor_t h, const void* hx, const void* dhy, void*,
                                      cudnnTensorDescriptor_t c, const void* cx, const void* dcy, void*, std::size_t weights,
                                      const void* weight_data, std::size_t work, void* work_data, std::size_t reserve,
                                      void* reserve_data) {
  reads(lengths, 4 * alive<Sequences>(x).batch, stream, "sequence lengths");
  reads(y_data, alive<Sequences>(y).bytes(), stream, "recurrent output");
  reads(dy, alive<Sequences>(y).bytes(), stream, "recurrent gradient");
  writes(dx, alive<Sequences>(x).bytes(), stream, "recurrent input gradient");
  for (const void* p : {hx, dhy}) reads(p, alive<Tensor>(h).bytes(), stream, "hidden state");
  for (const void* p : {cx, dcy}) reads(p, alive<Tensor>(c).bytes(), stream, "cell state");
  reads(weight_data, weights, stream, "recurrent weights");
  writes(work_data, work, stream, "recurrent workspace");
  writes(reserve_data, reserve, stream, "recurrent reserve");
  return step_through(alive<Recurrent>(d), alive<Sequences>(x), alive<Sequences>(y), alive<Tensor>(h), weights, work, reserve,
                      true);
}
cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t, cudnnRNNDescriptor_t d, cudnnWgradMode_t, const std::int32_t lengths[],
                                         cudnnRNNDataDescriptor_t x, const void* x_data, cudnnTensorDescriptor_t h,
                                         const void* hx, cudnnRNNDataDescriptor_t y, const void* y_data, std::size_t weights,
                                         void* gradient, std::size_t work, void* work_data, std::size_t reserve,
                                         void* reserve_data) {
  reads(lengths, 4 * alive<Sequences>(x).batch, stream, "sequence lengths");
  reads(x_data, alive<Sequences>(x).bytes(), stream, "recurrent input");
  reads(y_data, alive<Sequences>(y).bytes(), stream, "recurrent output");
  reads(hx, alive<Tensor>(h).bytes(), stream, "hidden state");
  writes(gradient, weights, stream, "recurrent weight gradient");
  writes(work_data, work, stream, "recurrent workspace");
  writes(reserve_data, reserve, stream, "recurrent reserve");
  return step_through(alive<Recurrent>(d), alive<Sequences>(x), alive<Sequences>(y), alive<Tensor>(h), weights, work, reserve,
                      false);
}
}
#endif
