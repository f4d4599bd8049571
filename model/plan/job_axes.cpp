#include "model/plan/job_axes.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "model/configuration/option_table.hpp"

namespace tbdsim::plan {
namespace {

constexpr std::string_view kAxes[] = {"tensor-parallel",
                                      "sequence-parallel",
                                      "context-parallel",
                                      "expert-parallel",
                                      "expert-tensor-parallel",
                                      "pipeline-parallel",
                                      "virtual-stages",
                                      "schedule",
                                      "first-stage-layers",
                                      "last-stage-layers",
                                      "stage-layers",
                                      "zero",
                                      "recompute",
                                      "batch"};

}  // namespace

std::span<const std::string_view> axis_names() { return kAxes; }

bool is_axis(std::string_view option) { return std::find(std::begin(kAxes), std::end(kAxes), option) != std::end(kAxes); }

PredictOptions with_axes_of(const PredictOptions& axes, PredictOptions job) {
  for (const std::string_view axis : kAxes) {
    const OptionRow& row = *find_option(axis, kInColumn);
    if (const auto* const number = std::get_if<std::optional<int> PredictOptions::*>(&row.landing))
      job.*(*number) = axes.*(*number);
    if (const auto* const word = std::get_if<std::string PredictOptions::*>(&row.landing)) job.*(*word) = axes.*(*word);
  }
  return job;
}

}  // namespace tbdsim::plan
