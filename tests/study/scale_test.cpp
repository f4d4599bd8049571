// Speed-up, efficiency and epochs over sizes of a machine.
#include "model/study/scale.hpp"

#include <algorithm>

#include "model/prediction/epoch.hpp"
#include "tests/catch.hpp"
#include "tests/predicted.hpp"

using namespace tbdsim;

namespace {

ScaleOptions options(std::vector<int> gpus, Scaling scaling = Scaling::strong) {
  ScaleOptions o;
  o.job.hardware = "dgx1";
  o.job.model = "alexnet";
  o.job.stack = "pytorch-1.13";
  o.job.batch = 32;
  o.gpus = std::move(gpus);
  o.samples = 256'000;
  o.scaling = scaling;
  return o;
}

ScaleStudy study(const ScaleOptions& o) {
  const auto made = scale(session(), o);
  INFO((made ? std::string() : to_text(made.error())));
  REQUIRE(made);
  return *made;
}

std::string refused(const ScaleOptions& o) {
  const auto made = scale(session(), o);
  REQUIRE_FALSE(made);
  return made.error().front().message;
}

}  // namespace

TEST_CASE("strong scaling: epochs with start-up, against one GPU even where it is not listed") {
  const ScaleStudy s = study(options({2, 8}));
  REQUIRE(s.rows.size() == 2);
  const Seconds alone = estimate_epochs(s.one, 256'000, 1).total.value;
  for (const ScaleRow& row : s.rows) {
    const double steps = 256'000.0 / (32 * row.gpus);
    CHECK_THAT(row.epoch_time.value.base(), WithinRel((s.one.start_up + steps * row.step_time.value).base(), 1e-12));
    CHECK_THAT(row.speedup.value, WithinRel(alone / row.epoch_time.value, 1e-12));
    CHECK(row.epoch_time.low < row.epoch_time.value);
    CHECK(row.epoch_time.value < row.epoch_time.high);
    CHECK(row.speedup.low <= row.speedup.value);
    CHECK(row.speedup.high <= row.gpus);
    CHECK_THAT(row.efficiency, WithinRel(row.speedup.value / row.gpus, 1e-12));
    CHECK(row.efficiency < 1.0);
  }
  CHECK(study(options({1})).rows.front().speedup.value == 1.0);
}

TEST_CASE("a board named alone is held against one in the same machine as its other sizes") {
  ScaleOptions o = options({1, 2, 4});
  o.job.model = "mobilenet_v2";  // waits for the host
  o.job.stack.clear();
  o.job.batch = 1;
  for (const auto& [board, platform] : {std::pair{"mi300x", "mi300x-platform"}, {"gb200", "gb200-nvl72"}}) {
    o.job.hardware = board;
    const ScaleStudy alone = study(o);
    o.job.hardware = platform;
    const ScaleStudy machine = study(o);
    REQUIRE(alone.rows.size() == machine.rows.size());
    for (std::size_t i = 0; i < alone.rows.size(); ++i) {
      CHECK(alone.rows[i].step_time.value == machine.rows[i].step_time.value);
      CHECK(alone.rows[i].speedup.value == machine.rows[i].speedup.value);
    }
  }
}

TEST_CASE("an update costs the host where a store makes it, too: no store scales beyond the number of GPUs") {
  for (const auto* stack : {"mxnet-0.9", "mxnet-1.2", "mxnet-ngc-18.04", "mxnet-ngc-23.04"}) {
    for (const auto* exchange : {"p2p", "local", "ps"}) {
      INFO(stack << " " << exchange);
      ScaleOptions o = options({2});
      o.job.model = "resnet50";
      o.job.stack = stack;
      o.job.exchange = exchange;
      o.job.input = "synthetic";
      CHECK(study(o).rows.front().efficiency < 1.01);  // the GPU is spared the update itself
    }
  }
}

TEST_CASE("weak scaling: the data set grows, so start-up weighs less and the speed-up is larger") {
  const ScaleStudy strong = study(options({2, 4, 8})), weak = study(options({2, 4, 8}, Scaling::weak));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(weak.rows[i].step_time.value == strong.rows[i].step_time.value);
    CHECK(weak.rows[i].speedup.value > strong.rows[i].speedup.value);
    CHECK(weak.rows[i].speedup.value <= weak.rows[i].gpus);
  }
}

TEST_CASE("a fixed global batch is divided over the GPUs, and must divide") {
  const ScaleStudy s = study(options({1, 4, 8}, Scaling::fixed_global_batch));
  CHECK(s.rows[0].batch_per_gpu == 32);
  CHECK(s.rows[1].batch_per_gpu == 8);
  CHECK(s.rows[2].batch_per_gpu == 4);
  CHECK(s.rows[2].step_time.value < s.rows[0].step_time.value);
  CHECK(refused(options({3}, Scaling::fixed_global_batch)) == "3 GPUs: a batch of 32 does not divide over 3 GPUs");
}

TEST_CASE("servers use one of a node's four ports: over TCP those of MXNet, BytePS as the network is") {
  PredictOptions job = options({}).job;
  job.nodes = 2;
  job.detail = true;
  const auto port = [&](const char* stack, const char* exchange) {
    job.stack = stack;
    job.exchange = exchange;
    const Prediction p = predict(session(), job).value();
    const auto link =
        std::find_if(p.detail.links.begin(), p.detail.links.end(), [](const LinkTraffic& l) { return l.name == "network"; });
    REQUIRE(link != p.detail.links.end());
    return link->capacity.base() / 1e9;
  };
  CHECK_THAT(port("mxnet-1.2", "ps"), WithinRel(8.8, 1e-9));
  CHECK_THAT(port("pytorch-1.13", "byteps"), WithinRel(12.2, 1e-9));
  CHECK_THAT(port("pytorch-1.13", "allreduce"), WithinRel(4 * 12.2, 1e-9));
}

TEST_CASE("a study of nodes with servers says what it holds them against") {
  ScaleOptions o = options({});
  o.nodes = {2};
  o.job.stack = "mxnet-1.2";
  o.job.exchange = "ps";
  const auto told = [](const ScaleStudy& s) {
    return std::any_of(s.notices.begin(), s.notices.end(),
                       [](const std::string& n) { return n.find("has a server too (exchange ps)") != std::string::npos; });
  };
  CHECK(told(study(o)));
  o.job.exchange = "allreduce";
  CHECK_FALSE(told(study(o)));
}

TEST_CASE("a divided network is held against one copy of it; copies are added, and its other axes stay") {
  ScaleOptions o = options({4, 8});
  o.job.model = "gpt2";
  o.job.batch = 2;
  o.job.stack = "megatron-core-0.8";
  o.job.hardware = "dgx-a100-80gb";
  o.job.precision = "bf16";
  o.job.tensor_parallel = o.job.pipeline_parallel = 2;
  o.job.accumulate = 8;
  const ScaleStudy s = study(o);
  CHECK(s.one.job.gpus == 4);
  REQUIRE(s.rows.size() == 2);
  CHECK(s.rows[0].copies == 1);
  CHECK(s.rows[1].copies == 2);
  for (const ScaleRow& row : s.rows) CHECK(row.micro_batches == 8);
  CHECK_THAT(s.rows[0].speedup.value, WithinRel(1.0, 1e-12));
  CHECK_THAT(s.rows[1].efficiency, WithinRel(s.rows[1].speedup.value / 2.0, 1e-12));
  CHECK(s.rows[1].speedup.value > 1.5);
  CHECK(s.rows[1].speedup.value <= 2.0);
  o.scaling = Scaling::fixed_global_batch;
  const ScaleStudy fixed = study(o);
  CHECK(fixed.rows[0].micro_batches == 8);
  CHECK(fixed.rows[1].micro_batches == 4);  // and so a larger part of the step is bubble
  CHECK(fixed.rows[1].speedup.value < s.rows[1].speedup.value);
  o.scaling = Scaling::weak;
  const ScaleStudy weak = study(o);
  CHECK(weak.rows[1].batches == weak.rows[0].batches);
  CHECK_THAT(weak.rows[1].step_time.value.base(), WithinRel(s.rows[1].step_time.value.base(), 1e-12));
  o.job.global_batch = 32;
  o.job.accumulate.reset();
  CHECK(refused(o) == "--weak: the batch of an update grows with the GPUs; leave out --global-batch, or --weak");
  o.scaling = Scaling::strong;
  CHECK(study(o).rows[1].micro_batches == 8);
  o.gpus = {2};
  CHECK(refused(o) ==
        "2 GPUs: --tensor-parallel 2 --context-parallel 1 --pipeline-parallel 2: one copy of the network takes 4 GPUs, which do "
        "not divide the 2 of the job");
}

TEST_CASE("an epoch's stages, its batches and the gain of weak scaling follow from the step") {
  const ScaleStudy s = study(options({1, 8}));
  const ScaleRow &one = s.rows[0], &eight = s.rows[1];
  CHECK(one.batches == 8000);
  CHECK(eight.batches == 1000);
  CHECK_THAT(eight.epoch_phases.backward.base(), WithinRel(1000.0 * eight.phases.backward.base(), 1e-12));
  REQUIRE(eight.phase_speedups.forward);
  CHECK_THAT(*eight.phase_speedups.forward, WithinRel(one.epoch_phases.forward / eight.epoch_phases.forward, 1e-12));
  const double start_up = s.one.start_up.base(), steps = 1000.0 * eight.step_time.value.base();
  CHECK_THAT(eight.strong_epoch.base(), WithinRel(start_up + steps, 1e-12));
  CHECK_THAT(eight.weak_saving, WithinRel(1.0 - (start_up + 8.0 * steps) / (8.0 * (start_up + steps)), 1e-9));
  CHECK(eight.epoch_gradients.base() == 1000.0 * eight.gradients.base());
  CHECK(one.gradients.base() == 0.0);
}

TEST_CASE("the update of weights and its speed-up are those of all arrays, also where a store hides them") {
  ScaleOptions o = options({1, 8});
  o.job.stack = "mxnet-18.04";
  o.job.exchange = "p2p";
  const ScaleStudy s = study(o);
  const ScaleRow &one = s.rows[0], &eight = s.rows[1];
  CHECK(eight.epoch_phases.weight_update < eight.epoch_phases.weight_update_total);
  CHECK(eight.epoch_phases.weight_update_total > Seconds(0.0));
  REQUIRE(eight.phase_speedups.weight_update);
  CHECK_THAT(*eight.phase_speedups.weight_update,
             WithinRel(one.epoch_phases.weight_update_total / eight.epoch_phases.weight_update_total, 1e-12));
}

TEST_CASE("a table holds every network, batch and exchange, the overhead against the first exchange") {
  ScaleOptions o = options({1, 8});
  o.job.stack = "mxnet-18.04";
  const ScaleTable t = scale_table(session(), o, {{"lenet", "alexnet"}, {"p2p", "nccl"}, {16, 32}, {224}}).value();
  REQUIRE(t.studies.size() == 8);
  CHECK(t.studies[0].one.job.model == "lenet");
  CHECK(t.studies[3].one.job.batch_per_gpu == 32);
  CHECK(t.studies[3].one.job.exchange == Exchange::nccl);
  CHECK_FALSE(t.studies[2].rows[1].overhead.has_value());
  CHECK_THAT(*t.studies[3].rows[1].overhead,
             WithinRel(t.studies[3].rows[1].epoch_time.value / t.studies[2].rows[1].epoch_time.value - 1.0, 1e-12));
  // GPU 0 keeps merged gradient, weight and momentum under the NCCL store: three times the parameters.
  const ScaleRow& eight = t.studies[5].rows[1];
  CHECK_THAT((eight.first_gpu_peak - eight.least_peak).base(), WithinRel(3.0 * 4.0 * 50'844'008, 0.04));
}

TEST_CASE("a study that cannot be made is named beside those that can, without any there is no table") {
  ScaleOptions o = options({1, 2});
  o.job.stack = "mxnet-18.04";
  const ScaleTable t = scale_table(session(), o, {{"alexnet", "googlenet"}, {}, {}, {224}}).value();
  CHECK(t.studies.size() == 1);
  REQUIRE(t.problems.size() == 1);
  CHECK(t.problems.front().study == "googlenet");
  CHECK(scale_table(session(), o, {{"alexnet", "googlenet"}, {}, {}, {224, 299}}).value().problems.empty());
  CHECK_FALSE(scale_table(session(), o, {{"nonet"}, {}, {}, {}}));
  CHECK(scale_table(session(), o, {{"alexnet"}, {}, {}, {224, 299}}).error().front().message ==
        "--image: 2 sides for 1 network: expected one for all, or one for each");
}

TEST_CASE("GPUs and nodes: every pair, in the order asked for") {
  ScaleOptions o = options({8, 16});
  o.nodes = {2, 4};
  o.job.network = "infiniband-edr";
  const ScaleStudy s = study(o);
  REQUIRE(s.rows.size() == 4);
  CHECK(s.rows[0].gpus == 8);
  CHECK(s.rows[0].nodes == 2);
  CHECK(s.rows[3].gpus == 16);
  CHECK(s.rows[3].nodes == 4);
}

TEST_CASE("without sizes a study doubles up to the whole machine") {
  const ScaleStudy s = study(options({}));
  REQUIRE(s.rows.size() == 4);
  CHECK(s.rows[0].gpus == 1);
  CHECK(s.rows[1].gpus == 2);
  CHECK(s.rows[2].gpus == 4);
  CHECK(s.rows[3].gpus == 8);
}

TEST_CASE("what a study refuses, with the size at which it fails") {
  ScaleOptions board = options({});
  board.job.hardware = "p4000";
  CHECK(refused(board) ==
        "no sizes named, and p4000 has no more GPUs than one copy of the network takes; use --gpus or --nodes, such as --gpus "
        "1,2,4,8");
  CHECK(refused(options({9})) == "9 GPUs: 9 GPUs do not fill nodes of 8: take 8 or 16; `predict --nodes 3` takes 3 of each");
  CHECK(refused(options({0})) == "0 GPUs: --gpus 0: expected at least 1");
  ScaleOptions o = options({2});
  o.samples = 0;
  CHECK(refused(o) == "how many samples has an epoch? name them with --samples, such as --samples 256K");
}

TEST_CASE("a size that cannot be predicted leaves the others, and is told") {
  const ScaleStudy some = study(options({2, 9, 8}));
  REQUIRE(some.rows.size() == 2);
  CHECK(some.rows.back().gpus == 8);
  CHECK(some.notices.back() ==
        "left out: 9 GPUs: 9 GPUs do not fill nodes of 8: take 8 or 16; `predict --nodes 3` takes 3 of each");
}

TEST_CASE("sizes whose memory does not hold their batch are named, the one they are held against included") {
  ScaleOptions o = options({2, 8}, Scaling::fixed_global_batch);
  o.job.model = "resnet50";
  o.job.batch = 512;
  const std::vector<std::string> notices = study(o).notices;
  REQUIRE_FALSE(notices.empty());
  const std::string& last = notices.back();
  INFO(last);
  CHECK(last.rfind("more memory than the 17.2 GB of a GPU: 1 GPU on 1 node (batch 512, ", 0) == 0);
  CHECK(last.find("2 GPUs on 1 node (batch 256, ") != std::string::npos);
  CHECK(last.find("8 GPUs") == std::string::npos);
}
