// What the host's speed does to a step: of a CPU that is known, of one that nothing names, of a script that waits after each
// step.
#include <algorithm>

#include "model/prediction/predict.hpp"
#include "tests/catch.hpp"
#include "tests/predicted.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

namespace {

/// MobileNet v2 at batch 1: small kernels, for which the host is late.
PredictOptions small(std::vector<std::string> set = {}) {
  PredictOptions options;
  options.hardware = "rtx-2080-ti";
  options.model = "mobilenet_v2";
  options.stack = "pytorch-1.13";
  options.batch = 1;
  options.set = std::move(set);
  return options;
}

bool tells_of_cpu(const Prediction& p) {
  return std::any_of(p.notices.begin(), p.notices.end(),
                     [](const std::string& n) { return n.rfind("nothing names the CPU", 0) == 0; });
}

double width(const Prediction& p) { return p.step_time.high / p.step_time.low; }

}  // namespace

TEST_CASE("a CPU that nothing names is told of and widens the range, where the step waits for it") {
  const Prediction unknown = predicted(small());
  const Prediction known = predicted(small({"hw.host.single_thread=0.551", "hw.host.single_thread_source=\"measured: a test\""}));
  CHECK(tells_of_cpu(unknown));
  CHECK_FALSE(tells_of_cpu(known));
  CHECK_THAT(known.step_time.value.base(), WithinRel(unknown.step_time.value.base(), 1e-12));
  CHECK(width(unknown) > 1.1 * width(known));
  PredictOptions large = small();
  large.model = "vgg16";
  large.batch = 32;
  CHECK_FALSE(tells_of_cpu(predicted(large)));
}

TEST_CASE(
    "a step that waits for the host takes half the time on a CPU of twice the speed, other frameworks' hosts are as they are") {
  const auto at = [](const char* speed, const char* stack) {
    PredictOptions options = small({std::string("hw.host.single_thread=") + speed});
    options.stack = stack;
    return predicted(options).step_time.value.base();
  };
  CHECK_THAT(at("0.25", "pytorch-1.13"), WithinRel(2.0 * at("0.5", "pytorch-1.13"), 0.01));
  CHECK(at("0.25", "tensorflow-1.15") == at("0.5", "tensorflow-1.15"));
}

TEST_CASE("a speed that the user states holds for a board without a slot, too, and is told against that of its machine") {
  PredictOptions options = small({"hw.host.single_thread=0.5x"});
  options.hardware = "mi300x";
  options.stack.clear();
  const Prediction p = predicted(options);
  CHECK(std::find(p.notices.begin(), p.notices.end(), "hw.host.single_thread: 0.974 becomes 0.487") != p.notices.end());
  CHECK(tells_of_cpu(p));
}

TEST_CASE("a speed of zero is refused") {
  const auto refused = predict(session(), small({"hw.host.single_thread=0"}));
  REQUIRE_FALSE(refused);
  CHECK(to_text(refused.error()).find("single_thread: expected a number from 0.01 to 100, got 0") != std::string::npos);
}

TEST_CASE("a script that waits after each step is no faster, and without an optimiser a step is no slower") {
  PredictOptions options = small();
  options.model = "resnet50";
  options.batch = 32;
  const double plain = predicted(options).step_time.value.base();
  options.set = {"stack.host.waits_each_step=true"};
  const double waits = predicted(options).step_time.value.base();
  CHECK(waits > plain);
  options.optimizer = "none";
  const Prediction none = predicted(options);
  CHECK(none.step_time.value.base() < waits);
  // Gradients are set to zero before PyTorch 2.0; nothing is where they are dropped.
  CHECK(none.phases.weight_update > Seconds(0.0));
  options.stack = "pytorch-2.1";
  CHECK(predicted(options).phases.weight_update == Seconds(0.0));
}
