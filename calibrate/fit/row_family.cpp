#include "calibrate/fit/row_family.hpp"

#include <fmt/format.h>

#include <array>

namespace tbdsim::calibrate {
namespace {

constexpr Seconds kMicrosecond(1e-6);
constexpr std::size_t kConstants = 5;

}  // namespace

bool is_row_family(std::string_view family) { return family == "rms_norm" || family == "rope" || family == "gated_activation"; }

std::optional<Observation> row_kernel_observation(const Sample& sample) {
  const bool backward = sample.pass == "backward";
  if (!backward && sample.pass != "forward") return std::nullopt;
  const RowKernelInfo* const kernel =
      find_row_kernel(fmt::format("{}-{}{}", sample.family, sample.algorithm, backward ? "-backward" : ""));
  if (kernel == nullptr) return std::nullopt;
  Observation result = common_observation(sample);
  // Times of profilers are rounded to 1 us, and such kernels take few. To leave out those rounded down alone would bias the rest.
  constexpr Seconds kShortest(1.5e-6);
  result.long_enough = sample.time >= kShortest;
  result.precision = "fp32";  // bytes alone count
  result.generation = kernel->name;
  const RowArguments arguments{sample.at("rows"), sample.at("cols"), kernel};
  result.bytes = kernel->passes * arguments.rows * arguments.cols * result.element;
  result.arguments = arguments;
  return result;
}

FormConstants row_kernel_form(const Observation& row, const KernelConstants& constants, const Device&) {
  const auto found = constants.row_kernels.find(row.generation);
  return found == constants.row_kernels.end() ? RowConstants{} : found->second;
}

Seconds row_kernel_prediction(const Observation& row, const FormConstants& form, const KernelRates& rates) {
  const auto& arguments = std::get<RowArguments>(row.arguments);
  return row_kernel_time(arguments.rows, arguments.cols, row.element, *arguments.kernel, std::get<RowConstants>(form), rates)
      .time;
}

std::vector<Unknown> row_unknowns(std::span<const std::string> generations) {
  std::vector<Unknown> unknowns;
  for (const std::string& generation : generations) {
    const RowKernelInfo& kernel = *find_row_kernel(generation);
    const bool plain = kernel.walk == RowWalk::plain;
    // The share of a kernel that waits for latencies lies in these.
    unknowns.push_back({generation + " start", plain ? 4.0 : 1.0, 1.0, 0.0, 50.0});
    unknowns.push_back({generation + " share", plain ? 0.8 : 1.0, plain ? 0.3 : 0.0, 0.1, 1.1});
    unknowns.push_back({generation + " flight", 10.0, plain ? 0.0 : 1.0, 1.0, 128.0});
    unknowns.push_back({generation + " step_clocks", 700.0, plain ? 0.0 : 0.7, 50.0, 4000.0});
    // Blocks start one behind the other where rows are only moved, else each waits.
    unknowns.push_back({generation + " row_clocks", plain ? 100.0 : 600.0, plain ? 1.5 : 0.7, plain ? 1.0 : 50.0, 4000.0});
  }
  return unknowns;
}

bool row_depends(std::size_t unknown, std::size_t generation) { return unknown / kConstants == generation; }

RowConstants row_values(std::span<const double> values, std::size_t generation, std::string_view name) {
  const double* v = &values[kConstants * generation];
  const bool plain = find_row_kernel(name)->walk == RowWalk::plain;
  if (plain) {
    RowConstants moves{v[0] * kMicrosecond, v[1]};
    moves.row_clocks = v[4];
    return moves;
  }
  return {v[0] * kMicrosecond, v[1], v[2], v[3], v[4]};
}

}  // namespace tbdsim::calibrate
