// A program to be profiled on the made-up GPU: every iteration copies a batch, runs four kernels and copies a number back.
#include <csignal>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "calibrate/cuda/device_memory.hpp"
#include "calibrate/cuda/kernels.hpp"

using namespace tbdsim::calibrate;

// usage: train [ITERATIONS [killed]]; without iterations it only starts the driver, as a launcher does.
int main(int arguments, char** words) {
  constexpr std::size_t kElements = 1 << 20, kBytes = 4 * kElements;
  const int iterations = arguments > 1 ? std::atoi(words[1]) : 0;
  int count = 0;
  check(cudaGetDeviceCount(&count));
  if (iterations == 0) return 0;
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  float *data = nullptr, *out = nullptr, *sum = nullptr;
  check(cudaMalloc(reinterpret_cast<void**>(&data), kBytes));
  check(cudaMalloc(reinterpret_cast<void**>(&out), kBytes));
  check(cudaMalloc(reinterpret_cast<void**>(&sum), 256));
  std::vector<float> batch(kElements);
  std::iota(batch.begin(), batch.end(), 0.0f);
  for (int i = 0; i < iterations; ++i) {
    check(cudaMemcpyAsync(data, batch.data(), kBytes, cudaMemcpyHostToDevice, stream));
    launch_elementwise({Elementwise::relu, Element::fp32, data, nullptr, out, kElements}, stream);
    launch_elementwise({Elementwise::add, Element::fp32, data, out, out, kElements}, stream);
    check(cudaMemsetAsync(sum, 0, 4, stream));
    launch_sum(Element::fp32, out, sum, kElements, stream);
    launch_optimizer(1, data, out, out, out, 1024, stream);
    check(cudaMemcpyAsync(batch.data(), sum, 4, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
  }
  if (arguments > 2) std::raise(SIGKILL);
  for (float* pointer : {data, out, sum}) check(cudaFree(pointer));
  check(cudaStreamDestroy(stream));
}
