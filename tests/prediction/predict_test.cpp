// One prediction: its parts fit together, and every refusal is worded as promised.
#include "model/prediction/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "model/prediction/memory_report.hpp"
#include "tests/catch.hpp"
#include "tests/predicted.hpp"

using namespace tbdsim;

namespace {

PredictOptions dgx1(int gpus = 8) {
  PredictOptions options;
  options.hardware = "dgx1";
  options.model = "resnet50";
  options.gpus = gpus;
  return options;
}

template <class Change>
std::string refusal_of(Change change) {
  PredictOptions options = dgx1();
  change(options);
  return refusal(options);
}

/// Everything that a report may print, to the last bit.
std::string fingerprint(const Prediction& p) {
  std::string text = fmt::format("{:a} {:a} {:a} {:a} ", p.step_time.value.base(), p.step_time.low.base(),
                                 p.step_time.high.base(), p.throughput.value);
  for (const Seconds s : {p.phases.forward, p.phases.backward, p.phases.weight_update, p.phases.exchange_total,
                          p.phases.exchange_exposed, p.phases.host_exposed})
    text += fmt::format("{:a} ", s.base());
  for (const Limit& limit : p.limits) text += fmt::format("{} {:a} {} ", name(limit.resource), limit.share, limit.text);
  for (const GpuMemory& gpu : p.memory.gpus) text += fmt::format("{} {:a} ", gpu.gpu, gpu.peak.base());
  for (const LayerTime& layer : p.detail.layers) text += fmt::format("{} {:a} ", layer.name, layer.forward.base());
  for (const KernelTime& kernel : p.detail.kernels)
    text += fmt::format("{} {} {:a} ", kernel.name, kernel.algorithm, kernel.time.base());
  return text;
}

}  // namespace

TEST_CASE("1 to 8 GPUs of a DGX-1: stages fill the step, shares the critical path, samples the throughput") {
  for (int gpus = 1; gpus <= 8; ++gpus) {
    for (const char* stack : {"", "mxnet-1.2", "tensorflow-1.12"}) {
      INFO(gpus << " GPUs under " << stack);
      PredictOptions options = dgx1(gpus);
      options.stack = stack;
      const Prediction p = predicted(options);
      const PhaseTimes& s = p.phases;
      CHECK_THAT(
          (s.forward + s.backward + s.weight_update + s.metric + s.exchange_exposed + s.input_exposed + s.host_exposed).base(),
          WithinRel(p.step_time.value.base(), 1e-9));
      CHECK_THAT((s.host_forward + s.host_backward + s.host_update).base(), WithinAbs(s.host_exposed.base(), 1e-12));
      double shares = 0.0;
      for (const Limit& limit : p.limits) shares += limit.share;
      CHECK_THAT(shares, WithinRel(1.0, 1e-9));
      CHECK(std::is_sorted(p.limits.begin(), p.limits.end(), [](const Limit& a, const Limit& b) { return a.share > b.share; }));
      CHECK(p.limit.resource == p.limits.front().resource);
      CHECK(p.job.gpus == gpus);
      CHECK(p.job.global_batch == gpus * p.job.batch_per_gpu);
      CHECK_THAT(p.throughput.value * p.step_time.value.base(), WithinRel(p.job.global_batch, 1e-9));
      CHECK(p.step_time.low < p.step_time.value);
      CHECK(p.step_time.value < p.step_time.high);
      CHECK_THAT(p.throughput.low * p.step_time.high.base(), WithinRel(p.job.global_batch, 1e-9));
      CHECK_THAT(p.throughput.high * p.step_time.low.base(), WithinRel(p.job.global_batch, 1e-9));
      CHECK(s.exchange_exposed <= s.exchange_total);
      CHECK((s.exchange_total > Seconds(0.0)) == (gpus > 1));
      CHECK(static_cast<int>(p.memory.gpus.size()) == gpus);
      for (const double share : {p.utilization.gpu_busy, p.utilization.fp32, p.utilization.mfu, p.utilization.cpu}) {
        CHECK(share > 0.0);
        CHECK(share <= 1.0);
      }
    }
  }
}

TEST_CASE("a V100's throughput on ResNet-50 is of the right order") {
  // Published single-GPU figures of several frameworks: 306 to 432 images/s.
  const Prediction p = predicted(dgx1(1));
  CHECK(p.throughput.value > 200.0);
  CHECK(p.throughput.value < 600.0);
}

TEST_CASE("all GPUs of a node are one node, two nodes are twice the GPUs") {
  PredictOptions nodes = dgx1();
  nodes.gpus.reset();
  CHECK(fingerprint(predicted(nodes)) == fingerprint(predicted(dgx1(8))));
  nodes.nodes = 1;
  CHECK(fingerprint(predicted(nodes)) == fingerprint(predicted(dgx1(8))));
  nodes.nodes = 2;
  const Prediction two = predicted(nodes);
  CHECK(two.job.gpus == 16);
  CHECK(fingerprint(two) == fingerprint(predicted(dgx1(16))));
  CHECK(predicted(dgx1(16)).job.nodes == 2);
  CHECK_FALSE(two.job.network.empty());
  CHECK(predicted(dgx1(8)).job.network.empty());
  // Divided over nodes: the first ones of each.
  PredictOptions spread = dgx1(4);
  spread.nodes = 2;
  const Prediction four = predicted(spread);
  CHECK(four.job.nodes == 2);
  CHECK(four.memory.gpus.size() == 2);
}

TEST_CASE("chosen devices are those told of") {
  PredictOptions options = dgx1();
  options.gpus.reset();
  options.devices = {6, 1};
  const Prediction p = predicted(options);
  REQUIRE(p.memory.gpus.size() == 2);
  CHECK(p.memory.gpus[0].gpu == 6);
  CHECK(p.memory.gpus[1].gpu == 1);
}

TEST_CASE("the same question has the same answer, to the bit, on any number of threads") {
  std::vector<PredictOptions> questions;
  for (const int gpus : {1, 3, 8}) {
    for (const char* model : {"resnet50", "alexnet", "inception_v3"}) {
      questions.push_back(dgx1(gpus));
      questions.back().model = model;
      questions.back().detail = true;
    }
  }
  std::vector<std::string> once;
  for (const PredictOptions& question : questions) once.push_back(fingerprint(predicted(question)));
  // A session of its own, filled by eight threads at once.
  const std::shared_ptr<Session> shared = open_session({TBDSIM_SOURCE_DIR});
  std::vector<std::vector<std::string>> answers(8, std::vector<std::string>(questions.size()));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < answers.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < questions.size(); ++i) {
        const std::size_t question = (i + t) % questions.size();
        if (const auto p = predict(*shared, questions[question])) answers[t][question] = fingerprint(*p);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& answer : answers) CHECK(answer == once);
}

TEST_CASE("names nobody has, with what was probably meant, to the letter") {
  CHECK(refusal_of([](auto& o) { o.model = "rsenet50"; }) == "unknown network \"rsenet50\", did you mean \"resnet50\"?\n");
  CHECK(refusal_of([](auto& o) { o.hardware = "dgx11"; }) == "no system or GPU called \"dgx11\", did you mean \"dgx1\"?\n");
  CHECK(refusal_of([](auto& o) { o.stack = "pytroch-2.1"; }) == "unknown stack \"pytroch-2.1\", did you mean \"pytorch-2.1\"?\n");
  CHECK(refusal_of([](auto& o) { o.precision = "fp23"; }) == "unknown precision \"fp23\", did you mean \"fp32\"?\n");
  CHECK(refusal_of([](auto& o) { o.optimizer = "adm"; }) == "unknown optimizer \"adm\", did you mean \"adam\"?\n");
  CHECK(refusal_of([](auto& o) { o.optimizer = "shampoo"; }) ==
        "unknown optimizer \"shampoo\"; there are none, sgd, sgd-momentum, adam, adam-8bit, bert-adam, lamb, lamb-compiled, "
        "lars, novograd\n");
  CHECK(refusal_of([](auto& o) { o.exchange = "allredcue"; }) == "unknown exchange \"allredcue\", did you mean \"allreduce\"?\n");
  CHECK(refusal_of([](auto& o) { o.network = "infinband-edr"; }) ==
        "no network called \"infinband-edr\", did you mean \"infiniband-edr\"?\n");
  CHECK(refusal_of([](auto& o) { o.precision = "tf32"; }) ==
        "precision tf32: v100-sxm2-16gb has no tf32 tensor cores; it has fp32, fp16, amp\n");
  CHECK(refusal_of([](auto& o) { o.hardware.clear(); }) == "no hardware named; use --hw, such as --hw dgx1.toml\n");
  CHECK(refusal_of([](auto& o) { o.model.clear(); }) == "no model named; use --model, such as --model resnet50\n");
}

TEST_CASE("sizes that make no sense, both sides, to the letter") {
  CHECK(refusal_of([](auto& o) { o.batch = 0; }) == "--batch 0: expected at least 1 sample per GPU\n");
  CHECK(refusal_of([](auto& o) { o.batch = 1; }).empty());
  CHECK(refusal_of([](auto& o) { o.gpus = 0; }) == "--gpus 0: expected at least 1\n");
  CHECK(refusal_of([](auto& o) { o.nodes = 0; }) == "--nodes 0: expected at least 1\n");
  CHECK(refusal(dgx1(9)) == "9 GPUs do not fill nodes of 8: take 8 or 16; `predict --nodes 3` takes 3 of each\n");
  CHECK(refusal(dgx1(15)) == "15 GPUs do not fill nodes of 8: take 8 or 16; `predict --nodes 3` takes 5 of each\n");
  CHECK(refusal(dgx1(16)).empty());
  // Racks of 72 GPUs of which a job takes 64 each.
  const auto racks = [](int gpus) {
    return refusal_of([&](auto& o) { o.hardware = "gb200-nvl72", o.network = "infiniband-ndr", o.gpus = gpus; });
  };
  CHECK(racks(128).empty());
  CHECK(racks(81) == "81 GPUs do not fill nodes of 72: take 72 or 144; `predict --nodes 3` takes 27 of each\n");
  CHECK(refusal_of([](auto& o) { o.gpus = 3, o.nodes = 2; }) == "3 GPUs do not divide over 2 nodes\n");
  CHECK(refusal_of([](auto& o) { o.gpus = 18, o.nodes = 2; }) == "18 GPUs on 2 nodes need 9 a node; dgx1 has 8\n");
  CHECK(refusal_of([](auto& o) { o.gpus = 16, o.nodes = 2; }).empty());
  CHECK(refusal_of([](auto& o) { o.gpus.reset(), o.devices = {0, 8}; }) == "--devices 8: dgx1 has GPUs 0..7\n");
  CHECK(refusal_of([](auto& o) { o.gpus.reset(), o.devices = {0, 7}; }).empty());
  CHECK(refusal_of([](auto& o) { o.gpus.reset(), o.devices = {-1}; }) == "--devices -1: dgx1 has GPUs 0..7\n");
  CHECK(refusal_of([](auto& o) { o.gpus.reset(), o.devices = {3, 5, 3}; }) == "--devices names GPU 3 twice\n");
  CHECK(refusal_of([](auto& o) { o.gpus = 3, o.devices = {0, 1}; }) == "--gpus 3 and --devices with 2 on 1 node(s) disagree\n");
}

TEST_CASE("several problems are told at once, in the order of the options") {
  CHECK(refusal_of(
            [](auto& o) { o.gpus = 9, o.precision = "fp23", o.optimizer = "adm", o.exchange = "x", o.model = "rsenet50"; }) ==
        "unknown precision \"fp23\", did you mean \"fp32\"?\n"
        "unknown optimizer \"adm\", did you mean \"adam\"?\n"
        "unknown exchange \"x\"; there are allreduce, nccl, p2p, local, ps, ps-p3, byteps, dataparallel\n"
        "9 GPUs do not fill nodes of 8: take 8 or 16; `predict --nodes 3` takes 3 of each\n"
        "unknown network \"rsenet50\", did you mean \"resnet50\"?\n");
}

TEST_CASE("details are those of the step") {
  PredictOptions options = dgx1(4);
  options.detail = true;
  const Prediction p = predicted(options);
  Seconds kernels(0.0), layers(0.0);
  for (const KernelTime& kernel : p.detail.kernels) kernels += kernel.time;
  for (const LayerTime& layer : p.detail.layers)
    layers += layer.forward + layer.backward_data + layer.backward_weights + layer.update;
  const Seconds busy = p.phases.forward + p.phases.backward + p.phases.weight_update;
  CHECK_THAT(kernels.base(), WithinRel(busy.base(), 1e-6));
  CHECK_THAT(layers.base(), WithinRel(busy.base(), 1e-6));
  CHECK(std::is_sorted(p.detail.kernels.begin(), p.detail.kernels.end(),
                       [](const KernelTime& a, const KernelTime& b) { return a.start < b.start; }));
  std::int64_t parameters = 0;
  for (const LayerTime& layer : p.detail.layers) parameters += layer.parameters;
  CHECK(parameters == 25557032);  // torchvision's ResNet-50
  CHECK(predicted(dgx1(4)).detail.kernels.empty());
}

TEST_CASE("a stack that only resolved to a near version says so and widens the range") {
  PredictOptions exact = dgx1(1), near = exact;
  exact.stack = "mxnet-1.2";
  near.stack = "mxnet-1.3";
  const Prediction a = predicted(exact), b = predicted(near);
  CHECK(a.step_time.value == b.step_time.value);
  CHECK(b.step_time.high > a.step_time.high);
  CHECK(std::count(b.notices.begin(), b.notices.end(), "no stack mxnet-1.3 in the catalogue, using mxnet-1.2") == 1);
}

TEST_CASE("PyTorch without a version is the newest that runs on the device, as without a name") {
  for (const char* hardware : {"v100-sxm2-16gb", "h100-sxm5-80gb", "mi300x"}) {
    PredictOptions options = dgx1(1), named = options;
    options.hardware = named.hardware = hardware;
    named.stack = "pytorch";
    CHECK(predicted(named).job.stack == predicted(options).job.stack);
  }
}

TEST_CASE("operators of unrolled cells share the engine's operations") {
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  const auto step = [&](const std::vector<std::string>& set) {
    PredictOptions options;
    options.hardware = "titan-xp";
    options.model = "sockeye@mxnet";
    options.stack = "mxnet-1.2";
    options.set = set;
    const auto p = predict(*session, options);
    if (!p) FAIL(to_text(p.error()));
    return p->step_time.value;
  };
  const Seconds joined = step({}), alone = step({"stack.engine.operators=1"}), older = step({"stack.engine.operation=0 us"});
  CHECK(alone > 1.1 * joined);
  CHECK(joined > older);
}

TEST_CASE("a layer that its framework launches piece by piece does the same arithmetic as the library's kernel") {
  PredictOptions options;
  options.hardware = "p4000";
  options.model = "sockeye";
  options.stack = "mxnet-0.12";
  const Prediction pieces = predicted(options);
  options.stack = "pytorch-1.13";
  const Prediction whole = predicted(options);
  CHECK_THAT(pieces.work.flop_per_gpu.base(), WithinRel(whole.work.flop_per_gpu.base(), 0.01));
  CHECK(pieces.utilization.fp32 < 0.5);
}

TEST_CASE("GPUs that refuse each other's memory: MXNet's store pays for staging") {
  PredictOptions options;
  options.hardware = "pcie-4x-rtx-4090-patched-driver";
  options.model = "vgg16";
  options.stack = "mxnet-1.9";
  options.exchange = "p2p";
  options.set = {"hw.link.pcie.staged=6 GB/s"};
  const Prediction peers = predicted(options);
  options.set.emplace_back("hw.link.pcie.peer_access=false");
  CHECK(predicted(options).phases.exchange_total > 1.5 * peers.phases.exchange_total);
}

TEST_CASE("a ViT of 197 tokens takes as long for a sample of an odd batch as of its neighbours") {
  for (const char* board : {"a100-sxm4-80gb", "b200-sxm-180gb"}) {
    const auto sample = [&](int batch) {
      PredictOptions options;
      options.hardware = board;
      options.model = "vit_large_patch16_224";
      options.precision = "bf16";
      options.batch = batch;
      return predicted(options).step_time.value.base() / batch;
    };
    for (const int batch : {63, 65}) CHECK_THAT(sample(batch), WithinRel(sample(64), 0.02));
  }
}

TEST_CASE("8 bits that lose against bf16 are told, and only they") {
  const auto loses = [](const char* model, const char* precision, int batch) {
    PredictOptions options;
    options.hardware = "h100-sxm5-80gb";
    options.model = model;
    options.precision = precision;
    options.batch = batch;
    const Prediction p = predicted(options);
    return std::any_of(p.notices.begin(), p.notices.end(), [](const std::string& n) {
      return n.find("longer than in bf16, casts included: --precision bf16 is faster") != std::string::npos;
    });
  };
  // Products of 1,024 inputs are short beside their casts, those of 4,096 are not.
  CHECK(loses("bert-large", "fp8", 64));
  CHECK_FALSE(loses("bert-large", "bf16", 64));
  CHECK_FALSE(loses("llama-3-8b", "fp8", 1));
}

TEST_CASE("useful work per sample does not depend on how many micro-batches make an update") {
  PredictOptions options = dgx1(1);
  const auto work = [&](int accumulate) {
    options.accumulate = accumulate;
    return predicted(options).work.flop_per_gpu.base() / accumulate;
  };
  CHECK_THAT(work(4), Catch::WithinRel(work(1), 1e-3));  // the update is counted once
  // What is computed a second time is not useful.
  options.recompute = "layer";
  const double again = work(1);
  const Utilization busy = predicted(options).utilization;
  options.recompute.clear();
  CHECK_THAT(again, Catch::WithinRel(work(1), 1e-3));
  // It keeps the units busy all the same.
  const Utilization kept = predicted(options).utilization;
  CHECK_THAT(busy.fp32, Catch::WithinRel(kept.fp32, 0.1));
  CHECK(busy.mfu < 0.9 * kept.mfu);
}

TEST_CASE("ZeRO shards over an all-reduce, not over a store or one process") {
  PredictOptions options = dgx1(8);
  options.zero = 1;
  const MemoryQuestions asked{false, false};
  CHECK(report_memory(session(), options, asked));
  options.exchange = "dataparallel";
  const auto refused = report_memory(session(), options, asked);
  REQUIRE_FALSE(refused);
  CHECK(to_text(refused.error()) == "--zero 1: shards over the ranks of an all-reduce, not with --exchange dataparallel\n");
}

TEST_CASE("a step of a divided network is predicted: each axis changes it, and its memory is that of `memory`") {
  PredictOptions options = dgx1(8);
  options.model = "gpt2";
  options.batch = 2;
  const Prediction whole = predicted(options);
  CHECK_FALSE(whole.division.by_layers);
  CHECK(whole.division.communication.empty());
  options.tensor_parallel = 1;
  CHECK(fingerprint(predicted(options)) == fingerprint(whole));
  options.tensor_parallel = 4;
  const Prediction tensor = predicted(options);
  CHECK(tensor.division.by_layers);
  CHECK(tensor.job.global_batch == 4);
  REQUIRE(tensor.division.communication.size() == 2);
  CHECK(tensor.division.communication.front().axis == Axis::tensor);
  CHECK(tensor.division.communication.back().axis == Axis::data);
  CHECK(tensor.memory.gpus.front().peak == report_memory(session(), options, {false, false})->memory.gpus.front().peak);
  options.tensor_parallel.reset();
  options.pipeline_parallel = 2;
  options.accumulate = 4;
  const Prediction stages = predicted(options);
  CHECK(stages.job.global_batch == 32);
  CHECK(stages.phases.bubble > Seconds(0.0));
  CHECK(stages.division.communication.size() == 2);
  options.pipeline_parallel.reset();
  options.accumulate.reset();
  options.zero = 2;
  const Prediction sharded = predicted(options);
  CHECK(sharded.division.by_layers);
  CHECK(sharded.job.global_batch == whole.job.global_batch);
  REQUIRE(sharded.division.communication.size() == 1);
  CHECK(sharded.division.communication.front().kind == "all-gather, reduce-scatter");
}
