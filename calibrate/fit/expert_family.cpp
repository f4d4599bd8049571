#include "calibrate/fit/expert_family.hpp"

#include <algorithm>
#include <array>

namespace tbdsim::calibrate {
namespace {

constexpr Seconds kMicrosecond(1e-6);
constexpr Bytes kHalf(2.0);
constexpr std::size_t kConstants = 6;
// Kernels by width of weights and gate.
constexpr std::array<std::string_view, 4> kKernels{"cutlass", "cutlass-plain", "cutlass-fp8", "cutlass-fp8-plain"};

}  // namespace

std::optional<Observation> expert_observation(const Sample& sample) {
  const double ranks = sample.at("ep"), experts = std::max(1.0, sample.at("experts") / ranks);
  const double rows = sample.at("tokens") * sample.at("topk") / ranks;
  if (sample.pass != "forward" || sample.algorithm != "cutlass" || rows < 1.0) return std::nullopt;
  Observation result = common_observation(sample);
  const bool gated = sample.at("gated") != 0, eight = result.element < kHalf;
  const ExpertShape shape{sample.at("tokens"), sample.at("hidden"), sample.at("inter") / sample.at("tp"), rows, experts, gated};
  result.precision = "fp16";
  result.generation = kKernels[(eight ? 2U : 0U) + (gated ? 0U : 1U)];
  constexpr KernelRates kAny{FlopPerSecond(1e12), BytesPerSecond(1e12), Seconds(0.0)};
  const KernelTimeModel work = expert_time(shape, result.element, {}, kAny);
  // In time of the 16-bit units.
  result.flop = result.least_flop = eight ? work.flop / 2.0 : work.flop;
  result.bytes = work.bytes;
  result.arguments = ExpertArguments{shape};
  return result;
}

FormConstants expert_form(const Observation& row, const KernelConstants& constants, const Device&) {
  const auto found = constants.experts.find(row.generation);
  return found == constants.experts.end() ? ExpertConstants{} : found->second;
}

Seconds expert_prediction(const Observation& row, const FormConstants& form, const KernelRates& rates) {
  return expert_time(std::get<ExpertArguments>(row.arguments).shape, row.element, std::get<ExpertConstants>(form), rates).time;
}

std::vector<Unknown> expert_unknowns(std::span<const std::string> generations) {
  std::vector<Unknown> unknowns;
  for (const std::string& generation : generations) {
    unknowns.push_back({generation + " start", 28.0, 0.5, 1.0, 200.0});
    // The board's own share is of plain 16-bit kernels.
    unknowns.push_back({generation + " share", 1.0, generation == kKernels[0] ? 0.0 : 0.2, 0.2, 1.5});
    unknowns.push_back({generation + " prologue", 180.0, 0.7, 0.0, 2000.0});
    unknowns.push_back({generation + " tile_penalty", 1.5, 0.7, 0.0, 16.0});
    unknowns.push_back({generation + " reread", 0.3, 0.7, 0.0, 1.0});
    unknowns.push_back({generation + " activations", 1.0, 0.3, 0.3, 3.0});
  }
  return unknowns;
}

bool expert_depends(std::size_t unknown, std::size_t generation) { return unknown / kConstants == generation; }

ExpertConstants expert_values(std::span<const double> values, std::size_t generation) {
  const double* v = &values[kConstants * generation];
  return {v[0] * kMicrosecond, v[1], v[2], v[3], v[4], v[5]};
}

}  // namespace tbdsim::calibrate
