// What loads samples, what it costs, and what it says of it; processors by cause; buckets of lengths.
#include "model/prediction/input_stage.hpp"
#include "model/configuration/session.hpp"
#include "model/prediction/predict.hpp"

#include <algorithm>
#include <cmath>

#include "model/prediction/epoch.hpp"
#include "model/workload/zoo/length_distribution.hpp"
#include "tests/catch.hpp"
#include "tests/predicted.hpp"

using namespace tbdsim;

namespace {

PredictOptions job(const char* model = "alexnet") {
  PredictOptions options;
  options.hardware = "dgx1";
  options.model = model;
  options.gpus = 1;
  options.batch = 32;
  options.stack = "tensorflow-1.12";
  options.input = "imagenet-records";
  return options;
}

InputPipeline stream(int threads) {
  InputPipeline p;
  p.threads = threads;
  p.decode = Seconds(0.01);
  return p;
}

InputVerdict judged(const InputPipeline& pipeline, Seconds training) {
  const InputPace paced = pace(pipeline, 8, training, 1);
  return judge_input(pipeline, paced, 8, training, std::max(paced.step, training), 1, false);
}

}  // namespace

TEST_CASE("verdict: both sides of keeping up, with the margin and what would help") {
  // 8 samples of 10 ms on 4 threads load in 20 ms.
  const InputVerdict slow = judged(stream(4), Seconds(0.01));
  CHECK_THAT(slow.ratio, WithinRel(0.5, 1e-9));
  CHECK(slow.needed == 8);
  CHECK(slow.text == "loader-bound: 0.50x of what the GPUs could take; needs 4 more workers");
  CHECK_THAT(slow.overlapped.base(), WithinRel(0.01, 1e-9));
  const InputVerdict fast = judged(stream(4), Seconds(0.04));
  CHECK_THAT(fast.ratio, WithinRel(2.0, 1e-9));
  CHECK(fast.text == "trainer-bound: loads 2.00x what the GPUs take; 2 workers would do");
  CHECK_THAT(fast.overlapped.base(), WithinRel(0.02, 1e-9));
}

TEST_CASE("verdict: the storage or the copy may be what is slow") {
  InputPipeline p = stream(8);
  p.read = Seconds(0.005);
  CHECK(judged(p, Seconds(0.01)).text == "loader-bound: 0.25x of what the GPUs could take; needs storage 4.00x as fast");
  p.copy = Seconds(0.05);
  CHECK(judged(p, Seconds(0.01)).text ==
        "loader-bound: 0.20x of what the GPUs could take; needs storage 4.00x as fast and copies to the GPUs 5.00x as fast");
  // A worker that waits 30 ms for the storage does not decode meanwhile; with faster storage 8 workers are enough.
  p.copy = Seconds(0.0);
  p.wait = Seconds(0.03);
  const InputVerdict waits = judged(p, Seconds(0.01));
  CHECK_THAT(waits.decode.base(), WithinRel(0.01, 1e-9));
  CHECK(waits.needed == 8);
  CHECK(waits.text == "loader-bound: 0.25x of what the GPUs could take; needs storage 4.00x as fast");
}

TEST_CASE("verdict: more workers than cores need cores too, behind a barrier there may be no number") {
  InputPipeline p = stream(4);
  p.cores = 6;
  CHECK(judged(p, Seconds(0.01)).text ==
        "loader-bound: 0.50x of what the GPUs could take; needs 4 more workers, and 2 more cores for them");
  p.mode = InputMode::barrier;
  CHECK_FALSE(judged(p, Seconds(0.009)).needed);  // one sample takes 10 ms
}

TEST_CASE("faster storage, more workers and a faster processor never slow a step, files are never faster than records") {
  double last = 0.0;
  for (const char* storage : {"hdd", "ssd", "nvme", "page-cache"}) {
    INFO(storage);
    PredictOptions options = job();
    options.storage = storage;
    const double records = predicted(options).throughput.value;
    CHECK(records >= last);
    last = records;
    options.input = "imagenet-files";
    CHECK(predicted(options).throughput.value <= records * (1 + 1e-9));
  }
  last = 0.0;
  for (const int workers : {1, 2, 8, 39, 80}) {
    PredictOptions options = job();
    options.workers = workers;
    const double rate = predicted(options).throughput.value;
    CHECK(rate >= last);
    last = rate;
  }
  PredictOptions options = job();
  options.workers = 4;
  const double base = predicted(options).throughput.value;
  options.set = {"hw.host.clock=2x"};
  CHECK_THAT(predicted(options).throughput.value, WithinRel(2.0 * base, 1e-6));
}

TEST_CASE("a hard disk under single files: 74 images a second, and the limit is named") {
  PredictOptions options = job();
  options.input = "imagenet-files";
  options.storage = "hdd";
  const Prediction p = predicted(options);
  CHECK_THAT(p.throughput.value, WithinRel(1.0 / (12.7e-3 + 110e3 / 150e6), 1e-6));
  CHECK(p.limit.resource == Resource::input);
  CHECK(p.limit.text == "100 % of the critical path reads samples from sata-hard-disk-sequential");
  REQUIRE(p.input_verdict);
  CHECK(p.input_verdict->slowest == InputPart::storage);
  CHECK(p.input_verdict->later_epochs.find("141 GB") != std::string::npos);
  // The second epoch reads from memory: less than another first one, and as long as its rate says.
  REQUIRE(p.input_verdict->later_step);
  CHECK(*p.input_verdict->later_step < 0.5 * p.step_time.value);
  const Seconds first = estimate_epochs(p, 128'000, 1).total.value, both = estimate_epochs(p, 128'000, 2).total.value;
  const double steps = 128'000.0 / p.job.global_batch;
  CHECK_THAT((both - first) / *p.input_verdict->later_step, WithinRel(std::ceil(steps), 1e-9));
}

TEST_CASE("the mock trainer shows the loader alone, the mock loader the trainer alone") {
  PredictOptions options = job();
  options.workers = 4;
  const double both = predicted(options).throughput.value;
  options.mock_trainer = true;
  const Prediction loader = predicted(options);
  CHECK_THAT(loader.throughput.value, WithinRel(4.0 / 5.5e-3, 1e-9));
  CHECK(loader.input_verdict->text == "nothing trains; decoding sets the rate of loading");
  options.mock_trainer = false;
  options.mock_loader = true;
  const Prediction trainer = predicted(options);
  CHECK_FALSE(trainer.input_verdict);
  CHECK_THAT(both, WithinRel(std::min(loader.throughput.value, trainer.throughput.value), 1e-6));
}

TEST_CASE("copies in the stream of the kernels add to the step, pageable ones more") {
  PredictOptions options = job("resnet50");
  const Seconds beside = predicted(options).step_time.value;
  options.set = {"stack.input.copy_overlaps=false"};
  const Seconds before = predicted(options).step_time.value;
  options.set = {"stack.input.pinned=false"};
  const Seconds pageable = predicted(options).step_time.value;
  const double bytes = 32.0 * 3 * 224 * 224 * 4;
  CHECK_THAT((before - beside).base(), WithinRel(bytes / 12e9, 1e-6));
  CHECK_THAT((pageable - beside).base(), WithinRel(bytes / 12e9 + bytes / 10e9, 1e-6));
}

TEST_CASE("a loader makes one micro-batch after the other: their number changes neither its rate nor a sample's copy") {
  PredictOptions options = job();
  options.stack = "mxnet-ngc-18.04";  // a barrier per batch
  options.batch = 16;
  const auto step = [&](int accumulate) {
    options.accumulate = accumulate;
    const Prediction p = predicted(options);
    CHECK_THAT((p.input_verdict->load / p.input_verdict->decode), WithinRel(1.0, 0.05));
    return p.step_time.value;
  };
  CHECK_THAT(step(4) / step(1), WithinRel(4.0, 1e-2));
  options.mock_trainer = true;
  CHECK_THAT(step(4) / step(1), WithinRel(4.0, 1e-9));
  // Copied from pageable memory before each micro-batch.
  PredictOptions copied = job();
  copied.hardware = "v100-sxm2-16gb";  // a host without end
  copied.storage = "host-memory";
  copied.set = {"stack.input.pinned=false"};
  const auto copies = [&](int accumulate) {
    copied.accumulate = accumulate;
    return predicted(copied).phases.input_exposed;
  };
  const double bytes = 32.0 * 3 * 224 * 224 * 4;
  CHECK(copies(1).base() > bytes / 10e9);
  CHECK_THAT(copies(4) / copies(1), WithinRel(4.0, 1e-6));
  copied.input = "synthetic";
  copied.storage.clear();
  copied.set = {"stack.input.copy_overlaps=false", "stack.input.synthetic_on_host=true"};
  CHECK(copies(1).base() > bytes / 16e9);
  CHECK_THAT(copies(4) / copies(1), WithinRel(4.0, 1e-6));
}

TEST_CASE("nodes share a file server, not their own disks") {
  PredictOptions options = job("resnet50");
  options.gpus.reset();
  options.network = "infiniband-edr";
  const auto rate = [&](int nodes) {
    options.nodes = nodes;
    return predicted(options).throughput.value;
  };
  options.storage = "nfs-1g";
  CHECK_THAT(rate(4) / rate(1), WithinRel(1.0, 1e-6));
  options.storage = "hdd";
  CHECK_THAT(rate(4) / rate(1), WithinRel(4.0, 1e-2));
}

TEST_CASE("stages sum to the step with input, and the causes of processor time to the whole") {
  for (const char* exchange : {"allreduce", "ps"}) {
    PredictOptions options = job("resnet50");
    options.gpus = 4;
    options.exchange = exchange;
    options.storage = "ssd";
    const Prediction p = predicted(options);
    const PhaseTimes& s = p.phases;
    const Seconds sum =
        s.forward + s.backward + s.weight_update + s.metric + s.exchange_exposed + s.input_exposed + s.host_exposed;
    CHECK_THAT(sum.base(), WithinRel(p.step_time.value.base(), 1e-6));
    const Utilization& u = p.utilization;
    CHECK_THAT(u.cpu_launch + u.cpu_input + u.cpu_environment + u.cpu_server, WithinRel(u.cpu, 1e-9));
    CHECK(u.cpu_input > 0.0);
    CHECK((u.cpu_server > 0.0) == (std::string(exchange) == "ps"));
  }
}

TEST_CASE("a host with fewer cores than threads that issue operators is told") {
  PredictOptions options = job("mobilenet_v2");
  options.gpus = 4;
  options.batch = 1;
  const auto told = [&] {
    const Prediction p = predicted(options);
    return std::any_of(p.notices.begin(), p.notices.end(), [](const std::string& n) {
      return n.find("cores of a node that has 1: it will take longer") != std::string::npos;
    });
  };
  CHECK_FALSE(told());
  options.set = {"hw.host.cores=1"};
  CHECK(told());
}

TEST_CASE("a network that plays is fed by environments on the processors") {
  PredictOptions options;
  options.hardware = "titan-xp";
  options.model = "a3c";
  options.set = {"hw.host.cores=16"};  // with more the host, which issues operators, is what limits
  const Prediction p = predicted(options);
  CHECK(p.samples.input == "atari");
  CHECK(p.utilization.cpu_environment > 0.0);
  CHECK(p.utilization.cpu_input == 0.0);
  CHECK(p.limit.resource == Resource::input);
  CHECK(p.limit.text.find("simulates environments") != std::string::npos);
  options.set = {"hw.host.cores=8"};
  CHECK(predicted(options).throughput.value < p.throughput.value);
  options.set.clear();
  options.mock_loader = true;
  CHECK(predicted(options).throughput.value > p.throughput.value);
}

TEST_CASE("buckets: the mean lies between the shortest and the longest, tokens are those before padding") {
  PredictOptions options;
  options.hardware = "titan-xp";
  options.model = "gnmt";
  options.stack = "pytorch-ngc-20.06-apex";
  options.buckets = true;
  const Prediction mean = predicted(options);
  REQUIRE(mean.buckets.size() == 5);
  CHECK(mean.samples.text == "lengths 10 to 50");
  options.buckets = false;
  options.seq_len = 10;
  const Prediction least = predicted(options);
  options.seq_len = 50;
  const Prediction most = predicted(options);
  CHECK(least.step_time.value < mean.step_time.value);
  CHECK(mean.step_time.value < most.step_time.value);
  double step = 0.0;
  for (const BucketTime& bucket : mean.buckets) step += bucket.share * bucket.step.base();
  CHECK_THAT(mean.step_time.value.base(), WithinRel(step, 1e-12));
  CHECK_THAT(mean.throughput.value, WithinRel(mean.job.global_batch / step, 1e-12));
  CHECK(mean.memory.gpus.front().peak == most.memory.gpus.front().peak);
  CHECK_THAT(mean.samples.parts, WithinRel(2.0 * mean_length(*lengths_of("gnmt")), 1e-12));
  double shares = 0.0;
  for (const Limit& limit : mean.limits) shares += limit.share;
  CHECK_THAT(shares, WithinRel(1.0, 1e-9));
}

TEST_CASE("buckets of a network whose samples are alike, and beside a length: refused") {
  PredictOptions options;
  options.hardware = "titan-xp";
  options.model = "resnet50";
  options.buckets = true;
  const auto none = predict(session(), options);
  REQUIRE_FALSE(none);
  CHECK(to_text(none.error()) ==
        "--buckets: no lengths are known for resnet50; they are for sockeye, nmt, gnmt, deep_speech_2\n");
  options.model = "gnmt";
  options.seq_len = 20;
  const auto both = predict(session(), options);
  REQUIRE_FALSE(both);
  CHECK(to_text(both.error()) == "--seq-len 20 with --buckets: one length, or those of the data set\n");
}

TEST_CASE("workers are those of each process under PyTorch, of the node elsewhere") {
  PredictOptions options = job();
  options.gpus = 8;
  options.workers = 2;
  CHECK(predicted(options).input_verdict->workers == 2);  // TensorFlow
  options.stack = "pytorch-1.12";
  const Prediction ranks = predicted(options);
  CHECK(ranks.input_verdict->workers == 16);
  CHECK(ranks.input_verdict->loaders == 8);
  CHECK(std::find(ranks.notices.begin(), ranks.notices.end(),
                  "--workers 2: for each of the 8 processes of a node, as PyTorch counts them") != ranks.notices.end());
  options.exchange = "dataparallel";  // one process
  CHECK(predicted(options).input_verdict->workers == 2);
  options.exchange.clear();
  options.workers = 11;
  const Prediction many = predicted(options);
  CHECK(std::find(many.notices.begin(), many.notices.end(),
                  "--workers 11: 88 a node, more than the hardware threads of the host's 40 cores") != many.notices.end());
  InputPipeline p = stream(4);
  p.loaders = 2;
  CHECK(judged(p, Seconds(0.01)).text ==
        "loader-bound: 0.50x of what the GPUs could take; needs 4 more workers, 2 for each of the 2 processes");
}

TEST_CASE("NCCL's store leaves a share of the decode threads, of few threads as of many") {
  PredictOptions options = job();
  options.gpus = 2;
  options.batch = 16;
  options.stack = "mxnet-ngc-18.04";
  options.exchange = "nccl";
  const auto step = [&](int workers) {
    options.workers = workers;
    return predicted(options).step_time.value;
  };
  // 0.718 and 1.436 threads, both on one.
  CHECK_THAT(step(1) / step(2), WithinRel(2.0, 0.01));
  for (int workers = 2; workers <= 8; ++workers) {
    INFO(workers);
    CHECK(step(workers) < step(workers - 1));
  }
  // The share was set with 39 threads, of which it leaves 28 as they are.
  options.workers = 39;
  const Prediction p = predicted(options);
  CHECK(p.input_verdict->workers == 28);
  CHECK_THAT(p.input_verdict->sample.base(), WithinRel(1.18 * 12.5e-3, 1e-12));
}

TEST_CASE("a mock loader takes the place of a loader that could be, and of nothing else") {
  const auto message = [](const PredictOptions& options) {
    const auto prediction = predict(session(), options);
    return prediction ? std::string() : to_text(prediction.error());
  };
  PredictOptions options = job();
  options.mock_loader = true;
  CHECK(message(options).empty());
  options.storage = "hdd";
  CHECK(message(options).empty());
  options.mock_trainer = true;
  CHECK(message(options) ==
        "--mock-loader and --mock-trainer exclude each other: one shows the trainer alone, the other the loader\n");
  options.mock_trainer = false;
  options.storage = "no-such";
  CHECK_FALSE(message(options).empty());
  options.storage.clear();
  options.input.clear();
  CHECK(message(options) ==
        "--mock-loader takes the place of a loader, and nothing is loaded; name what is loaded with --input, such as --input "
        "imagenet-records\n");
}

TEST_CASE("an input's own decode time wins over the stack's, which is that of the stack's default input") {
  PredictOptions options = job("resnet50");
  options.gpus = 8;
  options.stack = "mxnet-ngc-18.04";
  options.mock_trainer = true;
  options.input = "imagenet-records";
  const Prediction records = predicted(options);
  CHECK_THAT(records.input_verdict->sample.base(), WithinRel(12.5e-3, 1e-9));
  CHECK(records.input_verdict->decode_of == "stack mxnet-ngc-18.04");
  options.input = "imagenet-files";  // the same images
  CHECK_THAT(predicted(options).input_verdict->sample.base(), WithinRel(12.5e-3, 1e-9));
  options.input = "imagenet-augmented";
  const Prediction augmented = predicted(options);
  CHECK_THAT(augmented.input_verdict->sample.base(), WithinRel(0.1e-3, 1e-9));
  CHECK(augmented.input_verdict->decode_of == "input imagenet-augmented");
  CHECK(augmented.throughput.value > 5.0 * records.throughput.value);
  const std::string notice =
      "stack mxnet-ngc-18.04: its decode time of 12.5 ms is that of imagenet-records; imagenet-augmented states its own, 100 us";
  CHECK(std::find(augmented.notices.begin(), augmented.notices.end(), notice) != augmented.notices.end());
  options.input = "imagenet-480-records";
  CHECK_THAT(predicted(options).input_verdict->sample.base(), WithinRel(2.7e-3, 1e-9));
}

TEST_CASE("other machines that prepare samples add their cores, until the network is full") {
  PredictOptions options = job();
  options.network = "ethernet-10g";
  options.mock_trainer = true;
  options.workers = 5;
  const double own = predicted(options).throughput.value;
  options.input_hosts = 1;
  const Prediction one = predicted(options);
  CHECK_THAT(one.throughput.value, WithinRel(own, 1e-9));
  CHECK(one.utilization.cpu_input == 0.0);
  // 3 x 224 x 224 floats an image, or what the network takes.
  const double image = static_cast<double>(one.input_verdict->arriving.base()) / one.throughput.value;
  CHECK(image > 3 * 220 * 220 * 4);
  CHECK_THAT(*one.loads.network, WithinRel(one.throughput.value * image / 1e9, 1e-6));
  double last = 0.0;
  for (const int hosts : {1, 2, 4, 8}) {
    options.input_hosts = hosts;
    const Prediction p = predicted(options);
    CHECK(p.throughput.value >= last);
    CHECK(p.throughput.value * image <= 1e9 * (1 + 1e-9));
    last = p.throughput.value;
  }
  CHECK_THAT(last * image, WithinRel(1e9, 1e-6));  // 10 Gb/s over TCP
  CHECK(predicted(options).limit.text == "100 % of the critical path brings samples from other machines over the network");
}

TEST_CASE("what a data set takes of a host of unknown memory is told") {
  PredictOptions options = job("resnet50");
  options.hardware = "v100-sxm2-16gb";  // in a host of which no file states the memory
  const auto told = [&](const char* storage) {
    options.storage = storage;
    const Prediction p = predicted(options);
    return std::count_if(p.notices.begin(), p.notices.end(),
                         [](const std::string& n) { return n.find("the data set takes") != n.npos; });
  };
  CHECK(told("host-memory") == 1);
  CHECK(told("page-cache") == 1);
  CHECK(told("hdd") == 0);
  options.storage = "host-memory";
  const Prediction p = predicted(options);
  CHECK(std::find(p.notices.begin(), p.notices.end(),
                  "--storage host-memory: the data set takes 771 GB of the memory of each node's host; no file states how much "
                  "plain-pcie-3 has") != p.notices.end());
  options.hardware = "dgx1";
  CHECK(told("page-cache") == 0);
}
