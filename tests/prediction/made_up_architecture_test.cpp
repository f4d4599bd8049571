// A GPU architecture is data: one that nobody ever built is predicted from two files, and every model that tells architectures
// apart follows what they say.
#include <filesystem>
#include <fstream>

#include "model/configuration/session.hpp"
#include "model/prediction/predict.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

namespace fs = std::filesystem;

constexpr const char* kFamily = R"(
[[family]]
capability = "13.0"
like = "10.0"
architecture = "Rubicon"
generation = 8
cuda = "12.0"
without = ["young_until"]
product_kernels = "rubicon"
lane_energy = "LANE"
source = "assumed: a test"
)";

constexpr const char* kGpu = R"(schema = 1
name = "Made-up R1"
vendor = "NVIDIA"
architecture = "ARCHITECTURE"
compute_capability = "CAPABILITY"
multiprocessors = 160
fp32_lanes = 128
boost_clock = "2 GHz"
peak_fp32 = "81.92 TFLOP/s"
peak_fp16_tensor = "2500 TFLOP/s"
memory_capacity = "288 GiB"
memory_kind = "HBM4"
memory_bandwidth = "13 TB/s"
power_limit = "300 W"
source = "assumed: a test"
)";

std::string replaced(std::string text, const std::string& word, const std::string& by) {
  text.replace(text.find(word), word.size(), by);
  return text;
}

/// A copy of the catalogue with the family and a board of it.
std::string catalogue(const std::string& folder, const std::string& family, const std::string& gpu) {
  const fs::path root = fs::path(TBDSIM_BINARY_DIR) / folder;
  fs::remove_all(root);
  fs::create_directories(root);
  fs::copy(fs::path(TBDSIM_SOURCE_DIR) / "hardware", root / "hardware", fs::copy_options::recursive);
  std::ofstream(root / "hardware/architectures.toml", std::ios::app) << family;
  std::ofstream(root / "hardware/gpus/made-up-r1.toml") << gpu;
  return root.string();
}

Seconds step_time(const std::string& root, const std::string& precision) {
  const auto session = open_session({root});
  PredictOptions options;
  options.model = "resnet50";
  options.hardware = "made-up-r1";
  options.stack = "pytorch-2.1";
  options.batch = 64;
  options.precision = precision;
  const auto prediction = predict(*session, options);
  INFO((prediction ? "" : to_text(prediction.error())));
  REQUIRE(prediction);
  return prediction->step_time.value;
}

std::string gpu(const std::string& architecture, const std::string& capability) {
  return replaced(replaced(kGpu, "ARCHITECTURE", architecture), "CAPABILITY", capability);
}

}  // namespace

TEST_CASE("a made-up architecture is two data files, and its facts act") {
  const std::string frugal = catalogue("made_up_frugal", replaced(kFamily, "LANE", "1e-12 J"), gpu("Rubicon", "13.0"));
  const std::string hungry = catalogue("made_up_hungry", replaced(kFamily, "LANE", "60e-12 J"), gpu("Rubicon", "13.0"));
  const auto device = load_device({frugal}, "made-up-r1");
  REQUIRE(device);
  CHECK(device->chip.family == "13.0");
  CHECK(device->chip.generation == 8);
  CHECK(device->chip.product_sets.back() == "rubicon");
  // Lanes that take more energy keep less of their clock within 300 W.
  CHECK(step_time(hungry, "fp32") > step_time(frugal, "fp32"));
  CHECK(step_time(frugal, "amp") < step_time(frugal, "fp32"));
  // By name alone it is the same family.
  const std::string nameless = replaced(gpu("Rubicon", "13.0"), "compute_capability = \"13.0\"\n", "");
  const auto named = load_device({catalogue("made_up_named", replaced(kFamily, "LANE", "1e-12 J"), nameless)}, "made-up-r1");
  REQUIRE(named);
  CHECK(named->chip.family == "13.0");
}

TEST_CASE("without its table the architecture is refused by name, with what there is") {
  const std::string root = catalogue("made_up_missing", "", gpu("Rubicon", "13.0"));
  const auto device = load_device({root}, "made-up-r1");
  REQUIRE_FALSE(device);
  CHECK(to_text(device.error()).find("architecture: no architecture \"Rubicon\"") != std::string::npos);
}

TEST_CASE("a broken table of architectures is told with its place by whatever needs it") {
  const std::string root = catalogue("made_up_broken", "\n[[family]]\ncapability = \"13.0\"\n", gpu("Hopper", "9.0"));
  Session session({root});
  const auto system = session.system("made-up-r1", 1);
  REQUIRE_FALSE(*system);
  CHECK(to_text(system->error()).find("hardware/architectures.toml:") != std::string::npos);
  CHECK_FALSE(*session.constants());
}

TEST_CASE("the RTX PRO 6000 Blackwell is its file, its family's table and nothing else") {
  const auto device = load_device({TBDSIM_SOURCE_DIR}, "rtx-pro-6000");
  REQUIRE(device);
  CHECK(device->chip.family == "12.0");
  CHECK(device->chip.lane_energy == Joules(12.8e-12));
}
