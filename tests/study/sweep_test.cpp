// Points of a sweep share what does not depend on their GPUs, and are what each would be alone; the front of a sweep.
#include "model/study/sweep.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "model/report/sweep_report.hpp"
#include "model/study/grid_names.hpp"
#include "model/study/pareto.hpp"
#include "model/study/sweep_front.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

SweepStore fresh_store(const StudyGrid& grid, const std::string& name) {
  const auto path = (std::filesystem::temp_directory_path() / ("tbdsim-" + name + ".db")).string();
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
  auto store = SweepStore::open(path, grid_text(grid));
  REQUIRE(store);
  return std::move(*store);
}

SweepStore swept(Session& session, const StudyGrid& grid, const std::string& name) {
  SweepStore store = fresh_store(grid, name);
  REQUIRE(sweep(session, grid, {}, store, [](const SweepProgress&) {}));
  return store;
}

/// Every row against a prediction that knows of no other.
void check_alone(Session& session, const StudyGrid& grid, const std::string& name) {
  std::size_t number = 0, fits = 0;
  REQUIRE(swept(session, grid, name).each([&](const SweepRow& row) {
    INFO(row.config);
    const auto alone = predict(session, options_of(grid.at(number++), grid.set).value());
    CHECK(row.problem.empty() == alone.has_value());
    if (!alone) return;
    Bytes peak;
    for (const GpuMemory& gpu : alone->memory.gpus) peak = std::max(peak, gpu.peak);
    CHECK(row.step_time == alone->step_time.value);
    CHECK(row.step_time_high == alone->step_time.high);
    CHECK(row.limit == tbdsim::name(alone->limit.resource));
    CHECK(row.peak == peak);
    CHECK(row.fits == alone->memory.fits);
    fits += row.fits ? 1 : 0;
  }));
  CHECK(number == grid.points());
  CHECK((fits > 0 && fits < number));  // both cases are among them
}

}  // namespace

TEST_CASE("rows that share a step are what they are alone, whether they fit or not") {
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  // Batches about which ResNet-50 stops fitting 16 GB; one exchange that the stack lacks.
  check_alone(*session,
              {{{"gpus", {"1", "2", "8", "16"}},
                {"hw", {"dgx1"}},
                {"exchange", {"allreduce", "dataparallel", "p2p"}},
                {"model", {"resnet50"}},
                {"batch", {"16", "150", "160", "170", "180", "190", "200"}}},
               {}},
              "shared-eager");
  check_alone(*session,
              {{{"hw", {"dgx1"}},
                {"stack", {"mxnet-18.04"}},
                {"model", {"lenet", "vgg16"}},
                {"exchange", {"nccl", "p2p"}},
                {"batch", {"16", "200"}},
                {"gpus", {"1", "4", "8"}}},
               {}},
              "shared-planned");
  check_alone(
      *session,
      {{{"hw", {"dgx1"}}, {"model", {"vgg16"}}, {"batch", {"32", "256"}}, {"gpus", {"1", "8"}}, {"zero", {"0", "3"}}}, {}},
      "shared-zero");
}

TEST_CASE("a sweep tells options without effect once, and keeps how busy the CPU is") {
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  const StudyGrid grid{{{"hw", {"dgx1"}}, {"model", {"lenet"}}, {"nodes", {"1", "2"}}, {"network", {"ethernet-10g"}}}, {}};
  auto store = fresh_store(grid, "idle");
  const auto first = sweep(*session, grid, {}, store, [](const SweepProgress&) {});
  REQUIRE(first);
  CHECK(first->idle.notices("points") ==
        std::vector<std::string>{"network ethernet-10g: without effect, since the job runs on one node; use --nodes, such as "
                                 "--nodes 2 (1 of 2 points)"});
  const auto again = sweep(*session, grid, {}, store, [](const SweepProgress&) {});
  REQUIRE(again);
  CHECK(again->idle.notices("points").empty());
  REQUIRE(store.each([&](const SweepRow& row) {
    const auto alone = predict(*session, options_of(grid.at(static_cast<std::size_t>(row.position)), grid.set).value());
    REQUIRE(alone);
    CHECK(row.cpu_busy == alone->utilization.cpu);
    CHECK(row.cpu_busy > 0.0);
  }));
}

TEST_CASE("a sweep predicts anew what a changed file says, also one that its system file refers to") {
  const auto folder = std::filesystem::temp_directory_path() / "tbdsim-sweep-files";
  std::filesystem::create_directories(folder);
  const auto device = [&](const char* peak) {
    std::ofstream(folder / "board.toml") << "schema = 1\nname = \"board\"\nmultiprocessors = 10\nfp32_lanes = 64\npeak_fp32 = \""
                                         << peak << "\"\nmemory_capacity = \"16 GiB\"\nmemory_bandwidth = \"300 GB/s\"\n"
                                         << "source = \"assumed: an example\"\n";
  };
  const std::string system = (folder / "box.toml").string();
  std::ofstream(system) << "schema = 1\nname = \"box\"\ndevice = \"board\"\ngpus = 1\nhost = \"plain-pcie-3\"\n"
                        << "source = \"assumed: an example\"\n";
  device("2 TFLOP/s");
  StudyGrid grid;
  grid.axes = {{"hw", {system}}, {"model", {"lenet"}}};
  auto store = fresh_store(grid, "files");
  const auto predicted = [&] {
    const auto session = open_session({TBDSIM_SOURCE_DIR});
    const auto progress = sweep(*session, grid, {}, store, [](const SweepProgress&) {});
    REQUIRE(progress);
    CHECK(store.problems() == 0);
    CHECK(store.rows() == 1);  // the old answer goes with its question
    return std::pair(progress->predicted, progress->dropped);
  };
  CHECK(predicted() == std::pair<std::size_t, std::int64_t>(1, 0));
  CHECK(predicted() == std::pair<std::size_t, std::int64_t>(0, 0));
  device("4 TFLOP/s");
  CHECK(predicted() == std::pair<std::size_t, std::int64_t>(1, 1));
  CHECK(predicted() == std::pair<std::size_t, std::int64_t>(0, 0));
  // A process that began before the change may not add to what began after it.
  auto late = SweepStore::open((std::filesystem::temp_directory_path() / "tbdsim-files.db").string(), "");
  REQUIRE(late);
  SweepOrigin other = late->origin();
  other.digest = "other inputs";
  REQUIRE(late->begin(other));
  CHECK(store.add({SweepRow{}}).error().front().message ==
        "another process has begun this sweep anew with other inputs; sweep again");
  std::filesystem::remove_all(folder);
}

TEST_CASE("rows stay where a file from which they follow can no longer be read") {
  const auto folder = std::filesystem::temp_directory_path() / "tbdsim-sweep-damaged";
  std::filesystem::create_directories(folder);
  const std::string network = (folder / "own.toml").string();
  std::filesystem::copy_file(std::string(TBDSIM_SOURCE_DIR) + "/tests/cli/data/small_cnn.toml", network,
                             std::filesystem::copy_options::overwrite_existing);
  const StudyGrid grid{{{"hw", {"p4000"}}, {"model", {network}}, {"batch", {"1", "2"}}}, {}};
  auto store = fresh_store(grid, "damaged");
  REQUIRE(sweep(*open_session({TBDSIM_SOURCE_DIR}), grid, {}, store, [](const SweepProgress&) {}));
  std::ofstream(network) << "garbage";
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  const Errors unreadable = unknown_names(*session, grid);
  REQUIRE(unreadable.size() == 1);
  CHECK(unreadable.front().where.file == network);
  // So it is with files that are looked at point by point.
  const auto again = sweep(*session, grid, {}, store, [](const SweepProgress&) {});
  REQUIRE_FALSE(again);
  CHECK(again.error().front().message ==
        "its 2 rows are kept: none that was tried of them can be predicted from its inputs as they are now; put them right, or "
        "name another file with -o");
  CHECK(again.error().at(1).where.file == network);
  CHECK(store.rows() == 2);
  CHECK(store.problems() == 0);
  std::filesystem::remove_all(folder);
}

TEST_CASE("the reason of a point without figures names the file in which it lies") {
  const auto network = (std::filesystem::temp_directory_path() / "tbdsim-sweep-reason.toml").string();
  std::ofstream(network) << "garbage";
  const StudyGrid grid{{{"hw", {"p4000"}}, {"model", {network}}}, {}};
  std::string problem;
  REQUIRE(swept(*open_session({TBDSIM_SOURCE_DIR}), grid, "reason").each([&](const SweepRow& row) { problem = row.problem; }));
  CHECK(problem.substr(0, network.size() + 1) == network + ":");
  CHECK(problem.find('\n') == std::string::npos);
  std::filesystem::remove(network);
}

TEST_CASE("a grid with a file of multipliers predicts with them") {
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  const std::string anchors = std::string(TBDSIM_SOURCE_DIR) + "/tests/cli/data/anchors.toml";
  const std::vector<std::pair<std::string, std::string>> plain{{"hw", "p4000"}, {"model", "resnet50"}};
  auto calibrated = plain;
  calibrated.emplace_back("calibration", anchors);
  const auto options = options_of(calibrated, {});
  REQUIRE(options);
  CHECK_FALSE(options->set.empty());
  const auto with = predict(*session, *options), without = predict(*session, options_of(plain, {}).value());
  REQUIRE(with);
  REQUIRE(without);
  CHECK(with->step_time.value != without->step_time.value);
  CHECK(to_text(options_of({{"calibration", "nowhere.toml"}}, {}).error()) ==
        "--calibration: expected a file that calibrate anchor wrote, got \"nowhere.toml\"\n");
}

TEST_CASE("a sweep's grid refuses what is no option of a job, and names those that are") {
  for (const char* option : {"seed", "kernels", "links", "collective"}) {
    INFO(option);
    const std::string problem = axis_problem(option);
    CHECK(problem.starts_with("no option of a job; the grid of a sweep takes hw, "));
    for (const char* taken : {", gpus", ", batch", ", seq_len", ", calibration"}) CHECK(problem.find(taken) != std::string::npos);
    CHECK(problem.find(std::string(", ") + option) == std::string::npos);
  }
  for (const char* option : {"hw", "model", "batch", "calibration", "seq-len", "zero"}) CHECK(axis_problem(option).empty());
}

TEST_CASE("nothing beats a choice of the front, and something of it beats every other") {
  std::mt19937 random(7);
  std::vector<Choice> choices;
  for (int i = 0; i < 300; ++i)  // few values, so that ties and equals occur
    choices.push_back({Seconds(static_cast<double>(random() % 12)), Usd(static_cast<double>(random() % 12)),
                       Bytes(static_cast<double>(random() % 12))});
  const auto beats = [](const Choice& a, const Choice& b) {
    return a.time <= b.time && a.cost <= b.cost && a.memory <= b.memory &&
           (a.time < b.time || a.cost < b.cost || a.memory < b.memory);
  };
  const std::vector<bool> front = pareto_front(choices);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    bool beaten = false, by_front = false;
    for (std::size_t k = 0; k < choices.size(); ++k) {
      beaten |= beats(choices[k], choices[i]);
      by_front |= front[k] && beats(choices[k], choices[i]);
    }
    CHECK(front[i] == !beaten);
    CHECK(by_front == beaten);
  }
  CHECK(pareto_front({}).empty());
}

TEST_CASE("the front of a sweep compares the same work, fitting and priced alike") {
  const StudyGrid grid{{{"model", {"a", "b"}}, {"batch", {"1", "2", "3", "4", "5"}}}, {}};
  const auto path = (std::filesystem::temp_directory_path() / "tbdsim-front.db").string();
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
  auto store = SweepStore::open(path, grid_text(grid));
  REQUIRE(store);
  std::vector<SweepRow> rows;
  const auto add = [&](const char* model, double throughput, std::optional<double> cost, double memory) -> SweepRow& {
    SweepRow row;
    row.position = static_cast<std::int64_t>(rows.size());
    row.config = std::string("model=") + model + "\nbatch=" + std::to_string(row.position) + "\n";
    row.step_time = row.step_time_low = row.step_time_high = Seconds(1.0 / throughput);
    row.throughput = throughput;
    if (cost) row.million_samples_cost = Usd(*cost);
    if (cost) row.paid_by = PaidBy::purchase;
    row.peak = Bytes(memory);
    rows.push_back(row);
    return rows.back();
  };
  add("a", 100, 5.0, 10);
  add("a", 100, 6.0, 10);                         // beaten: dearer
  add("a", 90, 6.0, 9);                           // least memory
  add("a", 200, 1.0, 1).fits = false;             // cannot run
  add("a", 300, 1.0, 1).problem = "none";         // has no figures
  add("a", 10, std::nullopt, 99);                 // the only one without a price
  add("b", 1, 50.0, 50);                          // other work
  add("a", 100, 7.0, 11).paid_by = PaidBy::rent;  // dearer than what is bought, which is no measure of a rent
  add("a", 80, 8.0, 11).paid_by = PaidBy::rent;   // beaten by the rent before it
  REQUIRE(store->add(rows));
  CHECK(sweep_front(*store).value() == std::vector<bool>{true, false, true, false, false, false, true, true, false});
  const std::string text = sweep_export(*store, SweepForm::csv, true).value();
  CHECK(std::count(text.begin(), text.end(), '\n') == 5);
  CHECK(text.find(",,purchase,") != std::string::npos);
  CHECK(text.find(",,rent,") != std::string::npos);
}

TEST_CASE("a line break in a value stays in its column") {
  const std::vector<std::pair<std::string, std::string>> pairs{{"model", "two\nlines\\n.toml"}, {"gpus", "2"}};
  CHECK(config_text(pairs) == "model=two\\nlines\\\\n.toml\ngpus=2\n");
  CHECK(config_pairs(config_text(pairs)) == pairs);
}
