#include "model/analysis/claim_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

// An allowlist: an option that a verb gains is refused here until somebody has asked what it does.
constexpr std::array<std::string_view, 47> kOptions{
    // what is predicted
    "hw", "model", "name", "gpus", "nodes", "devices", "network", "batch", "accumulate", "image", "seq-len", "buckets",
    "precision", "stack", "exchange", "optimizer", "input", "storage", "workers", "input-hosts", "mock-loader", "mock-trainer",
    "recompute", "zero", "tensor-parallel", "pipeline", "set", "what-if", "calibration", "seed",
    // how much of it, over what
    "samples", "epochs", "weak", "fixed-global-batch", "max-batch", "target", "profiling", "skip", "iterations",
    // of wiring
    "route", "collective", "bytes", "nccl", "launch",
    // what is told of it
    "layers", "kernels", "links"};
constexpr std::array<std::string_view, 7> kFiles{"hw", "model", "stack", "network", "storage", "name", "calibration"};

}  // namespace

std::string claim_option_name(std::string_view option) {
  std::string name(option);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string claim_option_problem(std::string_view option, std::string_view value) {
  const std::string name = claim_option_name(option);
  if (std::find(kOptions.begin(), kOptions.end(), name) != kOptions.end()) {
    const bool dash = value.substr(0, 1) == "-" || value.find(" -") != std::string_view::npos;
    return dash ? fmt::format("expected a value, got {}", quoted(value)) : std::string();
  }
  const auto near = nearest(name, std::vector<std::string>(kOptions.begin(), kOptions.end()));
  return fmt::format("claims and grids take only options that change a prediction{}",
                     near ? fmt::format(", did you mean \"{}\"?", *near) : "");
}

bool may_name_file(std::string_view option) { return std::find(kFiles.begin(), kFiles.end(), option) != kFiles.end(); }

}  // namespace tbdsim
