// What a session keeps: each file read once, errors too, for any number of threads; and the stack it picks for a device.
#include "model/configuration/session.hpp"

#include <array>
#include <set>
#include <thread>

#include "model/configuration/configure.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

std::string default_stack(Session& session, const char* device) {
  const auto d = load_device(session.catalogue(), device);
  REQUIRE(d);
  const auto stack = session.default_stack(*d);
  return *stack ? (**stack).id : to_text(stack->error());
}

}  // namespace

TEST_CASE("each thing is read once and shared, different questions are kept apart") {
  Session session({TBDSIM_SOURCE_DIR});
  CHECK(session.system("dgx1", 1) == session.system("dgx1", 1));
  CHECK(session.system("p100-pcie-16gb", 1) != session.system("p100-pcie-16gb", 2));
  CHECK(session.stack("mxnet-1.2") == session.stack("mxnet-1.2"));
  CHECK(session.constants() == session.constants());
  CHECK(session.workload("resnet50", "torchvision", {}) == session.workload("resnet50", "torchvision", {}));
  CHECK(session.workload("resnet50", "torchvision", {}) != session.workload("resnet50", "mxnet", {}));
  CHECK(session.workload("resnet50", "torchvision", {160, {}}) != session.workload("resnet50", "torchvision", {}));
  CHECK(session.workload("resnet50", "torchvision", {{}, 10}) != session.workload("resnet50", "torchvision", {}));
}

TEST_CASE("an error is kept like a value") {
  Session session({TBDSIM_SOURCE_DIR});
  const auto first = session.system("nowhere-at-all", 1);
  REQUIRE_FALSE(*first);
  CHECK(session.system("nowhere-at-all", 1) == first);
}

TEST_CASE("threads that ask at once get one and the same") {
  Session session({TBDSIM_SOURCE_DIR});
  std::vector<std::shared_ptr<const Result<Workload>>> found(8);
  std::vector<std::thread> threads;
  for (auto& slot : found) threads.emplace_back([&] { slot = session.workload("inception_v3", "torchvision", {}); });
  for (std::thread& thread : threads) thread.join();
  CHECK(std::set(found.begin(), found.end()).size() == 1);
  CHECK(*found.front());
}

TEST_CASE("a catalogue that is not there") {
  Session session({"/nonexistent"});
  CHECK_FALSE(*session.system("dgx1", 1));
  CHECK_FALSE(*session.stack("mxnet-1.2"));
  CHECK_FALSE(*session.constants());
  CHECK(*session.workload("resnet50", "torchvision", {}));  // networks are built in
}

TEST_CASE("the default stack: the newest PyTorch that still supports the device, another vendor's own") {
  Session session({TBDSIM_SOURCE_DIR});
  CHECK(default_stack(session, "h100-sxm5-80gb") == "pytorch-2.11");
  CHECK(default_stack(session, "t4") == "pytorch-2.11");
  CHECK(default_stack(session, "v100-sxm2-16gb") == "pytorch-2.1");
  const std::string kepler = default_stack(session, "k80");
  CHECK(kepler.rfind("pytorch-", 0) == 0);
  CHECK(default_stack(session, "mi25") == "pytorch-2.4-rocm");
  CHECK(default_stack(session, "mi300x") == "pytorch-2.4-rocm");
  Device fermi;
  fermi.id = "c2050";
  fermi.vendor = Vendor::nvidia;
  fermi.compute_capability = "2.0";
  const auto none = session.default_stack(fermi);
  REQUIRE_FALSE(*none);
  CHECK(to_text(none->error()) ==
        "no PyTorch stack of the catalogue supports c2050 (compute capability 2.0); name one with --stack\n");
}

TEST_CASE("networks the session does not know, to the letter") {
  Session session({TBDSIM_SOURCE_DIR});
  const auto text = [&](const char* name) {
    const auto workload = session.workload(name, "torchvision", {});
    return *workload ? "" : to_text(workload->error());
  };
  CHECK(text("rsenet50") == "unknown network \"rsenet50\", did you mean \"resnet50\"?\n");
  CHECK(
      text("yours.toml") ==
      "no network file \"yours.toml\", and unknown network \"yours\"; see `tbdsim list models`; files of your own end in .onnx, "
      ".toml or .json\n");
  CHECK(text("resnet50.toml").empty());
}

TEST_CASE("a session of changed documents shares what is left as it is") {
  Session session({TBDSIM_SOURCE_DIR});
  const auto edited = [&](const char* assignment) {
    PredictOptions options;
    options.hardware = "dgx1";
    options.model = "resnet50";
    options.set = {assignment};
    const auto inputs = edited_inputs(session, options);
    REQUIRE(*inputs);
    return (**inputs).session;
  };
  const auto shares = [&](const char* assignment) {
    const auto other = edited(assignment);
    return std::array{other->system("dgx1", 1) == session.system("dgx1", 1),
                      other->stack("pytorch-2.1") == session.stack("pytorch-2.1"),
                      other->workload("resnet50", "torchvision", {}) == session.workload("resnet50", "torchvision", {}),
                      other->constants() == session.constants()};
  };
  CHECK(shares("hw.device.memory_bandwidth=2x") == std::array{false, true, true, true});
  CHECK(shares("stack.host.dispatch=2x") == std::array{true, false, true, true});
  CHECK(shares("model.layer.conv1.kernel=5") == std::array{true, true, false, true});
  CHECK(shares("hw.kernels.gemm.fp32.reread=0.5") == std::array{false, true, true, false});
}

TEST_CASE("what is wrong with one question's options is not told of another's") {
  Session session({TBDSIM_SOURCE_DIR});
  PredictOptions wrong;
  wrong.hardware = "dgx1";
  wrong.model = "resnet50";
  wrong.exchange = "pigeons";
  wrong.set = {"hw.device.memory_bandwidth=2x"};
  CHECK_FALSE(configure(session, wrong));
  PredictOptions right = wrong;
  right.exchange = "";
  CHECK(configure(session, right));
}
