// One answer to "does it fit": of a prediction, of a memory report and of the search for the largest batch, whatever the network,
// stack, precision, device and optimiser. And what must hold for the range of a peak.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <random>

#include "model/configuration/session.hpp"
#include "model/prediction/max_batch.hpp"
#include "model/prediction/memory_report.hpp"
#include "model/prediction/predict.hpp"
#include "tests/catch.hpp"
#include "tests/predicted.hpp"
#include "tests/property/draw.hpp"

using namespace tbdsim;

namespace {

constexpr std::array kModels{"sockeye",   "sockeye-1-layer", "nmt",     "bert-base",    "gpt2",
                             "googlenet", "resnet18",        "alexnet", "mobilenet_v2", "transformer-base"};
constexpr std::array kStacks{"", "", "pytorch-1.13", "tensorflow-1.15", "mxnet-1.2", "pytorch-ngc-20.06"};
constexpr std::array kPrecisions{"fp32", "amp", "amp", "fp16", "bf16"};
constexpr std::array kDevices{"v100-sxm2-16gb", "titan-xp", "p4000", "t4"};
constexpr std::array kOptimizers{"", "adam", "sgd", "adam-8bit", "lamb"};
constexpr std::array kRecompute{"", "", "", "block"};
constexpr std::array kGpus{1, 1, 2};

PredictOptions random_options(Draw& draw) {
  PredictOptions o;
  o.hardware = draw.of(kDevices);
  o.model = draw.of(kModels);
  o.stack = draw.of(kStacks);
  o.precision = draw.of(kPrecisions);
  o.optimizer = draw.of(kOptimizers);
  o.recompute = draw.of(kRecompute);
  o.gpus = draw.of(kGpus);
  return o;
}

std::string text(const PredictOptions& o) {
  return fmt::format("--hw {} --gpus {} --model {} --stack {} --precision {} --optimizer {} --recompute {} --batch {}",
                     o.hardware, *o.gpus, o.model, o.stack, o.precision, o.optimizer, o.recompute, o.batch.value_or(0));
}

}  // namespace

TEST_CASE("the largest batch fits and the next one does not, in the words of every verb") {
  constexpr unsigned kSeed = 20181119;
  constexpr int kWanted = 40, kTries = 400;
  Draw draw(kSeed);
  int compared = 0;
  for (int i = 0; i < kTries && compared < kWanted; ++i) {
    PredictOptions o = random_options(draw);
    const auto found = largest_batch(session(), o);
    if (!found || found->batch == 0) continue;  // not of this stack or device; one sample is too much
    ++compared;
    for (const int batch : {found->batch, found->batch + 1}) {
      o.batch = batch;
      INFO("seed " << kSeed << ": " << text(o));
      const MemoryVerdict reported = report_memory(session(), o, {false, false})->memory;
      const Prediction predicted = predict(session(), o).value();
      CHECK(reported.fits == (batch == found->batch));
      CHECK(predicted.memory.fits == reported.fits);
      for (std::size_t gpu = 0; gpu < reported.gpus.size(); ++gpu) {
        CHECK(predicted.memory.gpus[gpu].peak == reported.gpus[gpu].peak);
        CHECK((reported.gpus[gpu].peak <= reported.capacity || !reported.fits));
        CHECK((reported.gpus[gpu].probability >= 0.5) == (reported.gpus[gpu].peak <= reported.capacity));
      }
    }
  }
  CHECK(compared == kWanted);
}

// Shards of gradients lie in a pool of their own, which the allocator empties too where memory ends.
TEST_CASE("divided networks: what is shown fits where the job fits") {
  int fitting = 0, misfits = 0;
  for (const auto& [stack, zero] :
       {std::pair{"fsdp2-2.6", 2}, {"fsdp2-2.6", 3}, {"deepspeed-0.14", 2}, {"deepspeed-0.14", 3}, {"megatron-core-0.14", 1}})
    for (const int percent : {40, 60, 70, 80, 85, 90, 95, 99, 101, 110}) {
      PredictOptions o;
      o.hardware = "rtx-pro-6000";
      o.model = "llama-3-8b";
      o.precision = "bf16";
      o.stack = stack;
      o.gpus = 4;
      o.zero = zero;
      o.batch = 1;
      const Bytes endless = report_memory(session(), o, {false, false})->memory.gpus.front().peak;
      o.set = {fmt::format("hw.device.memory_capacity={} B", std::llround(0.01 * percent * endless.base()))};
      const MemoryVerdict memory = report_memory(session(), o, {false, false})->memory;
      INFO(text(o) << " --zero " << zero << " --set " << o.set.front());
      CHECK(memory.fits == (memory.gpus.front().peak <= memory.capacity));
      ++(memory.fits ? fitting : misfits);
    }
  CHECK(fitting > 4);
  CHECK(misfits > 4);
}

// Blocks that serve one array alone are holes later; at the next batch another array fills them, and memory falls.
TEST_CASE("under PyTorch, where memory falls from one batch to the next, the range of the fuller one holds both peaks") {
  for (const auto& [model, precision, batch] :
       {std::tuple{"XGLMForCausalLM", "fp32", 7}, {"vgg13", "amp", 1}, {"vgg16", "amp", 7}, {"vit_h_14", "fp32", 4}}) {
    const auto gpu = [&, name = model, arithmetic = precision](int of) {
      PredictOptions o;
      o.hardware = "a100-sxm4-80gb";
      o.model = name;
      o.precision = arithmetic;
      o.batch = of;
      return report_memory(session(), o, {false, false})->memory.gpus.front();
    };
    INFO(model << ", batches " << batch << " and the next");
    const GpuMemory fuller = gpu(batch), next = gpu(batch + 1);
    CHECK(next.peak < 0.95 * fuller.peak);
    CHECK(next.allocated > fuller.allocated);  // the arrays themselves grow
    CHECK(fuller.low <= next.peak);
  }
}

// An allocator whose regions double takes 2 GB more for a little more: which side a batch is on is in doubt, and so in the range.
TEST_CASE("under TensorFlow, of two neighbours' ranges one holds both peaks") {
  for (const auto& [hardware, model, stack, first, last] :
       {std::tuple{"titan-xp", "googlenet", "tensorflow-1.15", 58, 66},
        {"titan-xp", "resnet50", "tensorflow-1.15", 30, 36},
        {"titan-xp", "vgg16", "tensorflow-1.15", 40, 46},
        // Here scratch memory decides, whose own size is least known.
        {"v100-sxm2-16gb", "resnet152", "tensorflow-1.15", 8, 14},
        // Here holes decide: batch 20 takes a region less than 19 and 21, in the model as on the device by chance.
        {"p100-pcie-16gb", "inception_v3", "tensorflow-1.4", 17, 22}}) {
    std::vector<GpuMemory> peaks;
    for (int batch = first; batch <= last; ++batch) {
      PredictOptions o;
      o.hardware = hardware;
      o.gpus = 1;
      o.model = model;
      o.stack = stack;
      o.batch = batch;
      peaks.push_back(report_memory(session(), o, {false, false})->memory.gpus.front());
    }
    for (std::size_t i = 1; i < peaks.size(); ++i) {
      INFO(model << ", batches " << first + static_cast<int>(i) - 1 << " and the next");
      const GpuMemory &a = peaks[i - 1], &b = peaks[i];
      CHECK(((a.low <= b.peak && b.peak <= a.high) || (b.low <= a.peak && a.peak <= b.high)));
    }
  }
}
