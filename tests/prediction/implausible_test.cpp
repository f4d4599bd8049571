// Inputs that parse but describe no machine: a clear refusal instead of a number.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/prediction/predict.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

/// Prediction on a V100 whose file has one line replaced; the first message, empty when it predicts.
std::string message_with(const std::string& key, const std::string& line) {
  const std::string root = TBDSIM_SOURCE_DIR;
  std::ifstream source(root + "/hardware/gpus/v100-sxm2-16gb.toml");
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
