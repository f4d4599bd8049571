// Inputs that parse but describe no machine: a clear refusal instead of a number.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/prediction/predict.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

/// Prediction on a GPU whose file has one line replaced; the first message, empty when it predicts.
std::string message_with(const std::string& key, const std::string& line, const std::string& gpu = "v100-sxm2-16gb") {
  const std::string root = TBDSIM_SOURCE_DIR;
  std::ifstream source(root + "/hardware/gpus/" + gpu + ".toml");
  std::ostringstream text;
  for (std::string row; std::getline(source, row);) text << (row.rfind(key + " =", 0) == 0 ? line : row) << "\n";
  const auto path = std::filesystem::temp_directory_path() / ("tbdsim_implausible_" + key + ".toml");
  std::ofstream(path) << text.str();
  PredictOptions options;
  options.hardware = path.string();
  options.model = "resnet50";
  const auto session = open_session({root});
  const auto prediction = predict(*session, options);
  std::filesystem::remove(path);
  return prediction ? std::string() : prediction.error().front().message;
}

}  // namespace

TEST_CASE("rates that no machine has are refused on both ends") {
  CHECK(message_with("peak_fp32", "peak_fp32 = \"15.67 TFLOP/s\"").empty());
  CHECK_THAT(message_with("peak_fp32", "peak_fp32 = \"1 FLOP/s\""),
             Catch::Matchers::Contains("times the 15.7 TFLOP/s of 80 multiprocessors x 64 lanes x 2 FLOP at boost_clock"));
  CHECK_THAT(message_with("peak_fp32", "peak_fp32 = \"1e300 FLOP/s\""),
             Catch::Matchers::Contains("got \"1e300 FLOP/s\" (above 1000 EFLOP/s, the most that is accepted)"));
  CHECK_THAT(message_with("memory_bandwidth", "memory_bandwidth = \"5e-324 B/s\""),
             Catch::Matchers::Contains("got \"5e-324 B/s\" (below 0.125 B/s, the least that is accepted)"));
  CHECK_THAT(message_with("memory_capacity", "memory_capacity = \"1e12 GiB\""),
             Catch::Matchers::Contains("got \"1e12 GiB\" (above 1000 PB, the most that is accepted)"));
}

TEST_CASE("what is added to a simulated step stays within the clock of the simulation", "[prediction]") {
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  const auto message = [&](const std::string& change) {
    PredictOptions options;
    options.hardware = "dgx1";
    options.model = "resnet50";
    options.nodes = 4;
    options.input = "imagenet-files";
    options.set = {change};
    const auto prediction = predict(*session, options);
    return prediction ? std::string() : prediction.error().front().message;
  };
  CHECK(message("hw.inputs.input[1].decode=1 s").empty());
  CHECK_THAT(message("hw.inputs.input[1].decode=1e9 s"),
             Catch::Matchers::StartsWith("a step of resnet50 on dgx1 would take ") &&
                 Catch::Matchers::EndsWith(" s: look for an implausible rate, time or size among the inputs"));
}

TEST_CASE("of two GPUs of a board, one adds at most all of its time to the other", "[prediction]") {
  const auto session = open_session({TBDSIM_SOURCE_DIR});
  const auto message = [&](const std::string& sharing) {
    PredictOptions options;
    options.hardware = "k80";
    options.model = "resnet50";
    options.gpus = 2;
    options.set = {"hw.device.board_sharing=" + sharing};
    const auto prediction = predict(*session, options);
    return prediction ? std::string() : prediction.error().front().message;
  };
  CHECK(message("1").empty());
  CHECK(message("1.001") == "board_sharing: expected a number from 0 to 1, got 1.001");
  CHECK_FALSE(message("1e300").empty());
}

TEST_CASE("what a description says of memory, power and clocks has to fit together") {
  const auto refused = [](const std::string& key, const std::string& value, const std::string& text) {
    INFO(key << " = " << value);
    CHECK_THAT(message_with(key, key + " = \"" + value + "\""), Catch::Matchers::Contains(text));
  };
  refused("memory_bandwidth", "900 MB/s",
          "memory_bandwidth: 0.00176 Gbit/s for each of 4096 lines of its bus; HBM2 has 0.7 to 4.9");
  refused("power_limit", "300 kW", "times the 28.1 W that memory takes at full bandwidth; boards have 2 to 60");
  refused("power_limit", "1 W", "times the 28.1 W that memory takes at full bandwidth");
  refused("memory_capacity", "16 MiB", "memory_capacity: 0.0156 GiB; boards have 0.5 GiB to 1 TiB");
  refused("base_clock", "1.6 GHz", "base_clock: above boost_clock, 1.53 GHz");
  refused("architecture", "Kepler", "architecture: Kepler, but compute_capability \"7.0\" is Volta's; change one of the two");
  refused("vendor", "AMD", "compute_capability: NVIDIA's boards alone have one, vendor is \"AMD\"");
  CHECK_THAT(message_with("vendor", "vendor = \"NVIDIA\"", "mi300x"),
             Catch::Matchers::Contains("vendor: \"NVIDIA\" makes no CDNA 3.0, which architecture names; change one of the two"));
  // Off by less than ten: told, not refused.
  CHECK(message_with("memory_bandwidth", "memory_bandwidth = \"112 GB/s\"").empty());
  CHECK(message_with("power_limit", "power_limit = \"40 W\"").empty());
}
