// Goals set on: AMD EPYC (family 26), 2 cores of a shared virtual machine, GCC 12, Release.
#include <filesystem>

#include "model/study/sweep.hpp"
#include "tests/bench/bench.hpp"
#include "tests/bench/step_case.hpp"

namespace tbdsim::bench {

/// Five networks on two machines, batches about those in use, and the GPU counts of a box, on all cores into a new file.
void bench_sweep(Report& report) {
  constexpr std::string_view kName = "sweep of 5 networks, 2 machines, 50 batches, 4 GPU counts";
  if (!report.wanted(kName)) return;
  constexpr int kRuns = 3;
  StudyGrid grid{{{"hw", {"dgx1", "aws-p4d.24xlarge"}},
                  {"model", {"resnet50", "alexnet", "vgg16", "inception_v3", "googlenet"}},
                  {"batch", {}},
                  {"gpus", {"1", "2", "4", "8"}}},
                 {}};
  for (int batch = 4; batch <= 200; batch += 4) grid.axes[2].values.push_back(std::to_string(batch));
  const auto session = open_session(catalogue());
  const auto path = (std::filesystem::temp_directory_path() / "tbdsim-bench-sweep.db").string();
  report.rate(kName, static_cast<double>(grid.points()), "rows", 2000.0, kRuns, [&] {
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
    auto store = SweepStore::open(path, grid_text(grid));
    keep(store && sweep(*session, grid, {}, *store, [](const SweepProgress&) {}));
  });
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
}

}  // namespace tbdsim::bench
