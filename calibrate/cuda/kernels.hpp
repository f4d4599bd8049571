#pragma once
// Kernels of the collector itself: plain forms of what frameworks launch where no library does it. 16-bit forms compute in
// fp32. All return at once; errors show in cudaGetLastError().
#include <cuda_runtime_api.h>

#include <cstddef>

namespace tbdsim::calibrate {

enum class Element { fp32, fp16, bf16 };
enum class Elementwise { add, sub, mul, div, pow, relu, gelu, tanh, sigmoid };

/// Operands of an elementwise kernel: `inputs` arrays of `elements` (1: the second operand is a scalar).
struct ElementwiseCall {
  Elementwise op = Elementwise::add;
  Element element = Element::fp32;
  const void* a = nullptr;
  const void* b = nullptr;  ///< null: scalar
  void* out = nullptr;
  std::size_t elements = 0;
};
void launch_elementwise(const ElementwiseCall& call, cudaStream_t stream);

/// Normalises `rows` rows of `cols`; backward gives the input's gradient (the weights' gradient needs a reduction of its own).
void launch_layer_norm(Element element, const void* in, const void* gamma, void* out, int rows, int cols, cudaStream_t stream);
void launch_layer_norm_backward(Element element, const void* in, const void* gradient, const void* gamma, void* out, int rows,
                                int cols, cudaStream_t stream);
/// out[i] = table[index[i]] ; backward adds atomically.
void launch_embedding(Element element, const void* table, const unsigned* index, void* out, int lookups, int width,
                      cudaStream_t stream);
void launch_embedding_backward(float* table, const unsigned* index, const float* gradient, int lookups, int width,
                               cudaStream_t stream);
/// Sum of an array into one number.
void launch_sum(Element element, const void* in, float* out, std::size_t elements, cudaStream_t stream);
/// SGD (0 states), momentum (1) or Adam (2) on fp32 arrays.
void launch_optimizer(int states, float* weight, const float* gradient, float* first, float* second, std::size_t elements,
                      cudaStream_t stream);

/// Marks the start of a repetition; `tbdsim_mark` in the records.
void launch_mark(cudaStream_t stream);
/// Overwrites `bytes` of scratch, so that the L2 cache holds nothing else; `tbdsim_flush` in the records.
void launch_flush(void* scratch, std::size_t bytes, cudaStream_t stream);
/// Keeps the device busy for so many cycles of its clock, while the host enqueues what follows.
void launch_busy(long long cycles, cudaStream_t stream);
/// An empty kernel; `tbdsim_empty` in the records.
void launch_empty(cudaStream_t stream);

void launch_random_fp32(float* out, std::size_t count, cudaStream_t stream);
void launch_random_16(void* out, std::size_t count, bool bf16, cudaStream_t stream);
void launch_random_8(void* out, std::size_t count, cudaStream_t stream);
void launch_random_index(unsigned* out, std::size_t count, unsigned range, cudaStream_t stream);

}  // namespace tbdsim::calibrate
