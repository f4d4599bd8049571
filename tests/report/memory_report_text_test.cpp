// Tables and CSV of a memory report made by hand.
#include "model/report/memory_report_text.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

MemoryReport example() {
  MemoryReport r;
  r.hardware = r.device = "v100";
  r.model = "net";
  r.variant = "mxnet";
  r.stack = "mxnet-1.2";
  r.precision = "fp32";
  r.exchange = Exchange::allreduce;
  r.optimizer = "sgd";
  r.batch_per_gpu = 4;
  GpuMemory gpu;
  gpu.pre_training = Bytes(1e9);
  gpu.allocated = Bytes(2e9);
  gpu.reserved = Bytes(3e9);
  gpu.peak = Bytes(4e9);
  gpu.low = Bytes(3.5e9);
  gpu.high = Bytes(4.5e9);
  gpu.parts[MemoryPart::feature_maps] = Bytes(3e9);
  gpu.parts[MemoryPart::optimizer_state] = Bytes(1e9);
  r.memory = {Bytes(3e9), Bytes(0.0), false, {gpu}};
  r.lower_bound = Bytes(1.5e9);
  r.peak_layer = "conv1";
  r.layers = {{"conv1", "convolution", "64x8x8", gpu.parts}};
  r.peak_phase = Phase::forward;
  r.moments = {{"conv1", Phase::forward, Bytes(1e9)}, {"conv1", Phase::backward, Bytes(2e9)}};
  r.reductions = {{"less", "do less", Bytes(2e9), Bytes(2e9), true}};
  r.largest = LargestBatch{};
  r.largest->batch = 2;
  r.largest->next = 3;
  r.largest->peak = Bytes(2.9e9);
  r.largest->next_peak = Bytes(3.1e9);
  r.largest->probability = 0.6;
  r.largest->larger = OtherBatch{5, Bytes(2.8e9)};
  return r;
}

}  // namespace

TEST_CASE("memory by structure, with verdict, reductions and largest batch") {
  CHECK(memory_table(example(), MemoryView::structure) ==
        R"(net (mxnet), batch 4 per GPU, fp32, sgd on 1 x v100, mxnet-1.2

Memory of each GPU of a node, of 3 GB: before training and at the peak of a step
GPU  before  allocated  reserved  nvidia-smi       80 % range               fits
0      1 GB       2 GB      3 GB        4 GB  3.5 GB - 4.5 GB  NO, 1 GB too much

By structure, GPU 0, at the peak
Part             size  share
feature maps     3 GB   75 %
optimiser state  1 GB   25 %
Most memory is in use while conv1 runs forward; its arrays alone take 1.5 GB

What would reduce it  gain  peak  fits
less                  2 GB  2 GB  yes   do less

Largest batch per GPU: 2 (2.9 GB, fits with a probability of 60 %); 3 needs
3.1 GB
Larger ones fit, such as 5 (2.8 GB), but not all up to there: workspaces and
blocks differ
No batch fits with a probability of 90 %
Peaks do not grow evenly with the batch: blocks are rounded and split, and
workspaces change with the algorithm, so that a batch may need less than a
smaller one. A size near the capacity may fit where the next one does not.
)");
}

TEST_CASE("of several micro-batches to an update the largest is one of them, and their product is told") {
  MemoryReport r = example();
  r.accumulate = r.largest->micro_batches = 8;
  r.largest->larger.reset();
  r.largest->safe_batch = 1;
  const std::string text = memory_table(r, MemoryView::structure);
  CHECK(text.find(R"(
Largest micro-batch per GPU: 2 (2.9 GB, fits with a probability of 60 %);
3 needs 3.1 GB. 8 of them make a batch of 16 per GPU
Every micro-batch up to 1 fits with a probability of at least 90 %
)") != std::string::npos);
  r.largest->next = 0;
  r.largest->micro_batches = 1;
  CHECK(memory_table(r, MemoryView::structure).find(R"(
Largest micro-batch per GPU: 2 (2.9 GB, fits with a probability of 60 %), which
is all of an update
)") != std::string::npos);
}

TEST_CASE("memory over time: the bar is the share of the fullest moment") {
  MemoryReport r = example();
  r.reductions.clear();
  r.largest.reset();
  const std::string text = memory_table(r, MemoryView::time);
  CHECK(text.find("conv1  forward     1 GB  ###############\n") != std::string::npos);
  CHECK(text.find("conv1  backward    2 GB  ##############################\n") != std::string::npos);
}

TEST_CASE("ZeRO with one copy of the network says that it does nothing") {
  MemoryReport r = example();
  r.zero = 1;
  CHECK(memory_table(r, MemoryView::structure).find("sgd, ZeRO 1 without effect: one copy") != std::string::npos);
  r.gpus = r.layout.data = 2;
  CHECK(memory_table(r, MemoryView::structure).find("sgd, ZeRO 1 on 2 x v100") != std::string::npos);
}

TEST_CASE("the largest batch as CSV is one row, with the larger one that fits if there is any") {
  const std::string header =
      "max_batch_per_gpu,low,high,peak_bytes,probability_of_fitting,next_peak_bytes,batch_per_gpu_with_probability_90,"
      "larger_that_fits,larger_peak_bytes\n";
  LargestBatch largest = *example().largest;
  CHECK(largest_batch_csv(largest) == header + "2,0,0,2900000000,0.6,3100000000,0,5,2800000000\n");
  largest.larger.reset();
  CHECK(largest_batch_csv(largest) == header + "2,0,0,2900000000,0.6,3100000000,0,,\n");
}

TEST_CASE("memory as CSV holds every part, layer and moment") {
  CHECK(memory_csv(example(), MemoryView::time) ==
        "position,layer,pass,live_bytes\n0,conv1,forward,1000000000\n1,conv1,backward,2000000000\n");
  CHECK(memory_csv(example(), MemoryView::layer).find("conv1,convolution,64x8x8,4000000000,") != std::string::npos);
  CHECK(memory_csv(example(), MemoryView::structure).find("0,feature_maps,3000000000\n") != std::string::npos);
}

TEST_CASE("what the fullest GPU holds more than the emptiest is told part by part") {
  MemoryReport r = example();
  r.gpus = 2;
  GpuMemory other = r.memory.gpus.front();
  other.gpu = 1;
  other.peak = Bytes(2.5e9);
  other.parts[MemoryPart::feature_maps] = Bytes(2e9);
  other.parts[MemoryPart::optimizer_state] = Bytes(0.5e9);
  r.memory.gpus.push_back(other);
  CHECK(memory_table(r, MemoryView::structure)
            .find("GPU 0 holds 1.5 GB more than GPU 1: feature maps 1 GB, optimiser state 500 MB\n") != std::string::npos);
  r.memory.gpus[1] = r.memory.gpus[0];
  CHECK(memory_table(r, MemoryView::structure).find("more than GPU") == std::string::npos);
}
