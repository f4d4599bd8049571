#pragma once
#include "model/prediction/predict.hpp"

namespace tbdsim {

/// Round figures, so that shares and sums are seen at a glance; not what any model predicts.
inline Prediction example_prediction() {
  Prediction p;
  p.job.hardware = "dgx1";
  p.job.device = "v100-sxm2-16gb";
  p.job.model = "resnet50";
  p.job.variant = "torchvision";
  p.job.stack = "pytorch-2.1";
  p.job.precision = "fp32";
  p.job.exchange = Exchange::allreduce;
  p.job.optimizer = "sgd-momentum";
  p.samples.input = "synthetic";
  p.samples.unit = "image";
  p.samples.text = "image 3x224x224";
  p.job.gpus = 8;
  p.job.batch_per_gpu = 32;
  p.job.global_batch = 256;
  p.start_up = Seconds(10.0);
  p.step_time = {Seconds(0.1), Seconds(0.08), Seconds(0.125)};
  p.throughput = {2560.0, 2048.0, 3200.0};
  p.phases.forward = Seconds(0.03);
  p.phases.backward = Seconds(0.06);
  p.phases.weight_update = Seconds(0.001);
  p.phases.exchange_total = Seconds(0.02);
  p.phases.exchange_exposed = Seconds(0.005);
  p.phases.host_exposed = Seconds(0.004);
  p.utilization = {0.91, 0.5, 0.0, 0.455, 0.008};
  p.memory.capacity = Bytes(17e9);
  GpuMemory gpu;
  gpu.peak = Bytes(4e9);
  gpu.low = Bytes(3.5e9);
  gpu.high = Bytes(4.5e9);
  gpu.parts[MemoryPart::feature_maps] = Bytes(3e9);
  gpu.parts[MemoryPart::context] = Bytes(0.6e9);
  gpu.parts[MemoryPart::weights] = Bytes(0.4e9);
  p.memory.gpus.assign(8, gpu);
  for (int i = 0; i < 8; ++i) p.memory.gpus[static_cast<std::size_t>(i)].gpu = i;
  p.limits = {{Resource::gpu_compute, 0.9, "90 % of the step is arithmetic"}, {Resource::host, 0.1, "10 % of the step waits"}};
  p.limit = p.limits.front();
  p.provenance = {{"device v100-sxm2-16gb", "datasheet", "a sheet"}, {"stack pytorch-2.1", "assumed", "a guess"}};
  return p;
}

}  // namespace tbdsim
