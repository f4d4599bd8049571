#include "calibrate/fit/recurrent_family.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/cost/recurrent.hpp"
#include "model/hardware/constant_bounds.hpp"

namespace tbdsim::calibrate {
namespace {

constexpr std::size_t kSharedRecurrent = 2, kCyclesPerGeneration = 3;

/// What follows "cuda " in "cudnn 6.0.21; cuda 8.0.88".
std::string cuda_release(std::string_view library) {
  const std::size_t at = library.find("cuda ");
  return at == std::string_view::npos ? "" : std::string(library.substr(at + 5));
}

/// Of a cell that the sample file knows.
double gates_of(std::string_view cell) { return cell == "lstm" ? 4.0 : cell == "gru" ? 3.0 : 1.0; }

}  // namespace

std::optional<Observation> recurrent_observation(const Sample& sample) {
  if (sample.flagged("fp16-in-fp32-math") || !sample.flagged("skip-input") || sample.at("layers") != 1 ||
      sample.at("directions") != 1)
    return std::nullopt;
  const RecurrentShape shape{gates_of(sample.kind), sample.at("hidden"), sample.at("batch"), sample.at("steps")};
  RecurrentArguments arguments{shape, {}};
  if (sample.pass == "forward") arguments.passes = {RecurrentPass::forward};
  if (sample.pass == "backward_data") arguments.passes = {RecurrentPass::backward_data};
  if (sample.pass == "backward_weights") arguments.passes = {RecurrentPass::backward_weights};
  if (sample.pass == "backward") arguments.passes = {RecurrentPass::backward_data, RecurrentPass::backward_weights};
  if (arguments.passes.empty()) return std::nullopt;
  Observation result = common_observation(sample);
  const double weights = shape.gates * shape.hidden * shape.hidden;
  const auto passes = static_cast<double>(arguments.passes.size());
  result.flop = result.least_flop = Flop(2.0 * weights * shape.batch * shape.steps * passes);
  // Weights can stay on the chip: only the states must move.
  result.bytes = 2.0 * shape.hidden * shape.batch * shape.steps * result.element;
  const bool amd = sample.library.find("miopen") != std::string::npos;
  result.generation = recurrent_generation(amd ? Vendor::amd : Vendor::nvidia, cuda_release(sample.library), {});
  result.arguments = std::move(arguments);
  return result;
}

FormConstants recurrent_form(const Observation& row, const KernelConstants& constants, const Device& device) {
  const auto found =
      constants.recurrent.find(std::string(row.generation) + (on_tensor_cores(device, row.precision) ? "-tensor" : ""));
  return found == constants.recurrent.end() ? RecurrentConstants{} : found->second;
}

Seconds recurrent_prediction(const Observation& row, const FormConstants& form, const KernelRates& rates) {
  const auto& arguments = std::get<RecurrentArguments>(row.arguments);
  Seconds sum(0.0);
  for (const RecurrentPass pass : arguments.passes)
    sum += recurrent_time(arguments.shape, pass, row.element, std::get<RecurrentConstants>(form), rates).time;
  return sum;
}

std::vector<Unknown> recurrent_unknowns(std::span<const std::string> generations, bool tensor) {
  const auto bounded = [&](std::string name, double prior, double sigma, std::string_view key) {
    const ConstantBounds& bounds = constant_bounds(key);
    return Unknown{std::move(name), prior, sigma, bounds.low, bounds.most(tensor)};
  };
  std::vector<Unknown> unknowns{bounded("prologue_depth", tensor ? 128.0 : 32.0, 0.5, "prologue_depth"),
                                bounded("tile_penalty", 4, 0.3, "tile_penalty")};
  // A dependent load from cache and the multiply-adds on it take 15 to 40 cycles; kernels without prefetch far more.
  for (const std::string& generation : generations) {
    for (const char* batch : {"16", "32", "more"})
      unknowns.push_back(bounded(fmt::format("{} cycles {}", generation, batch), 30, 0.8, "cycles"));
  }
  return unknowns;
}

bool recurrent_depends(std::size_t unknown, std::size_t generation) {
  return unknown < kSharedRecurrent || (unknown - kSharedRecurrent) / kCyclesPerGeneration == generation;
}

RecurrentConstants recurrent_constants(std::span<const double> v, std::size_t generation, std::string_view name) {
  // Libraries run more rows in kernels that wait no less; those of CUDA 8 do not (DeepBench on four Pascal boards: 64 rows in 0.3
  // to 0.6 of the time of 32).
  const double order = name == "cuda8" ? 0.0 : 1.0;
  const double* cycles = &v[kSharedRecurrent + kCyclesPerGeneration * generation];
  RecurrentConstants result;
  result.tiles.prologue_depth = v[0];
  result.tiles.tile_penalty = v[1];
  result.cycles_batch_16 = cycles[0];
  result.cycles_batch_32 = std::max(cycles[1], order * result.cycles_batch_16);
  result.cycles_more = std::max(cycles[2], order * result.cycles_batch_32);
  return result;
}

}  // namespace tbdsim::calibrate
