#include "model/report/predict_table.hpp"

#include "tests/catch.hpp"
#include "tests/report/example_prediction.hpp"

namespace tbdsim {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("A prediction for people, word by word") {
  CHECK(predict_table(example_prediction(), {}) ==
        R"(Workload      resnet50 (torchvision definition), image 3x224x224, batch 32 per
              GPU, 256 in all, fp32, sgd-momentum
Hardware      8 x v100-sxm2-16gb of dgx1, 1 node
Stack         pytorch-2.1, synthetic input, allreduce

Step time            100 ms  80 % range 80 ms to 125 ms
Throughput    2560 images/s  80 % range 2048 to 3200

Stages of the step; shares are of its time on the slowest GPU
  forward            30 ms   30 %
  backward           60 ms   60 %
  weight update       1 ms  1.0 %
  exchange, exposed   5 ms  5.0 %  20 ms in all, 15 ms overlapped
  host, exposed       4 ms  4.0 %  the GPU waits for the next operation

Utilisation   GPU busy 91 %; while busy: fp32 50 %, tensor cores 0 %; useful
              FLOP over peak: fp32 0 %, tensor cores 0 %; MFU 46 %; CPU 0.8 %
Limit         gpu_compute: 90 % of the step is arithmetic
  then        host 10 %
Memory        4 GB of 17 GB per GPU (80 % range 3.5 GB to 4.5 GB): fits, 13 GB
              free
              feature maps 3 GB, context 600 MB, weights 400 MB
Constants     device v100-sxm2-16gb: datasheet; stack pytorch-2.1: assumed
)");
}

TEST_CASE("What the exchange adds to backward is told where it is more than 2 % of the step") {
  Prediction p = example_prediction();
  p.phases.exchange_in_backward = Seconds(0.0021);
  CHECK(contains(predict_table(p, {}), "  backward           60 ms   60 %  2.1 ms of it added by the exchange beside it\n"));
  p.phases.exchange_in_backward = Seconds(0.002);
  CHECK(contains(predict_table(p, {}), "  backward           60 ms   60 %\n"));
}

TEST_CASE("One GPU whose variables lie on the host says what it waits for") {
  Prediction p = example_prediction();
  p.job.gpus = 1;
  CHECK(contains(predict_table(p, {}), "exchange, exposed"));
}

TEST_CASE("One GPU exchanges nothing, and a device that is its own hardware is named once") {
  Prediction p = example_prediction();
  p.job.gpus = 1;
  p.phases.exchange_total = p.phases.exchange_exposed = Seconds(0.0);
  p.job.hardware = p.job.device;
  const std::string text = predict_table(p, {});
  CHECK_FALSE(contains(text, "exchange"));
  CHECK_FALSE(contains(text, "allreduce"));
  CHECK(contains(text, "Hardware      1 x v100-sxm2-16gb, 1 node\n"));
}

TEST_CASE("16 bits that are only stored are said beside the precision") {
  Prediction p = example_prediction();
  p.job.precision = "amp";
  CHECK(contains(predict_table(p, {}), "256 in all, amp, sgd-momentum\n"));
  p.job.products_in_fp32 = true;
  CHECK(contains(predict_table(p, {}), "256 in all, amp (products in fp32), sgd-momentum\n"));
}

TEST_CASE("Several nodes name their network") {
  Prediction p = example_prediction();
  p.job.gpus = 16;
  p.job.nodes = 2;
  p.job.network = "infiniband-edr";
  CHECK(contains(predict_table(p, {}), "Hardware      16 x v100-sxm2-16gb of dgx1, 2 nodes on infiniband-edr\n"));
  p.job.ports = 4;
  CHECK(contains(predict_table(p, {}), "2 nodes on infiniband-edr, 4 ports a\n"));
}

TEST_CASE("Memory fits exactly up to the capacity, beyond it the table says by how much it does not") {
  Prediction p = example_prediction();
  p.memory.capacity = Bytes(4e9);
  p.memory.gpus.front().probability = 0.5;
  CHECK(contains(predict_table(p, {}), "fits, 0 B\n              free, but the upper end of the range does not\n"));
  p.memory.capacity = Bytes(4.5e9);
  CHECK_FALSE(contains(predict_table(p, {}), "upper end"));
  p.memory.capacity = Bytes(3e9);
  p.memory.fits = false;
  CHECK(contains(predict_table(p, {}), "DOES NOT FIT,\n              1 GB too much\n"));
}

TEST_CASE("Unequal GPUs: the fullest one is shown, the emptiest one told") {
  Prediction p = example_prediction();
  p.memory.gpus[3].peak = Bytes(5e9);
  p.memory.gpus[5].peak = Bytes(2e9);
  const std::string text = predict_table(p, {});
  CHECK(contains(text, "Memory        5 GB of 17 GB per GPU"));
  CHECK(contains(text, "GPU 3 is fullest, GPU 5 holds 2 GB"));
}

TEST_CASE("Cost and epochs appear where they are known") {
  Prediction p = example_prediction();
  CHECK_FALSE(contains(predict_table(p, {}), "Cost"));
  p.cost.hour = Usd(24.48);
  p.cost.million_samples = Usd(2.65625);
  PredictParts parts;
  parts.epochs = estimate_epochs(p, 256'000, 2);
  const std::string text = predict_table(p, parts);
  CHECK(contains(text, "Cost          24.48 USD/h, 2.66 USD per million samples\n"));
  // 1000 steps of 100 ms; twice that and 10 s of start-up are 210 s, 210/3600 h of 24.48 USD/h are 1.428 USD.
  CHECK(contains(text,
                 "Epoch         256000 samples in 1000 steps take 110 s (80 % range 90 s to\n"
                 "              2.25 min), 10 s of it start-up; 2 epochs 3.5 min, 1.43 USD\n"));
}

TEST_CASE("Layers with the share of each, a layer without kernels leaves blanks") {
  Prediction p = example_prediction();
  p.detail.layers = {
      {"input", "input", "3x224x224", 0, {}, {}, {}, {}, {}},
      {"conv1", "convolution", "64x112x112", 9408, Seconds(1e-3), {}, Seconds(2e-3), Seconds(1e-6), {}},
      {"a_layer_with_a_name_that_is_far_too_long", "activation", "64x112x112", 0, Seconds(5e-4), Seconds(5e-4), {}, {}, {}}};
  CHECK(layers_table(p) == R"(Layers, by kernel time; output of one sample
layer                   output      parameters  forward  backward  update  share
input                   3x224x224
conv1                   64x112x112        9408     1 ms      2 ms    1 us   75 %
a_layer_wi..r_too_long  64x112x112               500 us    500 us           25 %
all layers                                9408   1.5 ms    2.5 ms    1 us  100 %
)");
}

TEST_CASE("Kernels by name and algorithm, and the longest on either side of the mean") {
  Prediction p = example_prediction();
  p.detail.kernels = {{"convolution forward",
                       "conv1",
                       "winograd_fused",
                       "compute",
                       Pass::forward,
                       Seconds(2e-3),
                       {},
                       {},
                       {},
                       0.8,
                       1.6,
                       0.25,
                       {0.25, 0, 0, 0.75, 0},
                       "pipe busy"},
                      {"convolution forward",
                       "conv2",
                       "winograd_fused",
                       "compute",
                       Pass::forward,
                       Seconds(1e-3),
                       {},
                       {},
                       {},
                       0.5,
                       1.0,
                       0.25,
                       {0.5, 0, 0, 0.5, 0},
                       "execution dependency"},
                      {"activation forward",
                       "relu1",
                       "memory_bound",
                       "memory",
                       Pass::forward,
                       Seconds(1e-3),
                       {},
                       {},
                       {},
                       0.0,
                       0.0,
                       1.0,
                       {0, 0.8, 0, 0, 0.2},
                       "memory dependency"}};
  // (2 x 0.8 + 1 x 0.5) / 3 = 0.7 of the convolutions; (2 x 0.8 + 1 x 0.5) / 4 = 0.525 of all.
  CHECK(kernels_table(p) == R"(Kernels of one GPU and step
fp32: share of the time that their units execute multiply-adds
useful: FLOP of the direct method over the listed peak
kernel               algorithm       launches  time  share  fp32  useful
convolution forward  winograd_fused         2  3 ms   75 %  70 %   140 %
activation forward   memory_bound           1  1 ms   25 %   0 %     0 %
all kernels                                 3  4 ms  100 %  52 %   105 %

Mean fp32 utilisation, weighted by time: 52 %; useful FLOP over peak 105 %
Mean achieved occupancy, modelled: 44 %
Likely stalls by time, modelled: pipe busy 50 %, execution dependency 25 %,
  memory dependency 20 %, instruction fetch 5.0 %, synchronisation 0 %
  longest kernels      algorithm       occupancy  likely stall
  convolution forward  winograd_fused       25 %  pipe busy
  activation forward   memory_bound        100 %  memory dependency
  stalls by time       execution  memory  synchron.  pipe  fetch
  convolution forward       33 %     0 %        0 %  67 %    0 %
  activation forward         0 %    80 %        0 %   0 %   20 %
Longest kernels below the mean
  activation forward  memory_bound  1  1 ms  25 %  0 %  0 %
Longest kernels at or above the mean
  convolution forward  winograd_fused  2  3 ms  75 %  70 %  140 %
CPU time by operator: --host; by layer: --layers
)");
  // On tensor cores the share is of their peak, and says so.
  p.utilization.tensor_core = 0.2;
  const std::string mixed = kernels_table(p);
  CHECK(mixed.find("\nunits: share of the time that their units execute multiply-adds\n") != std::string::npos);
  CHECK(mixed.find("  time  share  units  useful\n") != std::string::npos);
  CHECK(mixed.find("\nMean tensor-core or fp32 utilisation, weighted by time: 52 %; useful FLOP over peak 105 %\n") !=
        std::string::npos);
}

}  // namespace
}  // namespace tbdsim
