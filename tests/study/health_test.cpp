// Rules of health: each fails where a job breaks it, and says what was found.
#include <algorithm>

#include "model/configuration/session.hpp"
#include "model/study/explain.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const Catalogue kCatalogue{TBDSIM_SOURCE_DIR};

PredictOptions job(const char* hardware, const char* model) {
  PredictOptions options;
  options.hardware = hardware;
  options.model = model;
  return options;
}

std::vector<HealthCheck> health_of(const PredictOptions& options) {
  const auto session = open_session(kCatalogue);
  const auto explanation = explain(*session, options);
  REQUIRE(explanation);
  return explanation->checks;
}

HealthCheck check_of(const std::vector<HealthCheck>& checks, const std::string& name) {
  const auto found = std::find_if(checks.begin(), checks.end(), [&](const HealthCheck& c) { return c.name == name; });
  return found == checks.end() ? HealthCheck{} : *found;
}

/// Rules that a job breaks, in their order.
std::vector<std::string> broken(const std::vector<HealthCheck>& checks) {
  std::vector<std::string> names;
  for (const HealthCheck& check : checks)
    if (!check.passed) names.push_back(check.name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a job that keeps its GPU busy breaks no rule of health, and what it does not use is no fault") {
  const auto checks = health_of(job("titan-xp", "resnet50"));
  CHECK(broken(checks).empty());
  CHECK(check_of(checks, "GPU busy").text == "100 %, at least 90 % is healthy");
  for (const char* unused : {"CPU memory used", "network rate used", "storage rate used"})
    CHECK(check_of(checks, unused).text == "none: the step does not use it, or its size is not known");
}

TEST_CASE("a slow disk is told by its rate, and the GPU that waits for it") {
  PredictOptions options = job("titan-xp", "alexnet");
  options.input = "imagenet-files";
  options.storage = "hdd";
  const auto checks = health_of(options);
  CHECK(broken(checks) == Names{"GPU busy", "storage rate used", "waiting for input"});
  CHECK(check_of(checks, "storage rate used").text == "100.0 %, below 90 % is healthy");
  options.storage = "nvme";  // the same files from a faster device
  CHECK(check_of(health_of(options), "storage rate used").passed);
}

TEST_CASE("a slow network is told by its rate, and the GPUs that wait for the exchange") {
  PredictOptions options = job("p4000", "vgg16");
  options.nodes = 4;
  options.network = "ethernet-1g";
  CHECK(broken(health_of(options)) == Names{"GPU busy", "network rate used", "waiting for the exchange"});
  options.network = "infiniband-edr";
  CHECK(check_of(health_of(options), "network rate used").passed);
}

TEST_CASE("memory of the GPU and of the CPU near its end, threads that take all cores") {
  PredictOptions options = job("titan-xp", "resnet50");
  options.batch = 127;
  CHECK(broken(health_of(options)) == Names{"GPU memory used"});
  options.batch = 64;
  CHECK(broken(health_of(options)).empty());

  options = job("dgx1", "alexnet");
  options.stack = "mxnet-18.04";
  const auto checks = health_of(options);
  CHECK(check_of(checks, "CPU memory used").passed);
  CHECK(check_of(checks, "CPU busy").passed);
  options.set = {"hw.host.memory_capacity=800 MB"};  // 771 MB are held; the word counts over the machine's own
  CHECK_FALSE(check_of(health_of(options), "CPU memory used").passed);
  options = job("dgx1", "alexnet");
  options.input = "imagenet-records";  // decoded without a barrier: all workers are at work all the time
  CHECK_FALSE(check_of(health_of(options), "CPU busy").passed);
}

TEST_CASE("waiting for the host, and in a pipeline for other stages") {
  CHECK_FALSE(check_of(health_of(job("titan-xp", "a3c")), "waiting for the host").passed);
  PredictOptions options = job("dgx1", "gpt2");
  CHECK(check_of(health_of(options), "waiting for other stages").name.empty());  // there are none
  options.pipeline_parallel = 4;
  options.accumulate = 2;
  CHECK_FALSE(check_of(health_of(options), "waiting for other stages").passed);
}

TEST_CASE("waiting for states on the host is told where some lie there") {
  PredictOptions options = job("dgx-a100-80gb", "gpt2-xl");
  options.stack = "deepspeed-0.14";
  options.precision = "bf16";
  options.gpus = 1;
  CHECK(check_of(health_of(options), "waiting for the offload").name.empty());
  options.offload = "states";
  options.set = {"hw.link.pcie.bandwidth=0.02x"};
  CHECK_FALSE(check_of(health_of(options), "waiting for the offload").passed);
}
