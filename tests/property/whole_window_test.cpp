// A window as long as the sequence, or longer, hides nothing: the step takes what it takes without one.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/predicted.hpp"

using namespace tbdsim;

TEST_CASE("a sliding window that hides no token costs nothing") {
  const auto step = [](const std::string& name, const std::string& window, const char* stack, const char* precision) {
    const std::string path =
        (std::filesystem::temp_directory_path() / ("tbdsim-window-" + name + "-" + std::to_string(::getpid()) + ".toml"))
            .string();
    std::ofstream(path) << "schema = 1\nname = \"windowed\"\nbatch = 8\n[transformer]\nwords = 1000\nwidth = 1024\n"
                           "heads = 16\nlength = 512\ndecoder_layers = 4\n"
                        << window;
    PredictOptions o;
    o.hardware = "a100-sxm4-80gb";
    o.model = path;
    o.stack = stack;
    o.precision = precision;
    o.batch = 8;
    const Prediction p = predicted(o);
    std::filesystem::remove(path);
    return p.step_time.value;
  };
  for (const char* stack : {"pytorch-2.1", "pytorch-1.13"})
    for (const char* precision : {"bf16", "fp32"}) {
      INFO(stack << " " << precision);
      const Seconds whole = step("none", "", stack, precision);
      CHECK(step("equal", "window = 512\n", stack, precision) == whole);
      CHECK(step("longer", "window = 100000\n", stack, precision) == whole);
    }
}
