#include "calibrate/fit/attention_family.hpp"

#include <array>

#include "model/cost/attention_blocks.hpp"
#include "model/hardware/constant_bounds.hpp"

namespace tbdsim::calibrate {
namespace {

struct Constant {
  std::string_view name, bounds;
  double prior, sigma;
};
constexpr Seconds kMicrosecond(1e-6);
// Believed before any sample: kernels reach most of the peak beside their exponentials; blocks start and end in some hundred
// keys.
constexpr std::array<Constant, 14> kConstants{{{"share", "attention share", 0.85, 1.0},
                                               {"share_8_bit", "attention share_8_bit", 0.6, 0.3},
                                               {"prologue", "attention prologue", 80.0, 1.0},
                                               {"tail", "attention tail", 0.5, 1.0},
                                               {"backward share", "attention share", 0.62, 0.3},
                                               {"backward share_8_bit", "attention share_8_bit", 0.4, 0.3},
                                               {"backward prologue", "attention prologue", 180.0, 1.0},
                                               {"backward tail", "attention tail", 0.7, 1.0},
                                               {"few_blocks", "attention few_blocks", 0.6, 0.5},
                                               {"wide", "attention wide", 1.0, 0.15},
                                               {"window", "attention window", 80.0, 0.7},
                                               {"split", "attention split", 0.8, 0.3},
                                               {"start", "", 5.0, 0.7},
                                               {"start_per_doubling", "", 1.0, 0.7}}};

AttentionPass pass_of(const double* v) { return {v[0], v[1], v[2], v[3]}; }

}  // namespace

std::optional<Observation> attention_observation(const Sample& sample) {
  if (sample.at("fused") == 0 || (sample.pass != "forward" && sample.pass != "backward")) return std::nullopt;
  const auto kernel = find_attention_kernel(sample.algorithm.empty() ? "general" : sample.algorithm);
  AttentionArguments arguments;
  arguments.shape = {sample.at("b"),           sample.at("heads"),    sample.at("sq"),  sample.at("sk"),    sample.at("d"),
                     sample.at("causal") != 0, sample.at("kv_heads"), sample.at("d_v"), sample.at("window")};
  if (!kernel || (arguments.shape.window > 0 && !arguments.shape.causal)) return std::nullopt;
  arguments.backward = sample.pass == "backward";
  Observation result = common_observation(sample);
  arguments.means = {&info(*kernel), {}, result.element, sample.flagged("cache-write"), sample.flagged("rope")};
  if (result.element < Bytes(4.0)) result.precision = "fp16";
  result.generation = info(*kernel).name;
  constexpr KernelRates kAny{FlopPerSecond(1e12), BytesPerSecond(1e12), Seconds(0.0)};
  const KernelTimeModel work = fused_attention_time(arguments.shape, arguments.backward, arguments.means, kAny);
  result.flop = result.least_flop = work.flop;
  // In time of the 16-bit units.
  if (result.element < Bytes(2.0)) result.flop = result.least_flop = work.flop / 2.0;
  result.bytes = work.bytes;
  result.arguments = arguments;
  return result;
}

FormConstants attention_form(const Observation& row, const KernelConstants& constants, const Device&) {
  return attention_constants(std::get<AttentionArguments>(row.arguments).means.kernel->kernel, constants);
}

Seconds attention_prediction(const Observation& row, const FormConstants& form, const KernelRates& rates) {
  const auto& arguments = std::get<AttentionArguments>(row.arguments);
  FusedAttention means = arguments.means;
  means.constants = std::get<AttentionConstants>(form);
  return fused_attention_time(arguments.shape, arguments.backward, means, rates).time;
}

std::vector<Unknown> attention_unknowns(std::span<const std::string> generations) {
  std::vector<Unknown> unknowns;
  for (const std::string& generation : generations) {
    for (const Constant& constant : kConstants) {
      const double low = constant.bounds.empty() ? 0.0 : constant_bounds(constant.bounds).low,
                   high = constant.bounds.empty() ? INFINITY : constant_bounds(constant.bounds).high;
      unknowns.push_back({generation + " " + std::string(constant.name), constant.prior, constant.sigma, low, high});
    }
  }
  return unknowns;
}

bool attention_depends(std::size_t unknown, std::size_t generation) { return unknown / kConstants.size() == generation; }

AttentionConstants attention_values(std::span<const double> values, std::size_t generation) {
  const double* v = &values[kConstants.size() * generation];
  return {pass_of(v), pass_of(v + 4), v[8], v[9], v[10], v[11], false, v[12] * kMicrosecond, v[13] * kMicrosecond};
}

}  // namespace tbdsim::calibrate
