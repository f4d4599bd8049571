// Long because shared constants, boards and what they have in common are fitted as one set of unknowns.
#include "calibrate/fit/kernel_fit.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "calibrate/fit/board_fit.hpp"
#include "calibrate/fit/fit_family.hpp"
#include "calibrate/fit/prediction.hpp"
#include "calibrate/fit/shared_form.hpp"
#include "calibrate/fit/transfer_sigma.hpp"
#include "model/cost/board_rates.hpp"
#include "model/cost/product_power.hpp"
#include "model/cost/transfer.hpp"
#include "model/hardware/constant_bounds.hpp"

namespace tbdsim::calibrate {
namespace {

// Priors of a board: sustained fp32 rates of published large products are 0.7 to 1.0 of the listed boost rate, copies
// reach 0.7 to 0.9 of the memory bandwidth. Tensor cores sustain less of their peak.
constexpr double kComputePrior = 0.85, kTensorPrior = 0.7;
// Share of peak, share of bandwidth, launch; of single calls overhead, floor, growth. Pipelined products have two more: the share
// of peak that power sustains, and the share of bandwidth of quantising passes.
constexpr std::size_t kPerBoard = 6, kPerPipelinedBoard = 8;
// Priors of pipelined products: cycles that a kernel of a graph takes to start and drain; shares of peak that power sustains.
constexpr double kGraphCycles = 5000.0, kBriefPrior = 0.95, kSustainedPrior = 0.65, kQuantizePrior = 0.6;
constexpr double kCallSigma = 1.0;  // hosts differ by factors

/// Class of arithmetic whose samples are fitted together: products in both kinds of 16 bits run at one rate.
std::string fitted_class(const Observation& row) {
  const bool product = std::holds_alternative<GemmShape>(row.arguments);
  return product && row.precision == "bf16" ? "fp16" : std::string(row.precision);
}

/// Whether a sample may serve a fit: device times where a board has them, else call times. Call times of convolutions cover
/// one pass only: they serve chips that have nothing else.
class TimingChoice {
 public:
  TimingChoice(const std::vector<Sample>& samples, const DeviceMap& devices, const FitFamily& family,
               const std::string& precision)
      : devices_(devices), by_chip_(family.samples == "conv"), precision_(precision) {
    for (const Sample& sample : samples) {
      if (sample.family != family.samples || sample.call_timing) continue;
      const auto row = family.observe(sample);
      if (row && fitted_class(*row) == precision) device_timed_.insert(chip(sample.device));
    }
  }
  [[nodiscard]] bool serves(const Sample& sample, const Observation& row) const {
    return fitted_class(row) == precision_ && (!sample.call_timing || call_timed(sample.device));
  }
  [[nodiscard]] bool call_timed(const std::string& device) const { return device_timed_.count(chip(device)) == 0; }

 private:
  using Chip = std::tuple<std::string, int, int>;  // or the board's id alone
  [[nodiscard]] Chip chip(const std::string& id) const {
    if (!by_chip_) return {id, 0, 0};
    const Device& device = devices_.at(id);
    return {device.architecture, device.multiprocessors, device.fp32_lanes};
  }

  const DeviceMap& devices_;
  bool by_chip_;
  std::string precision_;
  std::set<Chip> device_timed_;
};

/// Observations of one family and class of arithmetic, with the boards and library generations they name.
struct FitSet {
  std::vector<Observation> rows;
  std::vector<std::size_t> board_of, generation_of;
  std::vector<std::string> boards;
  std::vector<std::string> generations;

  void add(Observation row, const Device& device, bool pipelined) {
    // cuDNN 8 samples are forward 3x3 only: too thin for a generation of their own.
    const bool convolution = std::holds_alternative<ConvolutionArguments>(row.arguments);
    if (convolution && row.generation == "cudnn8") row.generation = "cudnn7";
    const bool product = std::holds_alternative<GemmShape>(row.arguments);  // whose kernels differ by architecture
    board_of.push_back(place(boards, device.id));
    generation_of.push_back(place(generations, pipelined ? fmt::format("{}-{}", row.generation, *pipelined_kernels(device))
                                               : product ? product_kernels(row.generation, device.chip)
                                                         : std::string(row.generation)));
    rows.push_back(std::move(row));
  }

 private:
  template <class T>
  static std::size_t place(std::vector<T>& list, const T& value) {
    const auto found = std::find(list.begin(), list.end(), value);
    const auto at = static_cast<std::size_t>(found - list.begin());
    if (found == list.end()) list.push_back(value);
    return at;
  }
};

FitSet fit_set(const std::vector<Sample>& samples, const DeviceMap& devices, const TimingChoice& choice, const FitFamily& family,
               bool pipelined) {
  FitSet set;
  for (const Sample& sample : samples) {
    if (sample.family != family.samples) continue;
    const Device& device = devices.at(sample.device);
    const bool tensor = family.name == "gemm" && on_tensor_cores(device, sample.precision);
    // Convolutions of kernels that load ahead have no constants of their own: a board's fit alone reads them.
    const bool product = family.name == "convolution" && on_tensor_cores(device, sample.precision) && pipelined_kernels(device);
    if (product) continue;
    if (pipelined != (tensor && pipelined_kernels(device))) continue;
    auto row = family.observe(sample);
    // A graph's replays are timed finely.
    if (row && (row->long_enough || pipelined) && choice.serves(sample, *row)) set.add(std::move(*row), device, pipelined);
  }
  return set;
}

BoardParameters describe(const Device& device, FamilyParameters parameters) {
  BoardParameters board;
  board.device = device.id;
  board.architecture = device.architecture;
  board.chip = device.chip;
  board.board_class = device.board_class;
  board.memory_kind = device.memory_kind;
  board.multiprocessors = device.multiprocessors;
  board.fp32_lanes = device.fp32_lanes;
  board.kernels = parameters.sustained_efficiency ? std::string(pipelined_kernels(device).value_or("")) : "";
  board.limits = clock_limits(device);
  board.memory_bandwidth = device.memory_bandwidth;
  board.parameters = std::move(parameters);
  return board;
}

/// One family and class of arithmetic over all its boards: shared unknowns first, then four per board.
class SharedFit {
 public:
  SharedFit(const FitFamily& family, const std::string& precision, const std::vector<Sample>& samples, const DeviceMap& devices,
            bool pipelined)
      : family_(family), precision_(precision), choice_(samples, devices, family, precision), pipelined_(pipelined) {
    set_ = fit_set(samples, devices, choice_, family, pipelined);
    for (const std::string& id : set_.boards) devices_.push_back(&devices.at(id));
  }

  [[nodiscard]] bool empty() const { return set_.rows.empty(); }
  /// Different amounts of work among its samples: fewer cannot tell arithmetic, bandwidth and launch apart.
  [[nodiscard]] bool too_few() const {
    std::set<std::tuple<std::string_view, double, double>> distinct;
    for (const Observation& row : set_.rows) distinct.insert({row.pass, row.flop.base(), row.bytes.base()});
    return distinct.size() < kFewestShapes;
  }

  void run(KernelFit& out) {
    const bool tensor = precision_ != "fp32";
    if (pipelined_) believe_generations(out.constants);
    unknowns_ = shared_unknowns(form());
    first_board_ = unknowns_.size();
    for (const std::string& id : set_.boards) {
      unknowns_.push_back({id + " compute",
                           pipelined_         ? kBriefPrior
                           : tensor           ? (family_.peak_share > 0.0 ? family_.peak_share : kTensorPrior)
                           : family_.computes ? kComputePrior
                                              : 1.0,
                           !family_.computes ? 0.0
                           : pipelined_      ? 0.2
                           : tensor          ? family_.peak_sigma
                                             : 0.06});
      const ConstantBounds& rate = constant_bounds("bandwidth_efficiency");
      unknowns_.push_back({id + " bandwidth", family_.bandwidth, 0.05, rate.low, rate.high});
      // Call times say nothing of the kernel's own start, device times nothing of the host's.
      const bool call = choice_.call_timed(id);
      const Hertz boost = devices_[static_cast<std::size_t>(&id - set_.boards.data())]->boost_clock.value_or(Hertz(1.5e9));
      unknowns_.push_back({id + " launch", pipelined_ ? kGraphCycles / boost.base() : family_.launch.base(),
                           family_.computes && !call && !family_.own_start ? 0.7 : 0.0});
      unknowns_.push_back({id + " call", kCallTimes.overhead.base(), call ? kCallSigma : 0.0});
      unknowns_.push_back({id + " call floor", kCallTimes.floor.base(), call ? kCallSigma : 0.0});
      unknowns_.push_back({id + " call per shape", kCallTimes.per_shape.base(), counts_shapes(id) ? kCallSigma : 0.0});
      if (!pipelined_) continue;
      unknowns_.push_back({id + " sustained", kSustainedPrior, 0.3, 0.05, 1.5});
      unknowns_.push_back({id + " quantize", kQuantizePrior, precision_ == "fp8" ? 0.7 : 0.0, 0.05, 4.0});
    }
    fit_ = robust_fit(
        unknowns_, set_.rows.size(), [this](std::span<const double> v, std::size_t row) { return residual(v, row); },
        [this](std::size_t unknown, std::size_t row) { return depends(unknown, row); });
    for (std::size_t i = 0; i < fit_.values.size(); ++i) {
      if (fit_.values[i].at_bound)
        out.at_bound.push_back(
            fmt::format("{} {}: {} = {:.4g}", family_.name, precision_, unknowns_[i].name, fit_.values[i].value));
    }
    store(tensor, out);
    for (std::size_t board = 0; board < set_.boards.size(); ++board) store_board(board, out);
  }

 private:
  [[nodiscard]] std::size_t per_board() const { return pipelined_ ? kPerPipelinedBoard : kPerBoard; }
  [[nodiscard]] SharedForm form() const {
    return {family_.name, set_.generations, precision_ != "fp32", believed_, precision_ == "fp8"};
  }

  /// What other kernels tell of a generation's constants: of 8 bits those of 16; else loads and epilogue take as many k-steps of
  /// tensor cores everywhere (fitted: 0.25 to 0.6 of 128 x 128 results, and 140 to 240 k-steps, on five boards).
  void believe_generations(const KernelConstants& known) {
    constexpr double kLatency = 0.4 * 2.0 * 128.0 * 128.0, kEpilogue = 185.0;
    for (std::size_t g = 0; g < set_.generations.size(); ++g) {
      double sum = 0.0, n = 0.0;
      for (std::size_t i = 0; i < set_.rows.size(); ++i) {
        if (set_.generation_of[i] != g) continue;
        const Device& device = *devices_[set_.board_of[i]];
        sum += std::log(peak_for(device, "fp16").base() / device.multiprocessors);
        n += 1.0;
      }
      const double rate = std::exp(sum / n);
      const std::string& name = set_.generations[g];
      const auto like = known.pipelined.find("cudnn8" + name.substr(name.find('-')));
      PipelinedConstants c = like != known.pipelined.end() ? like->second : PipelinedConstants{};
      if (like == known.pipelined.end()) {
        c.load_latency = Seconds(kLatency / rate);
        c.epilogue = Seconds(kEpilogue / rate);
      }
      // cuBLAS splits k; CUTLASS as frameworks call it, DeepGEMM and kernels with scales by block do not. On Ada and Hopper
      // CUTLASS's callers take the tile by the rows alone.
      c.splits = name.rfind("cudnn", 0) == 0;
      c.tiles = name == "cutlass-hopper"   ? TileRule::cutlass_hopper
                : name == "cutlass-ampere" ? TileRule::cutlass_ada
                                           : TileRule::fastest;
      constexpr double kReread = 0.3;
      c.reread = c.splits ? 0.0 : kReread;
      constexpr Seconds kQuantize(8e-6);
      if (precision_ == "fp8") c.quantize_launch = kQuantize;
      c.multiprocessor_rate = FlopPerSecond(rate);
      believed_.push_back(c);
    }
  }

  /// Whether samples of a board say how many shapes their process had run before.
  [[nodiscard]] bool counts_shapes(const std::string& id) const {
    for (std::size_t i = 0; i < set_.rows.size(); ++i) {
      if (set_.boards[set_.board_of[i]] == id && set_.rows[i].shapes_before > 0.0) return true;
    }
    return false;
  }

  [[nodiscard]] double residual(std::span<const double> v, std::size_t i) const {
    const Observation& row = set_.rows[i];
    const Device& device = *devices_[set_.board_of[i]];
    const double* own = &v[first_board_ + per_board() * set_.board_of[i]];
    const FlopPerSecond peak = peak_for(device, precision_);
    KernelRates rates = sustained_rates(device, peak, own[0], device.memory_bandwidth * own[1], Seconds(own[2]), precision_);
    if (pipelined_) {
      rates.sustained = peak * own[6];
      rates.power_time = kBenchmarkPowerTime;
      rates.quantize_bandwidth = device.memory_bandwidth * own[7];
    }
    const Seconds kernel = family_.time(row, shared_constants(form(), v, set_.generation_of[i]), rates);
    return std::log(row.time / sample_time(row, kernel, {Seconds(own[3]), Seconds(own[4]), Seconds(own[5])}));
  }

  [[nodiscard]] bool depends(std::size_t unknown, std::size_t row) const {
    if (unknown >= first_board_) return (unknown - first_board_) / per_board() == set_.board_of[row];
    return depends_on_shared(form(), unknown, set_.generation_of[row]);
  }

  void store(bool tensor, KernelFit& out) const {
    std::vector<double> values;
    for (const FittedValue& value : fit_.values) values.push_back(value.value);
    for (std::size_t g = 0; g < set_.generations.size(); ++g) {
      const FormConstants constants = shared_constants(form(), values, g);
      if (const auto* convolution = std::get_if<ConvolutionConstants>(&constants))
        out.constants.convolution[std::string(set_.generations[g]) + (tensor ? "-tensor" : "")] = *convolution;
      if (const auto* recurrent = std::get_if<RecurrentConstants>(&constants))
        out.constants.recurrent[std::string(set_.generations[g]) + (tensor ? "-tensor" : "")] = *recurrent;
      if (const auto* attention = std::get_if<AttentionConstants>(&constants))
        out.constants.attention[set_.generations[g]] = *attention;
      if (const auto* rows = std::get_if<RowConstants>(&constants)) out.constants.row_kernels[set_.generations[g]] = *rows;
      if (const auto* experts = std::get_if<ExpertConstants>(&constants)) out.constants.experts[set_.generations[g]] = *experts;
      const auto* tiles = std::get_if<TileConstants>(&constants);
      if (tiles != nullptr && tiles->pipelined)
        out.constants.pipelined[(precision_ == "fp8" ? "fp8-" : "") + set_.generations[g]] = *tiles->pipelined;
      else if (tiles != nullptr)
        store_tiles(*tiles, set_.generations[g], tensor, out);
    }
  }

  /// Kernels that are like none with samples take those of cuDNN 7, in whose day both kinds of arithmetic were measured.
  static void store_tiles(const TileConstants& tiles, std::string_view generation, bool tensor, KernelFit& out) {
    const std::string arithmetic = tensor ? "tensor" : "fp32";
    out.constants.gemm[arithmetic + "-" + std::string(generation)] = tiles;
    if (generation.substr(0, 6) == "cudnn7" || out.constants.gemm.count(arithmetic) == 0) out.constants.gemm[arithmetic] = tiles;
  }

  void store_board(std::size_t board, KernelFit& out) const {
    const FittedValue* own = &fit_.values[first_board_ + per_board() * board];
    std::vector<double> residuals;
    for (std::size_t i = 0; i < set_.rows.size(); ++i) {
      if (set_.board_of[i] == board) residuals.push_back(fit_.residuals[i]);
    }
    const FitReport report{set_.boards[board], std::string(family_.name), precision_, summarize_residuals(residuals)};
    FamilyParameters p{
        report.family,         precision_,
        own[0].value,          own[1].value,
        Seconds(own[2].value), report.error.spread,
        report.error.n,        fmt::format("fitted: {} {} samples, calibrate/samples", precision_, family_.samples),
        own[0].sigma,          own[1].sigma,
        own[2].sigma};
    if (pipelined_) {
      p.sustained_efficiency = own[6].value;
      if (precision_ == "fp8") p.quantize_bandwidth = own[7].value;
    }
    if (choice_.call_timed(report.device)) {
      p.call =
          CallTimes{Seconds(own[3].value), Seconds(own[4].value), Seconds(counts_shapes(report.device) ? own[5].value : 0.0)};
      p.source += "; single calls, so the launch is assumed";
    }
    out.constants.boards.push_back(describe(*devices_[board], std::move(p)));
    out.reports.push_back(report);
  }

  const FitFamily& family_;
  std::string precision_;
  TimingChoice choice_;
  bool pipelined_ = false;
  std::vector<PipelinedConstants> believed_;
  FitSet set_;
  std::vector<const Device*> devices_;
  std::vector<Unknown> unknowns_;
  std::size_t first_board_ = 0;
  RobustFit fit_;
};

CallTimes geometric_mean(const std::vector<CallTimes>& calls) {
  const auto mean = [&](Seconds CallTimes::*member) {
    double sum = 0.0, n = 0.0;
    for (const CallTimes& call : calls) {
      if ((call.*member).base() <= 0.0) continue;  // not measured by this host
      sum += std::log((call.*member).base());
      n += 1.0;
    }
    return Seconds(n > 0.0 ? std::exp(sum / n) : 0.0);
  };
  return {mean(&CallTimes::overhead), mean(&CallTimes::floor), mean(&CallTimes::per_shape)};
}

/// Generations that stacks name but no kernel-timed samples cover take the nearest generation's constants.
void inherit_generations(KernelFit& out) {
  auto& all = out.constants.convolution;
  for (const auto& [missing, from] : {std::pair{"cudnn8", "cudnn7"}, std::pair{"cudnn8-tensor", "cudnn7-tensor"},
                                      std::pair{"miopen3", "miopen1"}, std::pair{"miopen3-tensor", "cudnn7-tensor"}}) {
    if (all.count(missing) != 0 || all.count(from) == 0) continue;
    all[missing] = all[from];
    out.inherited[missing] = from;
    out.notes.push_back(fmt::format("convolution {}: no samples of all three passes, constants of {}", missing, from));
  }
}

/// What single calls take from their hosts, whose boards' kernels are known by now: the geometric mean of the hosts measured.
void fit_calls(const std::vector<Sample>& samples, const DeviceMap& devices, KernelFit& out) {
  constexpr std::size_t kEnough = 300;  // of one board: three numbers
  for (const FitFamily& family : fit_families()) {
    std::map<std::string, std::vector<Sample>> by_device;
    for (const Sample& sample : samples) {
      if (sample.family == family.samples && sample.precision == "fp32" && sample.call_timing && family.observe(sample))
        by_device[sample.device].push_back(sample);
    }
    std::vector<CallTimes> calls;
    for (const auto& [id, all] : by_device) {
      std::vector<Sample> some;
      const std::size_t step = all.size() / kEnough + 1;
      for (std::size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
      const auto fit = fit_board(some, devices.at(id), out.constants, "");
      const FamilyParameters* const own = fit ? fit->device.calibration.find(family.name, "fp32") : nullptr;
      if (own != nullptr && own->call) calls.push_back(*own->call);
    }
    if (!calls.empty()) out.constants.calls[std::string(family.name)] = geometric_mean(calls);
  }
}

void run_fit(SharedFit fit, const std::string& what, KernelFit& out) {
  if (fit.empty())
    out.notes.push_back(what + ": no samples");
  else if (fit.too_few())
    out.notes.push_back(fmt::format("{}: too few shapes to fit, {} needed", what, kFewestShapes));
  else
    fit.run(out);
}

}  // namespace

Result<KernelFit> fit_kernels(const std::vector<Sample>& samples, const DeviceMap& devices) {
  Errors errors;
  for (const Sample& sample : samples) {
    if (devices.find(sample.device) == devices.end())
      errors.push_back({fmt::format("line {}: device \"{}\" is not described", sample.line, sample.device)});
  }
  if (!errors.empty()) return tl::make_unexpected(errors);
  KernelFit out;
  for (const FitFamily& family : fit_families()) {
    if (family.issues) continue;
    for (const char* precision : {"fp32", "fp32-tensor", "fp16"}) {
      if (!family.computes && std::string_view(precision) != "fp32") continue;
      run_fit({family, precision, samples, devices, false}, fmt::format("{} {}", family.name, precision), out);
    }
    if (family.name != "gemm") continue;
    for (const char* precision : {"fp16", "fp8"})
      run_fit({family, precision, samples, devices, true}, fmt::format("gemm {} since Ampere", precision), out);
  }
  if (out.reports.empty())
    return fail(fmt::format(
        "nothing can be fitted: no family has {} shapes, enough to tell arithmetic, bandwidth and launch apart, of 5 us "
        "or more",
        kFewestShapes));
  inherit_generations(out);
  fit_transfers(devices, out.constants);
  fit_calls(samples, devices, out);
  return out;
}

}  // namespace tbdsim::calibrate
