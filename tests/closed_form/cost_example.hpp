#pragma once
#include <fmt/format.h>

#include <fstream>
#include <sstream>
#include <string>

#include "model/cost/kernel_rates.hpp"
#include "model/hardware/kernel_constants.hpp"

namespace tbdsim::example {

/// Whether model/cost/README.md holds `text`: its worked examples and the tests show the same digits.
inline bool documented(const std::string& text) {
  static const std::string kReadme = [] {
    std::stringstream all;
    all << std::ifstream(TBDSIM_SOURCE_DIR "/model/cost/README.md").rdbuf();
    return all.str();
  }();
  return kReadme.find(text) != std::string::npos;
}

/// "213.8996 us", as the examples print times.
inline std::string microseconds(Seconds time) { return fmt::format("{:.4f} us", time.base() * 1e6); }

/// The invented board of the examples.
inline const KernelRates kBoard{12.8_TFLOPps, 600.0_GBps, 5.0_us, 80};

/// Their tile constants.
inline TileConstants tiles() {
  TileConstants result;
  result.prologue_depth = 16.0;
  result.tile_penalty = 4.0;
  result.reread = 0.1;
  return result;
}

}  // namespace tbdsim::example
