#include "calibrate/fit/kernel_fit.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include "calibrate/fit/observations.hpp"
#include "model/cost/transfer.hpp"

namespace tbdsim::calibrate {
namespace {

/// Boards of one fit, in order of first appearance: unknowns e, eb, launch of board i stand at `first + 3 i`.
struct Boards {
  std::vector<std::string> ids;
  std::size_t first = 0;
  int add(const std::string& id) {
    const auto found = std::find(ids.begin(), ids.end(), id);
    if (found != ids.end()) return static_cast<int>(found - ids.begin());
    ids.push_back(id);
    return static_cast<int>(ids.size()) - 1;
  }
  [[nodiscard]] KernelRates rates(std::span<const double> values, int board, const Device& device, FlopPerSecond peak) const {
    const double* v = &values[first + 3 * static_cast<std::size_t>(board)];
    return {peak * v[0], device.memory_bandwidth * v[1], Seconds(v[2]), device.multiprocessors};
  }
};

// Priors of a board: sustained fp32 rates of published large products are 0.7 to 1.0 of the listed boost rate, copies
// reach 0.7 to 0.9 of the memory bandwidth. Tensor cores sustain less of their peak.
constexpr double kComputePrior = 0.85, kTensorPrior = 0.7, kBandwidthPrior = 0.8;
constexpr double kLaunchPrior = 20e-6, kGemmLaunchPrior = 8e-6;  // s; DeepBench floors are 1 to 30 us

void add_boards(std::vector<Unknown>& unknowns, Boards& boards, bool tensor, double launch_prior) {
  boards.first = unknowns.size();
  for (const std::string& id : boards.ids) {
    unknowns.push_back({id + " compute", tensor ? kTensorPrior : kComputePrior, tensor ? 0.15 : 0.06});
    unknowns.push_back({id + " bandwidth", kBandwidthPrior, 0.05});
    unknowns.push_back({id + " launch", launch_prior, 0.7});
  }
}

FamilyParameters board_parameters(const RobustFit& fit, const Boards& boards, int board, std::string family,
                                  std::string precision, const std::vector<int>& board_of, const std::string& source,
                                  FitReport& report) {
  const std::size_t at = boards.first + 3 * static_cast<std::size_t>(board);
  std::vector<double> residuals;
  for (std::size_t i = 0; i < board_of.size(); ++i) {
    if (board_of[i] == board) residuals.push_back(fit.residuals[i]);
  }
  report = {boards.ids[static_cast<std::size_t>(board)], family, precision, summarize_residuals(residuals)};
  return {std::move(family),
          std::move(precision),
          fit.values[at].value,
          fit.values[at + 1].value,
          Seconds(fit.values[at + 2].value),
          report.error.log_sd,
          report.error.n,
          source};
}

/// The fitted launch of call times is the host's; the kernel's own stays what is believed of kernels.
void without_host(FamilyParameters& parameters, double launch) {
  parameters.launch = Seconds(launch);
  parameters.source += "; single calls, so the launch is assumed";
}

BoardParameters describe(const Device& device, FamilyParameters parameters) {
  BoardParameters board;
  board.device = device.id;
  board.name = device.name;
  board.architecture = device.architecture;
  board.memory_kind = device.memory_kind;
  board.multiprocessors = device.multiprocessors;
  board.fp32_lanes = device.fp32_lanes;
  board.power_limit = device.power_limit;
  board.peak_fp32 = device.peak.fp32;
  board.parameters = std::move(parameters);
  return board;
}

/// Whether a sample may serve a fit: device times where a board's chip has them; call times, which include the host's
/// launch and here cover one pass only, for chips that have nothing else.
class TimingChoice {
 public:
  TimingChoice(const std::vector<Sample>& samples, const std::map<std::string, Device>& devices, std::string_view family,
               const std::string& precision)
      : devices_(devices), precision_(precision) {
    for (const Sample& sample : samples) {
      if (sample.family == family && sample.precision == precision && !sample.call_timing)
        device_timed_.insert(chip(sample.device));
    }
  }
  [[nodiscard]] bool serves(const Sample& sample) const {
    return sample.precision == precision_ && (!sample.call_timing || call_timed(sample.device));
  }
  [[nodiscard]] bool call_timed(const std::string& device) const { return device_timed_.count(chip(device)) == 0; }

 private:
  using Chip = std::tuple<std::string, int, int>;
  [[nodiscard]] Chip chip(const std::string& id) const {
    const Device& device = devices_.at(id);
    return {device.architecture, device.multiprocessors, device.fp32_lanes};
  }

  const std::map<std::string, Device>& devices_;
  std::string precision_;
  std::set<Chip> device_timed_;
};

// ---- convolution ----------------------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 3> kPassNames{"forward", "backward_data", "backward_weights"};
constexpr std::size_t kSharedConvolution = 9, kFirstLayerGradient = 8, kScalesPerGeneration = 12;

std::vector<Unknown> convolution_unknowns(const std::vector<std::string>& generations, bool tensor) {
  std::vector<Unknown> unknowns{{"prologue_depth", tensor ? 64.0 : 14.0, tensor ? 0.7 : 0.1},
                                {"tile_penalty", 5, 0.1},
                                {"reread", 0.15, 0.5},
                                {"winograd_fused_cost", 1.25, 0.15},
                                {"winograd_gemm_scale", 0.83, 0.15},
                                {"transform_bandwidth", 0.67, 0.15},
                                {"transform_bandwidth_weights", 0.93, 0.15},
                                {"fft_scale", 1.1, 0.1},
                                {"first layer backward_data", 0.4, 1.0}};
  for (const std::string& generation : generations) {
    for (std::size_t pass = 0; pass < 3; ++pass) {
      for (std::size_t cls = 0; cls < 4; ++cls) {
        // Large stride-1 filters mostly run as Winograd or FFT, so little is known of their implicit GEMM: it stays
        // near the plain product. A strided input gradient wastes half its tiles.
        const bool data = pass == 1;
        const double prior = data && cls == 2 ? 2.0 : 1.0;
        const double sigma = cls == 1 ? 0.08 : 0.3;
        unknowns.push_back({fmt::format("{} {} {}", generation, kPassNames[pass], cls), prior, sigma});
      }
    }
  }
  return unknowns;
}

ConvolutionConstants convolution_constants(std::span<const double> v, int generation) {
  ConvolutionConstants c;
  c.tiles.prologue_depth = v[0];
  c.tiles.tile_penalty = v[1];
  c.tiles.reread = v[2];
  c.winograd_fused_cost = v[3];
  c.winograd_gemm_scale = v[4];
  c.transform_bandwidth = v[5];
  c.transform_bandwidth_weights = v[6];
  c.fft_scale = v[7];
  const double* scale = &v[kSharedConvolution + kScalesPerGeneration * static_cast<std::size_t>(generation)];
  for (std::size_t i = 0; i < 4; ++i) {
    c.forward[i] = scale[i];
    c.backward_data[i] = scale[4 + i];
    c.backward_weights[i] = scale[8 + i];
  }
  // Few sheets time the gradient of the image itself: one value for all generations.
  c.backward_data[3] = v[kFirstLayerGradient];
  return c;
}

struct ConvolutionSet {
  std::vector<ConvolutionObservation> rows;
  std::vector<std::string> generations;
  std::vector<int> board_of;
  Boards boards;
};

ConvolutionSet convolution_set(const std::vector<Sample>& samples, const TimingChoice& choice) {
  ConvolutionSet set;
  for (const Sample& sample : samples) {
    if (!choice.serves(sample)) continue;
    auto row = convolution_observation(sample);
    if (!row) continue;
    std::string generation = library_generation(sample.library);
    // cuDNN 8 samples are forward 3x3 only: too thin for a generation of their own.
    if (generation == "cudnn8") generation = "cudnn7";
    const auto found = std::find(set.generations.begin(), set.generations.end(), generation);
    row->generation = static_cast<int>(found - set.generations.begin());
    if (found == set.generations.end()) set.generations.push_back(generation);
    row->board = set.boards.add(sample.device);
    set.board_of.push_back(row->board);
    set.rows.push_back(std::move(*row));
  }
  return set;
}

void fit_convolution(const std::vector<Sample>& samples, const std::map<std::string, Device>& devices,
                     const std::string& precision, KernelFit& out) {
  const TimingChoice choice(samples, devices, "conv", precision);
  ConvolutionSet set = convolution_set(samples, choice);
  if (set.rows.empty()) {
    out.notes.push_back(fmt::format("convolution {}: no samples", precision));
    return;
  }
  const bool tensor = precision != "fp32";
  std::vector<Unknown> unknowns = convolution_unknowns(set.generations, tensor);
  add_boards(unknowns, set.boards, tensor, kLaunchPrior);
  std::vector<const Device*> device_of;
  for (const std::string& id : set.boards.ids) device_of.push_back(&devices.at(id));
  const RobustFit fit = robust_fit(unknowns, set.rows.size(), [&](std::span<const double> values, std::span<double> residuals) {
    std::vector<ConvolutionConstants> constants;
    for (std::size_t g = 0; g < set.generations.size(); ++g)
      constants.push_back(convolution_constants(values, static_cast<int>(g)));
    for (std::size_t i = 0; i < set.rows.size(); ++i) {
      const ConvolutionObservation& row = set.rows[i];
      const Device& device = *device_of[static_cast<std::size_t>(row.board)];
      const KernelRates rates = set.boards.rates(values, row.board, device, peak_for(device, precision));
      const Seconds time = fastest_of(row, constants[static_cast<std::size_t>(row.generation)], rates);
      residuals[i] = std::log(row.time / time);
    }
  });
  std::vector<double> values;
  for (const FittedValue& value : fit.values) values.push_back(value.value);
  for (std::size_t g = 0; g < set.generations.size(); ++g)
    out.constants.convolution[set.generations[g] + (tensor ? "-tensor" : "")] =
        convolution_constants(values, static_cast<int>(g));
  for (int board = 0; board < static_cast<int>(set.boards.ids.size()); ++board) {
    FitReport report;
    const std::string source = fmt::format("fitted: {} convolution samples, calibrate/samples", precision);
    auto parameters =
        board_parameters(fit, set.boards, board, "convolution", tensor ? "fp16" : "fp32", set.board_of, source, report);
    if (choice.call_timed(report.device)) without_host(parameters, kLaunchPrior);
    out.constants.boards.push_back(describe(*device_of[static_cast<std::size_t>(board)], std::move(parameters)));
    out.reports.push_back(report);
  }
}

// ---- matrix products ------------------------------------------------------------------------------------------------

void fit_gemm(const std::vector<Sample>& samples, const std::map<std::string, Device>& devices, const std::string& precision,
              KernelFit& out) {
  const bool tensor = precision != "fp32";
  std::vector<GemmObservation> rows;
  std::vector<int> board_of;
  Boards boards;
  const TimingChoice choice(samples, devices, "gemm", precision);
  for (const Sample& sample : samples) {
    if (!choice.serves(sample)) continue;
    auto row = gemm_observation(sample);
    if (!row) continue;
    row->board = boards.add(sample.device);
    board_of.push_back(row->board);
    rows.push_back(*row);
  }
  if (rows.empty()) {
    out.notes.push_back(fmt::format("gemm {}: no samples", precision));
    return;
  }
  std::vector<Unknown> unknowns{{"prologue_depth", tensor ? 128.0 : 16.0, 0.3}, {"tile_penalty", 4, 0.3}, {"reread", 0.05, 1.0}};
  add_boards(unknowns, boards, tensor, kGemmLaunchPrior);
  std::vector<const Device*> device_of;
  for (const std::string& id : boards.ids) device_of.push_back(&devices.at(id));
  const RobustFit fit = robust_fit(unknowns, rows.size(), [&](std::span<const double> values, std::span<double> residuals) {
    TileConstants tiles;
    tiles.prologue_depth = values[0];
    tiles.tile_penalty = values[1];
    tiles.reread = values[2];
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Device& device = *device_of[static_cast<std::size_t>(rows[i].board)];
      const KernelRates rates = boards.rates(values, rows[i].board, device, peak_for(device, precision));
      residuals[i] = std::log(rows[i].time / gemm_time(rows[i].shape, rows[i].element, tiles, rates).time);
    }
  });
  TileConstants tiles;
  tiles.prologue_depth = fit.values[0].value;
  tiles.tile_penalty = fit.values[1].value;
  tiles.reread = fit.values[2].value;
  out.constants.gemm[tensor ? "tensor" : "fp32"] = tiles;
  for (int board = 0; board < static_cast<int>(boards.ids.size()); ++board) {
    FitReport report;
    const std::string source = fmt::format("fitted: {} matrix-product samples, calibrate/samples", precision);
    auto parameters = board_parameters(fit, boards, board, "gemm", tensor ? "fp16" : "fp32", board_of, source, report);
    if (choice.call_timed(report.device)) without_host(parameters, kGemmLaunchPrior);
    out.constants.boards.push_back(describe(*device_of[static_cast<std::size_t>(board)], std::move(parameters)));
    out.reports.push_back(report);
  }
}

// ---- memory-bound operators -----------------------------------------------------------------------------------------

// Start and drain of a streaming kernel, back to back. Assumed: the published elementwise samples are single calls, so
// their floor is the host's; DeepBench's shortest kernels take 1 to 12 us.
constexpr Seconds kStreamingLaunch(4e-6);

void fit_memory(const std::vector<Sample>& samples, const std::map<std::string, Device>& devices, KernelFit& out) {
  std::map<std::string, std::vector<double>> shares;  // achieved bandwidth over the listed one
  for (const Sample& sample : samples) {
    if (const auto row = memory_observation(sample))
      shares[sample.device].push_back(row->bytes / row->time / devices.at(sample.device).memory_bandwidth);
  }
  for (auto& [id, values] : shares) {
    std::sort(values.begin(), values.end());
    const double median = values[values.size() / 2];
    std::vector<double> residuals;
    for (const double value : values) residuals.push_back(std::log(median / value));
    FitReport report{id, "memory_bound", "fp32", summarize_residuals(residuals)};
    FamilyParameters parameters{"memory_bound",
                                "fp32",
                                1.0,
                                median,
                                kStreamingLaunch,
                                report.error.log_sd,
                                report.error.n,
                                "fitted: median over elementwise samples of 64 MB and more, calibrate/samples; launch assumed"};
    out.constants.boards.push_back(describe(devices.at(id), std::move(parameters)));
    out.reports.push_back(report);
  }
}

/// Generations that stacks name but no kernel-timed samples cover take the nearest generation's constants.
void inherit_generations(KernelFit& out) {
  auto& all = out.constants.convolution;
  for (const auto& [missing, from] : {std::pair{"cudnn8", "cudnn7"}, std::pair{"cudnn8-tensor", "cudnn7-tensor"}}) {
    if (all.count(missing) != 0 || all.count(from) == 0) continue;
    all[missing] = all[from];
    out.inherited[missing] = from;
    out.notes.push_back(fmt::format("convolution {}: no samples of all three passes, constants of {}", missing, from));
  }
}

}  // namespace

Result<KernelFit> fit_kernels(const std::vector<Sample>& samples, const std::map<std::string, Device>& devices) {
  Errors errors;
  for (const Sample& sample : samples) {
    if (devices.find(sample.device) == devices.end())
      errors.push_back({fmt::format("line {}: device \"{}\" is not described", sample.line, sample.device)});
  }
  if (!errors.empty()) return tl::make_unexpected(errors);
  KernelFit out;
  fit_convolution(samples, devices, "fp32", out);
  fit_convolution(samples, devices, "fp16", out);
  fit_gemm(samples, devices, "fp32", out);
  fit_gemm(samples, devices, "fp16", out);
  fit_memory(samples, devices, out);
  if (out.reports.empty()) return fail("no sample is long enough to fit: kernels of 20 us, calls of 0.2 ms");
  inherit_generations(out);
  return out;
}

}  // namespace tbdsim::calibrate
