// Measured steps under changes. The "measured" ones are steps that the model itself predicts, written as Chakra traces: then the
// replay has to agree with the prediction of the changed job, though it knows nothing of the step but the trace.
#include "model/study/replay.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "model/prediction/predict.hpp"
#include "model/report/chakra_trace.hpp"
#include "model/study/trace_doubts.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

/// A file that goes when the test ends.
struct TraceFile {
  std::string path;
  explicit TraceFile(const std::string& name)
      : path((std::filesystem::temp_directory_path() / ("tbdsim_" + name + "_" + std::to_string(::getpid()) + ".et")).string()) {}
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile() { std::filesystem::remove(path); }
};

struct Change {
  std::string hardware, model;
  int batch = 0;
  std::vector<std::string> set;
};

}  // namespace

TEST_CASE("A predicted step, replayed under a change, takes what is predicted of the changed job") {
  const auto session = open_session(Catalogue{TBDSIM_SOURCE_DIR});
  const Change changes[] = {{"v100-sxm2-16gb", "resnet50", 32, {}},
                            {"v100-sxm2-16gb", "resnet50", 32, {"hw.device.memory_bandwidth=2x"}},
                            {"v100-sxm2-16gb", "resnet50", 32, {"parallel.batch=2x"}},
                            {"dgx1", "vgg16", 32, {"hw.link.nvlink.bandwidth=0.25x"}},
                            {"dgx1", "bert-large", 8, {"hw.link.nvlink.bandwidth=0.2x"}}};
  const TraceFile file("replay");
  for (const Change& change : changes) {
    PredictOptions options;
    options.hardware = change.hardware;
    options.model = change.model;
    options.batch = change.batch;
    options.detail = true;
    const auto before = predict(*session, options);
    REQUIRE(before);
    std::ofstream(file.path, std::ios::binary) << chakra_trace(*before);
    options.set = change.set;
    const auto after = predict(*session, options);
    const auto replayed = replay(*session, options, file.path);
    REQUIRE(after);
    REQUIRE(replayed);
    INFO(change.model << " " << (change.set.empty() ? "unchanged" : change.set.front()));
    CHECK_THAT(replayed->replayed.value.base(), WithinRel(after->step_time.value.base(), change.set.empty() ? 0.02 : 0.03));
    CHECK(replayed->replayed.low <= replayed->replayed.value);
    CHECK(replayed->replayed.value <= replayed->replayed.high);
    if (change.set.empty()) CHECK_THAT(replayed->replayed.value.base(), WithinRel(replayed->measured.base(), 1e-9));
  }
}

TEST_CASE("a replay refuses changes of what runs beside what, and tells those that scale nothing and a trace of another job") {
  const auto session = open_session(Catalogue{TBDSIM_SOURCE_DIR});
  PredictOptions options;
  options.hardware = "dgx1";
  options.model = "lenet";
  options.gpus = 2;
  options.detail = true;
  const TraceFile file("doubts");
  std::ofstream(file.path, std::ios::binary) << chakra_trace(*predict(*session, options));
  for (const char* change : {"stack.exchange.overlaps_backward=false", "stack.input.copy_overlaps=true"}) {
    options.set = {change};
    const auto refused = replay(*session, options, file.path);
    REQUIRE_FALSE(refused);
    CHECK(to_text(refused.error()) == std::string("--from-trace: ") + change +
                                          ": a replay scales the work of a trace and leaves what runs beside what; predict "
                                          "without --from-trace\n");
  }
  const auto tells = [&](const Result<StepReplay>& replayed, const std::string& words) {
    REQUIRE(replayed);
    return std::any_of(replayed->notices.begin(), replayed->notices.end(),
                       [&](const std::string& notice) { return notice.find(words) != std::string::npos; });
  };
  const std::string nothing = "--from-trace: the changes scale no work of this trace; its step stays as measured";
  options.set = {"hw.device.launch_price=1 USD"};
  CHECK(tells(replay(*session, options, file.path), nothing));
  options.set = {"hw.device.memory_bandwidth=2x"};
  CHECK_FALSE(tells(replay(*session, options, file.path), nothing));
  options.set.clear();
  CHECK_FALSE(tells(replay(*session, options, file.path), "is it the one that was traced"));
  options.model = "resnet50";
  CHECK(tells(replay(*session, options, file.path), "times as long: is it the one that was traced"));
}

TEST_CASE("a trace of another device of the catalogue is doubted, one of a name that it does not know is not") {
  const Catalogue catalogue{TBDSIM_SOURCE_DIR};
  PredictOptions options;
  options.hardware = "titan-xp";
  options.model = "lenet";
  const Prediction p = predict(*open_session(catalogue), options).value();
  const Seconds step = p.step_time.value;
  CHECK(trace_doubts(catalogue, {"TITAN Xp", step}, p).empty());
  CHECK(trace_doubts(catalogue, {"", 4.9 * step}, p).empty());
  CHECK(trace_doubts(catalogue, {"Voodoo 5", 0.21 * step}, p).empty());
  CHECK(trace_doubts(catalogue, {"Tesla V100-SXM2-16GB", step}, p) ==
        std::vector<std::string>{"the trace is of v100-sxm2-16gb, the job runs on titan-xp: is it the one that was traced?"});
  CHECK(trace_doubts(catalogue, {"", 5.1 * step}, p).size() == 1);
  CHECK(trace_doubts(catalogue, {"", 0.19 * step}, p).size() == 1);
}
