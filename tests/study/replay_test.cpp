// Measured steps under changes. The "measured" ones are steps that the model itself predicts, written as Chakra traces: then the
// replay has to agree with the prediction of the changed job, though it knows nothing of the step but the trace.
#include "model/study/replay.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "model/prediction/predict.hpp"
#include "model/report/chakra_trace.hpp"
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
