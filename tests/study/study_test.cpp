// Comparisons, explanations, named changes and sweeps.
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "model/configuration/configure.hpp"
#include "model/configuration/network_notices.hpp"
#include "model/configuration/session.hpp"
#include "model/configuration/what_if.hpp"
#include "model/prediction/cost.hpp"
#include "model/prediction/predict.hpp"
#include "model/report/compare_report.hpp"
#include "model/report/sweep_report.hpp"
#include "model/study/compare.hpp"
#include "model/study/compare_front.hpp"
#include "model/study/explain.hpp"
#include "model/study/grid_names.hpp"
#include "model/study/scale.hpp"
#include "model/study/sweep.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const Catalogue kCatalogue{TBDSIM_SOURCE_DIR};

StudyGrid grid() {
  return {{{"hw", {"titan-xp", "nothing-like-this", "p4000"}}, {"model", {"alexnet", "resnet18"}}, {"batch", {"8", "16"}}}, {}};
}

std::string fresh_file(const std::string& name) {
  const auto path = std::filesystem::temp_directory_path() / ("tbdsim-" + name + ".db");
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path.string() + end);
  return path.string();
}

SweepStore opened(const std::string& path) {
  auto store = SweepStore::open(path, grid_text(grid()));
  INFO((store ? "" : to_text(store.error())));
  REQUIRE(store);
  return std::move(*store);
}

void swept(SweepStore& store, SweepShard shard, std::size_t predicted) {
  const auto session = open_session(kCatalogue);
  const auto done = sweep(*session, grid(), shard, store, [](const SweepProgress&) {});
  REQUIRE(done);
  CHECK(done->predicted == predicted);
}

std::string exported(const SweepStore& store) { return sweep_export(store, SweepForm::csv).value(); }

}  // namespace

TEST_CASE("axes are lists of words and ranges of numbers, the last one runs fastest") {
  const StudyGrid two{{*parse_axis("hw", "a,b"), *parse_axis("batch", "4..16*2")}, {}};
  CHECK(two.points() == 6);
  CHECK(two.at(1) == std::vector<std::pair<std::string, std::string>>{{"hw", "a"}, {"batch", "8"}});
  CHECK(two.at(5) == std::vector<std::pair<std::string, std::string>>{{"hw", "b"}, {"batch", "16"}});
  CHECK(parse_axis("devices", "0,3")->values == std::vector<std::string>{"0,3"});
  CHECK_FALSE(parse_axis("batch", "16..4"));
  CHECK(to_text(options_of({{"batch", "0"}}, {}).error()) == "--batch: expected a whole number of at least 1, got \"0\"\n");
  CHECK(to_text(options_of({{"bytes", "4096"}}, {}).error()) == "--bytes: no option of a job\n");
}

TEST_CASE("a comparison is against its base, and says what it cannot tell apart") {
  const auto session = open_session(kCatalogue);
  const StudyGrid boards{{{"hw", {"titan-xp", "p4000", "gtx-1080-ti", "titan-xpp"}}, {"model", {"resnet50"}}}, {}};
  const auto comparison = compare(*session, boards, 1);
  REQUIRE(comparison);
  const auto& all = comparison->candidates;
  CHECK(all[1].speedup.value == 1.0);
  CHECK(all[0].apart);
  CHECK(all[0].speedup.value == all[0].prediction.throughput.value / all[1].prediction.throughput.value);
  CHECK(all[0].speedup.low < all[0].speedup.value);
  CHECK_FALSE(all[3].problem.empty());
  // TITAN Xp and GTX 1080 Ti differ by less than a prediction's range.
  CHECK_FALSE(compare(*session, boards, 0)->candidates[2].apart);
  CHECK(to_text(compare(*session, boards, 7).error()) == "--base 8: there are 4 candidates\n");
}

TEST_CASE("networks have a base each: the base's machine") {
  const auto session = open_session(kCatalogue);
  const StudyGrid mixed{{{"hw", {"titan-xp", "p4000"}}, {"model", {"resnet18", "alexnet"}}}, {}};
  const auto comparison = compare(*session, mixed, 2);  // resnet18 on p4000
  REQUIRE(comparison);
  const auto& all = comparison->candidates;
  CHECK(std::vector<std::size_t>{all[0].base, all[1].base, all[2].base, all[3].base} == std::vector<std::size_t>{2, 3, 2, 3});
  CHECK(all[3].speedup.value == 1.0);
  CHECK(all[1].speedup.value == all[1].prediction.throughput.value / all[3].prediction.throughput.value);
}

TEST_CASE("every unknown name of a grid is told at once") {
  const auto session = open_session(kCatalogue);
  const StudyGrid wrong{{{"hw", {"dgx1", "nope"}},
                         {"model", {"resnet50", "resnet5O", "mine.toml"}},
                         {"stack", {"nostack"}},
                         {"network", {"nonet"}},
                         {"batch", {"8"}}},
                        {}};
  const Errors errors = unknown_names(*session, wrong);
  REQUIRE(errors.size() == 4);
  CHECK(errors[1].message.find("did you mean \"resnet50\"") != std::string::npos);
  CHECK(unknown_names(*session, StudyGrid{{{"hw", {"dgx1"}}, {"model", {"ResNet-50"}}}, {}}).empty());
}

TEST_CASE("every named change can be read, and each is applied to what it names") {
  for (const WhatIf& what_if : what_ifs()) {
    INFO(what_if.name);
    CHECK_FALSE(what_if.text.empty());
    for (const std::string& set : what_if.set) CHECK(set.find('=') != std::string::npos);
    CHECK(find_what_if(what_if.name)->set == what_if.set);
  }
  CHECK(to_text(find_what_if("nvlink-3x").error()) == "unknown what-if \"nvlink-3x\", did you mean \"nvlink-2x\"?\n");
}

TEST_CASE("a change of every candidate's own number depends on no other candidate") {
  const auto session = open_session(kCatalogue);
  const std::vector<GridAxis> axes{*parse_axis("hw", "dgx1"), *parse_axis("model", "resnet50"), *parse_axis("gpus", "1")};
  StudyGrid halves{axes, find_what_if("batch-2x")->set}, plain{axes, {}};
  halves.axes.push_back(*parse_axis("batch", "16,32,8"));
  plain.axes.push_back(*parse_axis("batch", "32,64,16"));
  const auto doubled = compare(*session, halves, 0), stated = compare(*session, plain, 0);
  REQUIRE((doubled && stated));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(doubled->candidates[i].prediction.job.batch_per_gpu == stated->candidates[i].prediction.job.batch_per_gpu);
    CHECK(doubled->candidates[i].prediction.step_time.value.base() == stated->candidates[i].prediction.step_time.value.base());
  }
}

TEST_CASE("an explanation ranks changes by what they bring") {
  const auto session = open_session(kCatalogue);
  PredictOptions options;
  options.hardware = "dgx1";
  options.model = "resnet50";
  options.stack = "mxnet-1.2";
  options.batch = 16;
  const auto explanation = explain(*session, options);
  REQUIRE(explanation);
  const auto& changes = explanation->what_ifs;
  CHECK(changes.size() >= what_ifs().size());
  for (std::size_t i = 1; i < changes.size() && changes[i].problem.empty(); ++i) CHECK(changes[i - 1].gain >= changes[i].gain);
  const auto gain = [&](const std::string& name) {
    return std::find_if(changes.begin(), changes.end(), [&](const WhatIfOutcome& o) { return o.name == name; })->gain;
  };
  // The host is slow in this stack: relieving it helps, and removing its cost helps more.
  CHECK(gain("host-2x") > 0.01);
  CHECK(gain("no-launch-cost") >= gain("host-2x"));
  const auto& checks = explanation->checks;
  CHECK_FALSE(std::find_if(checks.begin(), checks.end(), [](const HealthCheck& c) { return c.name == "GPU busy"; })->passed);
}

TEST_CASE("where servers hold a job up, faster processors help and RDMA is what it was, full nodes double with their GPUs") {
  const auto session = open_session(kCatalogue);
  PredictOptions options;
  options.hardware = "dgx1";
  options.model = "vgg16";
  options.stack = "mxnet-1.2";
  options.exchange = "ps";
  options.nodes = 4;
  const auto of = [&](const std::string& name) {
    PredictOptions changed = options;
    changed.set = find_what_if(name)->set;
    return predict(*session, changed);
  };
  const Prediction base = predict(*session, options).value();
  CHECK(base.limit.resource == Resource::host);
  CHECK(base.limit.text.find("summing gradients and updating weights") != std::string::npos);
  CHECK(of("cpu-2x")->throughput.value > 1.3 * base.throughput.value);
  CHECK(of("cpu-half")->throughput.value < 0.8 * base.throughput.value);
  CHECK(of("gpus-2x")->job.nodes == 8);
  CHECK(of("gpus-2x")->job.gpus == 64);
  CHECK(of("rdma")->step_time.value == base.step_time.value);
  // 97.6 % of any line rate, and the steps of the transport.
  options.exchange = "allreduce";
  for (const auto* network : {"ethernet-10g", "ethernet-100g", "efa-400g", "tcpx-200g"}) {
    INFO(network);
    options.network = network;
    CHECK(of("rdma")->step_time.value < predict(*session, options)->step_time.value);
  }
}

TEST_CASE("twice the peak rate never slows a step down") {
  const auto session = open_session(kCatalogue);
  for (const char* model : {"resnet50", "deep_speech_2", "sockeye"}) {
    PredictOptions options;
    options.hardware = "h100-sxm5-80gb";
    options.model = model;
    options.precision = "amp";
    const auto explanation = explain(*session, options);
    REQUIRE(explanation);
    const auto faster = std::find_if(explanation->what_ifs.begin(), explanation->what_ifs.end(),
                                     [](const WhatIfOutcome& outcome) { return outcome.name == "compute-2x"; });
    INFO(model);
    REQUIRE(faster != explanation->what_ifs.end());
    CHECK(faster->gain >= 0.0);
  }
}

TEST_CASE("an explanation offers no hardware that relieves nothing, and the settings that do") {
  const auto session = open_session(kCatalogue);
  PredictOptions options;
  options.hardware = "p4000";
  options.model = "alexnet";
  options.input = "imagenet-records";
  options.workers = 2;
  const auto explanation = explain(*session, options);
  REQUIRE(explanation);
  CHECK(explanation->base.limit.resource == Resource::input);
  const auto outcome = [](const Explanation& e, const std::string& name) {
    const auto found = std::find_if(e.what_ifs.begin(), e.what_ifs.end(), [&](const WhatIfOutcome& o) { return o.name == name; });
    REQUIRE(found != e.what_ifs.end());
    return *found;
  };
  CHECK(outcome(*explanation, "gpus-2x").reason == "the job waits for its loader");
  CHECK(outcome(*explanation, "compute-2x").cannot_help);
  CHECK(outcome(*explanation, "workers-2x").gain > 0.5);
  CHECK_FALSE(outcome(*explanation, "workers-2x").hardware);
  CHECK(outcome(*explanation, "cpu-2x").hardware);
  CHECK(outcome(*explanation, "cpu-2x").gain > 0.5);

  options = {};
  options.hardware = "dgx1";
  options.model = "vgg19";
  options.stack = "mxnet-1.2";
  options.nodes = 4;
  options.network = "ethernet-10g";
  options.exchange = "ps";
  const auto servers = explain(*session, options);
  REQUIRE(servers);
  CHECK(outcome(*servers, "p3").problem.empty());
  CHECK(outcome(*servers, "p3").gain > 0.0);
  CHECK(outcome(*servers, "nvlink-2x").cannot_help);
  CHECK_FALSE(outcome(*servers, "network-2x").cannot_help);

  options = {};
  options.hardware = "titan-v";
  options.model = "resnet50";
  options.stack = "pytorch-1.4";
  options.precision = "amp";
  const auto old = explain(*session, options);
  REQUIRE(old);
  CHECK(outcome(*old, "channels-last").gain > 0.0);
  CHECK(outcome(*old, "--stack pytorch-1.12-nhwc").problem.empty());

  // The samples that this stack loads unasked are loaded under a newer one, too, by as many workers.
  options = {};
  options.hardware = "dgx1";
  options.model = "resnet50";
  options.stack = "mxnet-18.04";
  options.exchange = "nccl";
  options.batch = 16;
  const auto records = explain(*session, options);
  REQUIRE(records);
  const WhatIfOutcome newer = outcome(*records, "--stack mxnet-ngc-23.04 --input imagenet-records --workers 39");
  CHECK(newer.problem.empty());
  const auto use_newer = [](PredictOptions job) {
    job.stack = "mxnet-ngc-23.04";
    job.input = "imagenet-records";
    job.workers = 39;
    return job;
  };
  const auto typed = predict(*session, use_newer(options));
  REQUIRE(typed);
  CHECK(typed->throughput.value / records->base.throughput.value - 1.0 == newer.gain);
  // What is told of all together is what a user gets who types it.
  REQUIRE(records->combined);
  for (const std::string& option : records->combined->options) {
    constexpr std::string_view kWhatIf = "--what-if ", kSet = "--set ", kStack = "--stack ";
    if (option.starts_with(kStack)) {
      options = use_newer(options);
      options.stack = option.substr(kStack.size(), option.find(' ', kStack.size()) - kStack.size());
    }
    if (option.starts_with(kSet)) options.set.push_back(option.substr(kSet.size()));
    if (!option.starts_with(kWhatIf)) continue;
    const auto what_if = find_what_if(option.substr(kWhatIf.size()));
    REQUIRE(what_if);
    options.set.insert(options.set.end(), what_if->set.begin(), what_if->set.end());
  }
  const auto together = predict(*session, options);
  REQUIRE(together);
  CHECK(together->throughput.value / records->base.throughput.value - 1.0 == records->combined->gain);

  // Workers that the job names are its own.
  options = {};
  options.hardware = "dgx1";
  options.model = "resnet50";
  options.stack = "mxnet-18.04";
  options.workers = 8;
  const auto named = explain(*session, options);
  REQUIRE(named);
  CHECK(outcome(*named, "--stack mxnet-ngc-23.04 --input imagenet-records").problem.empty());
}

TEST_CASE("an explanation of a job that waits for its network says why RDMA does not help it") {
  PredictOptions options;
  options.hardware = "p4000";
  options.model = "vgg19";
  options.stack = "mxnet-1.2";
  options.nodes = 4;
  options.network = "ethernet-10g";
  options.exchange = "ps";
  const auto explanation = explain(*open_session(kCatalogue), options);
  REQUIRE(explanation);
  for (const WhatIfOutcome& outcome : explanation->what_ifs) {
    if (outcome.name != "rdma") continue;
    CHECK_FALSE(outcome.cannot_help);
    CHECK(outcome.problem == "changes nothing here, since the servers of --exchange ps speak TCP");
  }
}

TEST_CASE("an explanation offers no faster processors to a job that waits for copies to its host") {
  PredictOptions options;
  options.hardware = "dgx-a100-80gb";
  options.model = "gpt2-xl";
  options.stack = "deepspeed-0.14";
  options.precision = "bf16";
  options.gpus = 1;
  options.offload = "states";
  options.set = {"hw.link.pcie.bandwidth=0.02x"};
  const auto session = open_session(kCatalogue);
  const auto explanation = explain(*session, options);
  REQUIRE(explanation);
  CHECK(explanation->base.limit.resource == Resource::host_link);
  for (const WhatIfOutcome& outcome : explanation->what_ifs) {
    INFO(outcome.name);
    if (outcome.name == "cpu-2x" || outcome.name == "nvlink-2x") CHECK(outcome.cannot_help);
    if (outcome.name == "pcie-2x") CHECK(outcome.gain > 0.2);
  }
}

TEST_CASE("an explanation offers faster host memory to a job whose update waits for it") {
  PredictOptions options;
  options.hardware = "dgx-a100-80gb";
  options.model = "gpt2-xl";
  options.stack = "megatron-core-0.14";
  options.precision = "bf16";
  options.set = {"hw.host.dram_bandwidth=0.1x"};
  const auto session = open_session(kCatalogue);
  const auto of = [&] {
    const auto explanation = explain(*session, options);
    REQUIRE(explanation);
    const auto& all = explanation->what_ifs;
    return *std::find_if(all.begin(), all.end(), [](const WhatIfOutcome& o) { return o.name == "host-memory-bandwidth-2x"; });
  };
  CHECK(of().cannot_help);  // nothing lies there
  options.offload = "states";
  CHECK(of().gain > 0.2);
  // A host of which no file states the rate.
  options.hardware = "lambda-gpu-8x-v100-n";
  options.precision = "fp16";
  options.set.clear();
  CHECK(of().problem == "changes nothing here, since no file states the rate of the host's memory");
}

TEST_CASE("a network named for one node is told to be without effect") {
  const auto session = open_session(kCatalogue);
  const auto told = [&](int nodes, std::vector<std::string> set) {
    PredictOptions options;
    options.hardware = "dgx1";
    options.model = "lenet";
    options.nodes = nodes;
    options.set = std::move(set);
    if (options.set.empty()) options.network = "ethernet-10g";
    const auto p = predict(*session, options);
    REQUIRE(p);
    const std::string notice = one_node_notice("network ethernet-10g");
    return std::count(p->notices.begin(), p->notices.end(), notice);
  };
  CHECK(told(1, {}) == 1);
  CHECK(told(1, {"parallel.network=ethernet-10g"}) == 1);
  CHECK(told(2, {}) == 0);
  ScaleOptions options;
  options.job.hardware = "dgx1";
  options.job.model = "lenet";
  options.job.network = "ethernet-10g";
  options.samples = 1000;
  for (const int nodes : {1, 2}) {
    options.nodes = {1, nodes};
    const auto study = scale(*session, options);
    REQUIRE(study);
    CHECK(std::count(study->notices.begin(), study->notices.end(), one_node_notice("network ethernet-10g")) ==
          (nodes == 1 ? 1 : 0));
  }
}

TEST_CASE("a sweep resumes, and whole, cut or in shards it exports the same bytes") {
  SweepStore whole = opened(fresh_file("whole"));
  swept(whole, {}, 12);
  swept(whole, {}, 0);
  const std::string expected = exported(whole);
  CHECK(std::count(expected.begin(), expected.end(), '\n') == 13);
  CHECK(expected.find("nothing-like-this,alexnet,8,,,,,,,,,,,,\"no system") != std::string::npos);

  SweepStore shards = opened(fresh_file("shards"));
  swept(shards, {2, 3}, 4);
  swept(shards, {0, 3}, 4);
  CHECK(exported(shards) != expected);
  swept(shards, {}, 4);
  CHECK(exported(shards) == expected);
}

TEST_CASE("a file of another sweep is refused") {
  const std::string path = fresh_file("other");
  { const SweepStore store = opened(path); }
  const auto other = SweepStore::open(path, "hw=dgx1\n");
  REQUIRE_FALSE(other);
  CHECK(to_text(other.error()) == path + ": holds another sweep; name another file with -o\n");
  CHECK(to_text(SweepStore::read("/nothing/here.db").error()) == "/nothing/here.db: no such sweep\n");
}

TEST_CASE("a database of something else is refused and stays as it is") {
  const std::string path = fresh_file("foreign");
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &database) == SQLITE_OK);
  REQUIRE(sqlite3_exec(database, "CREATE TABLE mine (a)", nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
  const auto bytes = [&] {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string before = bytes();
  const std::string refused =
      path + ": a database of something else, not a sweep; name a file that sweep -o wrote, or a new one to write\n";
  CHECK(to_text(SweepStore::open(path, "hw=dgx1\n").error()) == refused);
  CHECK(to_text(SweepStore::read(path).error()) == refused);
  CHECK(bytes() == before);
  std::ofstream(path, std::ios::trunc) << "";
  CHECK(to_text(SweepStore::read(path).error()) == path + ": an empty file, not a sweep; name a file that sweep -o wrote\n");
  CHECK(SweepStore::open(path, "hw=dgx1\n"));
}
