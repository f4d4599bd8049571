// What the memory verb answers: published limits of the batch, searches, reductions, views.
#include "model/prediction/memory_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/prediction/memory_batches.hpp"
#include "model/validation/measured_table.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

std::shared_ptr<Session> session() { return open_session({TBDSIM_SOURCE_DIR}); }

PredictOptions options(const char* hardware, const char* model, const char* stack, int gpus, int batch) {
  PredictOptions o;
  o.hardware = hardware;
  o.model = model;
  o.stack = stack;
  o.gpus = gpus;
  o.batch = batch;
  return o;
}

MemoryReport report(const PredictOptions& o, MemoryQuestions questions = {false, false}) {
  return report_memory(*session(), o, questions).value();
}

Bytes peak(const MemoryReport& r) {
  Bytes most;
  for (const GpuMemory& gpu : r.memory.gpus) most = std::max(most, gpu.peak);
  return most;
}

}  // namespace

// BARC 2019 slides of the DGX-1V study; apache/mxnet docs/faq/perf.md (AlexNet at 1024 ran, at 2048 was out of memory).
TEST_CASE("batches that ran and that did not") {
  CHECK(report(options("dgx1", "inception_v3", "mxnet-ngc-18.04", 8, 64)).memory.fits);
  CHECK_FALSE(report(options("dgx1", "inception_v3", "mxnet-ngc-18.04", 8, 128)).memory.fits);
  CHECK(report(options("dgx1", "resnet50", "mxnet-ngc-18.04", 8, 64)).memory.fits);
  CHECK(report(options("v100-sxm2-16gb", "alexnet", "mxnet-1.2", 1, 1024)).memory.fits);
  CHECK_FALSE(report(options("v100-sxm2-16gb", "alexnet", "mxnet-1.2", 1, 2048)).memory.fits);
  // The same page: both ran, since ReLU is in place.
  CHECK(report(options("v100-sxm2-16gb", "resnet50", "mxnet-1.2", 1, 128)).memory.fits);
  CHECK(report(options("v100-sxm2-16gb", "inception_v3", "mxnet-1.2", 1, 128)).memory.fits);
  // UofT-EcoSystem/sockeye, whose MXNet 0.12 has all activations in place by default; plain 0.12 keeps their inputs.
  PredictOptions o = options("titan-xp", "resnet50", "mxnet-0.12", 1, 128);
  CHECK_FALSE(report(o).memory.fits);
  o.set = {"stack.operators.inplace_activation=true"};
  CHECK(report(o).memory.fits);
}

TEST_CASE("every run on one GPU that was published with its time fits by this model") {
  int rows = 0;
  for (const char* table : {"mxnet_1_2", "mxnet_2017", "titan_xp_resnet50_batch", "tensorflow_2017", "nvidia_sequences"}) {
    const auto runs = read_measured_table(fmt::format("{}/scenarios/published/{}.csv", TBDSIM_SOURCE_DIR, table));
    REQUIRE(runs);
    for (const MeasuredRun& run : *runs) {
      if (run.options.gpus.value_or(1) != 1) continue;
      const auto r = report_memory(*session(), run.options, {false, false});
      INFO(run.id << (r ? "" : ": " + to_text(r.error())));
      REQUIRE(r);
      CHECK(r->memory.fits);
      ++rows;
    }
  }
  CHECK(rows > 150);
}

// UofT-EcoSystem/sockeye, allocation log at batch 128: attention has 61.6 % of weights, states and planned arrays, with blocks
// that serve it in part. Of what exists at the peak it holds two thirds.
TEST_CASE("types of layers sum to the peak, attention is most of Sockeye's, its time steps are one row") {
  PredictOptions o = options("titan-xp", "sockeye", "mxnet-0.12", 1, 128);
  o.seq_len = 100;
  const MemoryReport r = report(o);
  Bytes sum;
  int layers = 0;
  for (const TypeMemory& type : r.types) {
    sum += type.parts.total();
    layers += type.layers;
  }
  CHECK_THAT(sum.base(), WithinRel(peak(r).base(), 1e-9));
  CHECK(layers <= static_cast<int>(r.layers.size()));
  REQUIRE(r.types.front().type == "attention");
  CHECK(r.types.front().layers == 800);
  const GpuMemory& gpu = r.memory.gpus.front();
  const Bytes arrays = gpu.parts.total() - gpu.parts[MemoryPart::context] - gpu.parts[MemoryPart::slack];
  CHECK_THAT(r.types.front().parts.total() / arrays, WithinAbs(0.66, 0.01));
  CHECK(r.layers.size() > 1300);
  const std::vector<LayerMemory> joined = steps_joined(r.layers);
  CHECK(joined.size() < 70);
  const auto tanh =
      std::find_if(joined.begin(), joined.end(), [](const LayerMemory& l) { return l.name == "decoder_t0..99_tanh"; });
  REQUIRE(tanh != joined.end());
  Bytes one_by_one;
  for (const LayerMemory& l : r.layers)
    if (l.name.starts_with("decoder_t") && l.name.ends_with("_tanh")) one_by_one += l.parts.total();
  CHECK_THAT(tanh->parts.total().base(), WithinRel(one_by_one.base(), 1e-12));
}

TEST_CASE("states of optimisers are as wide as framework and optimiser make them") {
  const auto state = [](const char* stack, const char* precision, const char* optimizer) {
    PredictOptions o = options(precision == std::string("bf16") ? "a100-sxm4-40gb" : "v100-sxm2-16gb", "bert-base", stack, 1, 1);
    o.precision = precision;
    o.optimizer = optimizer;
    const MemoryParts parts = report(o).memory.gpus.front().parts;
    // Bytes a parameter; MXNet's arrays are rounded up by the driver.
    return parts[MemoryPart::optimizer_state] /
           (report(options("v100-sxm2-16gb", "bert-base", "pytorch-2.1", 1, 1)).memory.gpus.front().parts[MemoryPart::weights] /
            4.0);
  };
  CHECK_THAT(state("pytorch-2.1", "fp32", "adam"), WithinRel(8.0, 1e-9));
  CHECK_THAT(state("pytorch-2.1", "amp", "adam"), WithinRel(8.0, 1e-9));
  CHECK_THAT(state("pytorch-2.1", "bf16", "adam"), WithinRel(4.0, 1e-9));  // torch.optim: zeros_like(parameter)
  CHECK_THAT(state("pytorch-2.1", "bf16", "adam-8bit"), WithinRel(2.0, 1e-9));
  CHECK_THAT(state("pytorch-1.8-deepspeed", "fp16", "adam"), WithinRel(8.0, 1e-9));  // of its fp32 weights
  CHECK_THAT(state("tensorflow-1.15", "fp16", "adam"), WithinRel(4.0, 1e-9));        // slots: the variable's type
  CHECK_THAT(state("tensorflow-1.15", "fp16", "bert-adam"), WithinRel(8.0, 1e-9));   // optimization.py: tf.float32
}

TEST_CASE("a job at several batches: parts and throughput of each") {
  const PredictOptions o = options("titan-xp", "resnet50", "pytorch-1.13", 1, 1);
  const MemoryByBatch table = memory_by_batch(*session(), o, {4, 8, 16}).value();
  REQUIRE(table.rows.size() == 3);
  for (const BatchMemory& row : table.rows) {
    const MemoryReport alone = report(options("titan-xp", "resnet50", "pytorch-1.13", 1, row.batch));
    CHECK(row.memory.gpus.front().peak == alone.memory.gpus.front().peak);
    CHECK(row.memory.gpus.front().parts.bytes == alone.memory.gpus.front().parts.bytes);
    CHECK_THAT(row.throughput * row.step_time->value.base(), WithinRel(row.batch, 1e-9));
  }
  CHECK(table.rows.front().throughput < table.rows.back().throughput);
}

TEST_CASE("the largest batch fits and the next size does not") {
  for (const char* stack : {"pytorch-1.13", "tensorflow-1.15", "mxnet-1.2"}) {
    for (const char* model : {"alexnet", "resnet50", "vgg16"}) {
      INFO(stack << " " << model);
      PredictOptions o = options("v100-sxm2-16gb", model, stack, 1, 32);
      const LargestBatch found = largest_batch(*session(), o).value();
      const Bytes capacity = report(o).memory.capacity;
      REQUIRE(found.batch > 32);
      o.batch = found.batch;
      CHECK(peak(report(o)) == found.peak);
      CHECK(found.peak <= capacity);
      o.batch = found.batch + 1;
      CHECK(peak(report(o)) == found.next_peak);
      CHECK(found.next_peak > capacity);
      CHECK((found.low <= found.safe_batch && found.safe_batch <= found.batch && found.batch <= found.high));
      CHECK((found.probability >= 0.5 && found.probability <= 1.0));
      if (!found.larger) continue;
      CHECK(found.larger->batch > found.batch + 1);
      CHECK(found.larger->peak <= capacity);
      o.batch = found.larger->batch;
      CHECK(peak(report(o)) == found.larger->peak);
    }
  }
}

TEST_CASE("a batch beyond others that do not fit is told apart from the largest") {
  PredictOptions o = options("a100-sxm4-40gb", "vgg16", "tensorflow-1.15", 1, 32);
  o.precision = "amp";
  const LargestBatch found = largest_batch(*session(), o).value();
  CHECK((found.low <= found.batch && found.batch <= found.high));
  REQUIRE(found.larger);
  o.batch = found.batch + 1;
  CHECK_FALSE(report(o).memory.fits);
  o.batch = found.larger->batch;
  CHECK(report(o).memory.fits);
}

TEST_CASE("no batch fits where the host is too small for what lies there") {
  PredictOptions o;
  o.hardware = "dgx-a100-40gb";
  o.model = "llama-2-70b";
  o.stack = "fsdp2-2.6";
  o.precision = "bf16";
  o.seq_len = 2048;
  o.batch = 1;
  o.recompute = "layer";
  o.tensor_parallel = 4;
  o.context_parallel = 2;
  o.zero = 3;
  o.offload = "states";
  const MemoryReport report = report_memory(*session(), o, {false, true}).value();
  REQUIRE(report.memory.host);
  CHECK_FALSE(report.memory.host->fits);
  CHECK(report.memory.gpus.front().peak < report.memory.capacity);
  CHECK(report.largest->batch == 0);
  o.set = {"hw.host_memory=2 TB"};
  CHECK(largest_batch(*session(), o)->batch > 0);
}

TEST_CASE("the fullest moment of a small batch under Adam is the update") {
  PredictOptions o = options("v100-sxm2-16gb", "bert-large", "pytorch-2.1", 1, 1);
  const MemoryReport r = report(o);
  CHECK(r.peak_phase == Phase::update);
  CHECK(std::any_of(r.moments.begin(), r.moments.end(), [](const MemoryMoment& m) { return m.phase == Phase::update; }));
}

TEST_CASE("what Adam makes besides its states is what the stack's file says") {
  const auto live = [](const char* arrays) {
    PredictOptions o = options("v100-sxm2-16gb", "bert-base", "pytorch-2.1", 1, 1);
    o.set = {std::string("stack.memory.adam_arrays=") + arrays};
    return report(o).lower_bound;
  };
  const Bytes weights =
      report(options("v100-sxm2-16gb", "bert-base", "pytorch-2.1", 1, 1)).memory.gpus.front().parts[MemoryPart::weights];
  CHECK(live("1") == report(options("v100-sxm2-16gb", "bert-base", "pytorch-2.1", 1, 1)).lower_bound);
  // Rounded up to whole blocks.
  CHECK_THAT((live("3") - live("2")) / weights, Catch::Matchers::WithinRel(1.0, 0.01));
}

TEST_CASE("reductions help, largest gain first, and are what the changed configuration predicts") {
  PredictOptions o = options("dgx1", "resnet50", "pytorch-1.13", 8, 64);
  const MemoryReport r = report(o, {true, false});
  REQUIRE(r.reductions.size() >= 4);
  Bytes before(1e15);
  for (const MemoryReduction& reduction : r.reductions) {
    CHECK(reduction.gain > Bytes(0));
    CHECK(reduction.gain <= before);
    before = reduction.gain;
    CHECK_THAT((reduction.gain + reduction.peak).base(), WithinRel(peak(r).base(), 1e-12));
    // Lines are ordered by gain: none may lean on another.
    if (reduction.name.starts_with("recompute ")) CHECK(reduction.what.ends_with("computed again in backward"));
  }
  const auto named = [&](const char* name) {
    return std::find_if(r.reductions.begin(), r.reductions.end(), [&](const auto& reduction) { return reduction.name == name; })
        ->peak;
  };
  o.recompute = "block";
  CHECK(peak(report(o)) == named("recompute block"));
  o.recompute = "";
  o.zero = 1;
  CHECK(peak(report(o)) == named("sharded optimiser"));
  o.zero = {};
  o.precision = "amp";
  CHECK(peak(report(o)) == named("16-bit feature maps"));
}

TEST_CASE("layers sum to the parts of a GPU that shares a job, each part for itself") {
  for (const char* exchange : {"allreduce", "dataparallel"}) {
    INFO(exchange);
    PredictOptions o = options("dgx1", "resnet50", "pytorch-1.13", 4, 32);
    o.exchange = exchange;
    const MemoryReport r = report(o);
    const MemoryParts& parts =
        std::max_element(r.memory.gpus.begin(), r.memory.gpus.end(), [](const GpuMemory& a, const GpuMemory& b) {
          return a.peak < b.peak;
        })->parts;
    MemoryParts layers;
    for (const LayerMemory& layer : r.layers)
      for (std::size_t i = 0; i < kMemoryPartCount; ++i) layers.bytes[i] += layer.parts.bytes[i];
    for (const MemoryPart part : {MemoryPart::weights, MemoryPart::gradients, MemoryPart::optimizer_state,
                                  MemoryPart::feature_maps, MemoryPart::dynamic, MemoryPart::exchange}) {
      INFO(name(part));
      CHECK_THAT(layers[part].base(), WithinRel(parts[part].base(), 1e-9));
    }
    // What must exist at once is all but what the allocator and the driver add.
    const Bytes arrays = parts.total() - parts[MemoryPart::slack] - parts[MemoryPart::context];
    CHECK_THAT(r.lower_bound.base(), WithinRel(arrays.base(), 1e-9));
    Bytes most;
    for (const MemoryMoment& moment : r.moments) most = std::max(most, moment.live);
    CHECK(most == r.lower_bound);
  }
}

TEST_CASE("layers sum to what one GPU's arrays hold at the peak, the peak is the fullest moment") {
  for (const char* stack : {"pytorch-1.13", "tensorflow-1.15", "mxnet-1.2"}) {
    INFO(stack);
    const MemoryReport r = report(options("v100-sxm2-16gb", "resnet50", stack, 1, 32));
    const MemoryParts& parts = r.memory.gpus.front().parts;
    Bytes layers, arrays = parts.total() - parts[MemoryPart::context] - parts[MemoryPart::slack] - parts[MemoryPart::workspace];
    for (const LayerMemory& layer : r.layers) layers += layer.parts.total() - layer.parts[MemoryPart::workspace];
    CHECK_THAT(layers.base(), WithinRel(arrays.base(), 1e-9));
    Bytes most;
    for (const MemoryMoment& moment : r.moments) most = std::max(most, moment.live);
    CHECK(most == r.lower_bound);
  }
}

TEST_CASE("what cannot be meant is said") {
  PredictOptions o = options("dgx1", "resnet50", "mxnet-1.2", 1, 32);
  o.recompute = "block";
  CHECK(report_memory(*session(), o, {}).error().front().message ==
        "--recompute: modelled for frameworks that allocate as they run (PyTorch, TensorFlow), not for MXNet, "
        "which has --recompute mirror");
  o.stack = "pytorch-1.13";
  o.recompute = "mirror";
  CHECK(report_memory(*session(), o, {}).error().front().message ==
        "--recompute mirror: that is MXNet's (MXNET_BACKWARD_DO_MIRROR), not pytorch's");
  o.recompute = "blok";
  CHECK(report_memory(*session(), o, {}).error().front().message == "unknown recomputation \"blok\", did you mean \"block\"?");
  o.recompute = "";
  o.zero = 4;
  CHECK(report_memory(*session(), o, {}).error().front().message == "--zero 4: expected a stage from 0 to 3");
  o.zero = {};
  o.accumulate = 0;
  CHECK(report_memory(*session(), o, {}).error().front().message == "--accumulate 0: expected at least 1 micro-batch per update");
}

TEST_CASE("sharding is offered where gradients are reduced by all, the only place that it is accepted in") {
  for (const char* exchange : {"allreduce", "dataparallel"}) {
    INFO(exchange);
    PredictOptions o = options("dgx1", "alexnet", "pytorch-1.13", 4, 32);
    o.exchange = exchange;
    const MemoryReport r = report(o, {true, false});
    const bool offered = std::any_of(r.reductions.begin(), r.reductions.end(),
                                     [](const MemoryReduction& reduction) { return reduction.name == "sharded optimiser"; });
    CHECK(offered == (o.exchange == "allreduce"));
    o.zero = 1;
    CHECK(report_memory(*session(), o, {false, false}).has_value() == offered);
  }
}

TEST_CASE("what a framework does not have is neither offered nor taken") {
  for (const char* stack : {"tensorflow-1.12", "mxnet-1.2"}) {
    INFO(stack);
    PredictOptions o = options("dgx1", "alexnet", stack, 4, 16);
    o.optimizer = "adam";
    for (const MemoryReduction& reduction : report(o, {true, false}).reductions) {
      CHECK(reduction.name != "sharded optimiser");
      // MXNet 1.2 has no amp, but optimisers with 16-bit weights and fp32 copies (multi_precision).
      if (o.stack != "mxnet-1.2") CHECK(reduction.name != "16-bit feature maps");
    }
    o.zero = 1;
    o.optimizer = "adam-8bit";
    CHECK(to_text(report_memory(*session(), o, {}).error()) ==
          fmt::format("--zero 1: stacks of DeepSpeed and PyTorch shard so, {0} is described without it\n--optimizer adam-8bit: "
                      "its states of 8 bits are "
                      "bitsandbytes', for PyTorch; {0} has none\n",
                      stack));
  }
}

TEST_CASE("where an update has a number of samples, the largest micro-batch divides it") {
  PredictOptions o = options("dgx-h100", "llama-3-8b", "megatron-core-0.14", 16, 1);
  o.precision = "bf16";
  o.tensor_parallel = 2;
  o.pipeline_parallel = 4;
  o.seq_len = 4096;
  const auto largest = [&](int global) {
    o.global_batch = global;
    return *report(o, {false, true}).largest;
  };
  const LargestBatch six = largest(6);
  CHECK(six.batch == 3);
  CHECK(six.next == 0);
  CHECK(six.micro_batches == 1);
  const LargestBatch hundred = largest(100);
  CHECK(50 % hundred.batch == 0);
  CHECK(hundred.batch * hundred.micro_batches == 50);
  CHECK(hundred.next > hundred.batch);
  CHECK(50 % hundred.next == 0);
}
