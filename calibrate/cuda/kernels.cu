#include "calibrate/cuda/kernels.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace tbdsim::calibrate {
namespace {

constexpr int kBlock = 256;

unsigned blocks_for(std::size_t items) {
  constexpr std::size_t kMost = 1u << 20;  // a grid-stride loop does the rest
  const std::size_t blocks = (items + kBlock - 1) / kBlock;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks < kMost ? blocks : kMost);
}

// Groups of 16 bytes: one memory transaction a thread.
template <class T>
struct alignas(16) Pack {
  T value[16 / sizeof(T)];
};

__device__ float widen(float v) { return v; }
__device__ float widen(__half v) { return __half2float(v); }
__device__ float widen(__nv_bfloat16 v) { return __bfloat162float(v); }
__device__ void narrow(float v, float& out) { out = v; }
__device__ void narrow(float v, __half& out) { out = __float2half(v); }
__device__ void narrow(float v, __nv_bfloat16& out) { out = __float2bfloat16(v); }

__device__ float apply(Elementwise op, float a, float b) {
  switch (op) {
    case Elementwise::add:
      return a + b;
    case Elementwise::sub:
      return a - b;
    case Elementwise::mul:
      return a * b;
    case Elementwise::div:
      return a / b;
    case Elementwise::pow:
      return powf(fabsf(a), b);
    case Elementwise::relu:
      return a > 0.0f ? a : 0.0f;
    case Elementwise::gelu:
      return 0.5f * a * (1.0f + erff(a * 0.70710678f));
    case Elementwise::tanh:
      return tanhf(a);
    case Elementwise::sigmoid:
      return 1.0f / (1.0f + expf(-a));
  }
  return a;
}

template <class T, Elementwise kOp, bool kTwo>
__global__ void elementwise(const T* a, const T* b, T* out, std::size_t elements) {
  constexpr int kWidth = 16 / sizeof(T);
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t packs = elements / kWidth;
  for (std::size_t i = first; i < packs; i += stride) {
    const Pack<T> x = reinterpret_cast<const Pack<T>*>(a)[i];
    Pack<T> y = {};
    if (kTwo) y = reinterpret_cast<const Pack<T>*>(b)[i];
    Pack<T> r;
    for (int j = 0; j < kWidth; ++j) narrow(apply(kOp, widen(x.value[j]), kTwo ? widen(y.value[j]) : 1.5f), r.value[j]);
    reinterpret_cast<Pack<T>*>(out)[i] = r;
  }
  for (std::size_t i = packs * kWidth + first; i < elements; i += stride)
    narrow(apply(kOp, widen(a[i]), kTwo ? widen(b[i]) : 1.5f), out[i]);
}

__device__ float block_sum(float value) {
  __shared__ float part[32];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
  __syncthreads();
  value = 0.0f;
  for (unsigned i = 0; i < blockDim.x / 32; ++i) value += part[i];
  return value;
}

template <class T>
__global__ void layer_norm(const T* in, const T* gamma, T* out, int cols) {
  const T* row = in + std::size_t{blockIdx.x} * cols;
  float sum = 0.0f, square = 0.0f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    const float v = widen(row[i]);
    sum += v;
    square += v * v;
  }
  const float mean = block_sum(sum) / cols;
  const float scale = rsqrtf(block_sum(square) / cols - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < cols; i += blockDim.x)
    narrow((widen(row[i]) - mean) * scale * widen(gamma[i]), out[std::size_t{blockIdx.x} * cols + i]);
}

template <class T>
__global__ void layer_norm_backward(const T* in, const T* gradient, const T* gamma, T* out, int cols) {
  const std::size_t base = std::size_t{blockIdx.x} * cols;
  float sum = 0.0f, square = 0.0f, g = 0.0f, gx = 0.0f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    const float v = widen(in[base + i]), d = widen(gradient[base + i]) * widen(gamma[i]);
    sum += v;
    square += v * v;
    g += d;
    gx += d * v;
  }
  const float mean = block_sum(sum) / cols;
  const float scale = rsqrtf(block_sum(square) / cols - mean * mean + 1e-5f);
  g = block_sum(g) / cols;
  gx = (block_sum(gx) / cols - mean * g) * scale;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    const float x = (widen(in[base + i]) - mean) * scale, d = widen(gradient[base + i]) * widen(gamma[i]);
    narrow(scale * (d - g - x * gx), out[base + i]);
  }
}

template <class T>
__global__ void embedding(const T* table, const unsigned* index, T* out, int width) {
  const std::size_t from = std::size_t{index[blockIdx.x]} * width, to = std::size_t{blockIdx.x} * width;
  for (int i = threadIdx.x; i < width; i += blockDim.x) out[to + i] = table[from + i];
}

__global__ void embedding_backward(float* table, const unsigned* index, const float* gradient, int width) {
  const std::size_t to = std::size_t{index[blockIdx.x]} * width, from = std::size_t{blockIdx.x} * width;
  for (int i = threadIdx.x; i < width; i += blockDim.x) atomicAdd(table + to + i, gradient[from + i]);
}

template <class T>
__global__ void sum_all(const T* in, float* out, std::size_t elements) {
  float sum = 0.0f;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < elements; i += stride) sum += widen(in[i]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

template <int kStates>
__global__ void optimizer(float* weight, const float* gradient, float* first, float* second, std::size_t elements) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < elements; i += stride) {
    float step = gradient[i];
    if (kStates == 1) first[i] = step = 0.9f * first[i] + step;
    if (kStates == 2) {
      const float m = first[i] = 0.9f * first[i] + 0.1f * step;
      const float v = second[i] = 0.999f * second[i] + 0.001f * step * step;
      step = m / (sqrtf(v) + 1e-8f);
    }
    weight[i] -= 1e-6f * step;
  }
}

__global__ void tbdsim_mark() {}
__global__ void tbdsim_empty() {}
__global__ void tbdsim_busy(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}
__global__ void tbdsim_flush(float4* scratch, std::size_t count) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    scratch[i] = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
}

/// A hash of the index: the same data on every run and device.
__device__ unsigned scramble(std::size_t i) {
  unsigned x = static_cast<unsigned>(i) * 2654435761u ^ static_cast<unsigned>(i >> 32);
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x *= 0x846ca68bu;
  return x ^ (x >> 16);
}
__device__ float uniform(std::size_t i) { return static_cast<float>(scramble(i)) * 4.6566129e-10f - 1.0f; }

template <class T>
__global__ void random_numbers(T* out, std::size_t count) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) narrow(uniform(i), out[i]);
}
__global__ void random_bytes(unsigned char* out, std::size_t count) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  // Exponents of all ones would be NaN in an 8-bit format: keep magnitudes below.
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    out[i] = static_cast<unsigned char>(scramble(i) & 0xb7u);
}
__global__ void random_index(unsigned* out, std::size_t count, unsigned range) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) out[i] = scramble(i) % range;
}

template <class T, Elementwise kOp>
void start(const ElementwiseCall& call, cudaStream_t stream) {
  const auto* a = static_cast<const T*>(call.a);
  const auto* b = static_cast<const T*>(call.b);
  auto* out = static_cast<T*>(call.out);
  const unsigned blocks = blocks_for(call.elements * sizeof(T) / 16);
  if (b != nullptr)
    elementwise<T, kOp, true><<<blocks, kBlock, 0, stream>>>(a, b, out, call.elements);
  else
    elementwise<T, kOp, false><<<blocks, kBlock, 0, stream>>>(a, b, out, call.elements);
}

template <class T>
void start(const ElementwiseCall& call, cudaStream_t stream) {
  using E = Elementwise;
  switch (call.op) {
    case E::add:
      return start<T, E::add>(call, stream);
    case E::sub:
      return start<T, E::sub>(call, stream);
    case E::mul:
      return start<T, E::mul>(call, stream);
    case E::div:
      return start<T, E::div>(call, stream);
    case E::pow:
      return start<T, E::pow>(call, stream);
    case E::relu:
      return start<T, E::relu>(call, stream);
    case E::gelu:
      return start<T, E::gelu>(call, stream);
    case E::tanh:
      return start<T, E::tanh>(call, stream);
    case E::sigmoid:
      return start<T, E::sigmoid>(call, stream);
  }
}

/// Calls `f` with a null pointer of the element's type.
template <class F>
void with_type(Element element, F f) {
  switch (element) {
    case Element::fp32:
      return f(static_cast<float*>(nullptr));
    case Element::fp16:
      return f(static_cast<__half*>(nullptr));
    case Element::bf16:
      return f(static_cast<__nv_bfloat16*>(nullptr));
  }
}

}  // namespace

void launch_elementwise(const ElementwiseCall& call, cudaStream_t stream) {
  with_type(call.element, [&](auto* type) { start<std::remove_pointer_t<decltype(type)>>(call, stream); });
}

void launch_layer_norm(Element element, const void* in, const void* gamma, void* out, int rows, int cols, cudaStream_t stream) {
  with_type(element, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    layer_norm<T><<<rows, kBlock, 0, stream>>>(static_cast<const T*>(in), static_cast<const T*>(gamma), static_cast<T*>(out), cols);
  });
}

void launch_layer_norm_backward(Element element, const void* in, const void* gradient, const void* gamma, void* out, int rows,
                                int cols, cudaStream_t stream) {
  with_type(element, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    layer_norm_backward<T><<<rows, kBlock, 0, stream>>>(static_cast<const T*>(in), static_cast<const T*>(gradient),
                                                         static_cast<const T*>(gamma), static_cast<T*>(out), cols);
  });
}

void launch_embedding(Element element, const void* table, const unsigned* index, void* out, int lookups, int width,
                      cudaStream_t stream) {
  with_type(element, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    embedding<T><<<lookups, kBlock, 0, stream>>>(static_cast<const T*>(table), index, static_cast<T*>(out), width);
  });
}

void launch_embedding_backward(float* table, const unsigned* index, const float* gradient, int lookups, int width,
                               cudaStream_t stream) {
  embedding_backward<<<lookups, kBlock, 0, stream>>>(table, index, gradient, width);
}

void launch_sum(Element element, const void* in, float* out, std::size_t elements, cudaStream_t stream) {
  constexpr unsigned kBlocks = 2048;
  const unsigned blocks = blocks_for(elements) < kBlocks ? blocks_for(elements) : kBlocks;
  with_type(element, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    sum_all<T><<<blocks, kBlock, 0, stream>>>(static_cast<const T*>(in), out, elements);
  });
}

void launch_optimizer(int states, float* weight, const float* gradient, float* first, float* second, std::size_t elements,
                      cudaStream_t stream) {
  const unsigned blocks = blocks_for(elements);
  if (states == 0)
    optimizer<0><<<blocks, kBlock, 0, stream>>>(weight, gradient, first, second, elements);
  else if (states == 1)
    optimizer<1><<<blocks, kBlock, 0, stream>>>(weight, gradient, first, second, elements);
  else
    optimizer<2><<<blocks, kBlock, 0, stream>>>(weight, gradient, first, second, elements);
}

void launch_mark(cudaStream_t stream) { tbdsim_mark<<<1, 1, 0, stream>>>(); }
void launch_flush(void* scratch, std::size_t bytes, cudaStream_t stream) {
  tbdsim_flush<<<blocks_for(bytes / 16), kBlock, 0, stream>>>(static_cast<float4*>(scratch), bytes / 16);
}
void launch_busy(long long cycles, cudaStream_t stream) { tbdsim_busy<<<1, 1, 0, stream>>>(cycles); }
void launch_empty(cudaStream_t stream) { tbdsim_empty<<<1, 1, 0, stream>>>(); }

void launch_random_fp32(float* out, std::size_t count, cudaStream_t stream) {
  random_numbers<<<blocks_for(count), kBlock, 0, stream>>>(out, count);
}
void launch_random_16(void* out, std::size_t count, bool bf16, cudaStream_t stream) {
  if (bf16)
    random_numbers<<<blocks_for(count), kBlock, 0, stream>>>(static_cast<__nv_bfloat16*>(out), count);
  else
    random_numbers<<<blocks_for(count), kBlock, 0, stream>>>(static_cast<__half*>(out), count);
}
void launch_random_8(void* out, std::size_t count, cudaStream_t stream) {
  random_bytes<<<blocks_for(count), kBlock, 0, stream>>>(static_cast<unsigned char*>(out), count);
}
void launch_random_index(unsigned* out, std::size_t count, unsigned range, cudaStream_t stream) {
  random_index<<<blocks_for(count), kBlock, 0, stream>>>(out, count, range);
}

}  // namespace tbdsim::calibrate
