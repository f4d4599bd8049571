#include <fmt/format.h>

#include <cmath>
#include <set>

#include "calibrate/fit/fit_family.hpp"
#include "calibrate/fit/kernel_fit.hpp"

namespace tbdsim::calibrate {
namespace {

std::string scales(const std::string& table, std::string_view pass, const FilterClassScales& s) {
  return fmt::format("[{}.{}]\npointwise = {:.4g}\ndense = {:.4g}\nstrided = {:.4g}\nfirst_layer = {:.4g}\n", table, pass, s[0],
                     s[1], s[2], s[3]);
}

std::string tiles(const TileConstants& t) {
  std::string text = fmt::format("prologue_depth = {:.4g}\ntile_penalty = {:.4g}\nreread = {:.4g}\n", t.prologue_depth,
                                 t.tile_penalty, t.reread);
  if (t.transpose_penalty > 0.0) text += fmt::format("transpose_penalty = {:.4g}\n", t.transpose_penalty);
  if (t.few_rows_bandwidth != 1.0) text += fmt::format("few_rows_bandwidth = {:.4g}\n", t.few_rows_bandwidth);
  if (t.few_rows_transposed != 1.0) text += fmt::format("few_rows_transposed = {:.4g}\n", t.few_rows_transposed);
  if (std::isfinite(t.few_rows_until)) text += fmt::format("few_rows_until = {:g}\n", t.few_rows_until);
  if (t.short_tiles != 1.0) text += fmt::format("short_tiles = {:.4g}\n", t.short_tiles);
  if (t.narrow_tiles != 1.0) text += fmt::format("narrow_tiles = {:.4g}\n", t.narrow_tiles);
  return text;
}

std::string pipelined(const std::string& name, const PipelinedConstants& c) {
  std::string text = fmt::format(
      "[pipelined.{}]\ntile_penalty = {:.4g}\nwave_smoothing = {:.4g}\nresident_waves = {:.4g}\nload_latency = \"{:.4g} ns\"\n"
      "epilogue = \"{:.4g} ps\"\nsplit_cycles = {:.4g}\n",
      name, c.tile_penalty, c.wave_smoothing, c.resident_waves, c.load_latency.base() * 1e9, c.epilogue.base() * 1e12,
      c.split_cycles);
  if (c.compute_scale != 1.0) text += fmt::format("compute_scale = {:.4g}\n", c.compute_scale);
  if (!c.splits) text += "splits = false\n";
  if (c.tiles != TileRule::fastest) text += fmt::format("tiles = \"{}\"\n", info(c.tiles).name);
  if (c.reread > 0.0) text += fmt::format("reread = {:.4g}\n", c.reread);
  if (c.quantize_launch > Seconds(0.0))
    text += fmt::format("quantize_launch = \"{:.4g} us\"\nquantize_passes = {:.4g}\n", c.quantize_launch.base() * 1e6,
                        c.quantize_passes);
  return text + fmt::format("multiprocessor_rate = \"{:.4g} TFLOP/s\"\nsource = \"fitted: matrix-product samples\"\n\n",
                            c.multiprocessor_rate.base() / 1e12);
}

std::string convolution(const std::string& name, const ConvolutionConstants& c) {
  const std::string table = "convolution." + name;
  return fmt::format(
             "[{}]\n{}{}gather_penalty = {:.4g}\nscatter_scale = {:.4g}\nscatter_passes = {:.4g}\nwinograd_fused_cost = {:.4g}\n"
             "winograd_filter_passes = {:.4g}\nwinograd_gemm_scale = {:.4g}\ntransform_bandwidth = {:.4g}\n"
             "transform_bandwidth_weights = {:.4g}\nfft_scale = {:.4g}\ndepthwise_bandwidth = {:.4g}\n"
             "source = \"fitted: convolution samples of this generation; depthwise_bandwidth assumed, no samples\"\n",
             table, tiles(c.tiles), c.aligned > Bytes(0.0) ? fmt::format("aligned = \"{:g} B\"\n", c.aligned.base()) : "",
             c.gather_penalty, c.scatter_scale, c.scatter_passes, c.winograd_fused_cost, c.winograd_filter_passes,
             c.winograd_gemm_scale, c.transform_bandwidth, c.transform_bandwidth_weights, c.fft_scale, c.depthwise_bandwidth) +
         scales(table, "forward", c.forward) + scales(table, "backward_data", c.backward_data) +
         scales(table, "backward_weights", c.backward_weights) + "\n";
}

std::string recurrent(const std::string& name, const RecurrentConstants& c) {
  return fmt::format(
      "[recurrent.{}]\n{}cycles_batch_16 = {:.4g}\ncycles_batch_32 = {:.4g}\ncycles_more = {:.4g}\n"
      "source = \"fitted: recurrent samples of this generation; reread assumed, weight gradients alone use it\"\n\n",
      name, tiles(c.tiles), c.cycles_batch_16, c.cycles_batch_32, c.cycles_more);
}

std::string attention_pass(const AttentionPass& p) {
  return fmt::format("share = {:.4g}\nshare_8_bit = {:.4g}\nprologue = {:.4g}\ntail = {:.4g}\n", p.share, p.share_8_bit,
                     p.prologue, p.tail);
}

std::string attention(const std::string& name, const AttentionConstants& c) {
  return fmt::format(
      "[attention.{0}]\n{1}few_blocks = {2:.4g}\nwide = {7:.4g}\nwindow = {8:.4g}\nsplit = {3:.4g}\nstart = \"{4:.4g} "
      "us\"\nstart_per_doubling = \"{5:.4g} us\"\n"
      "source = \"fitted: attention samples of this kernel; what none of them depends on is "
      "believed\"\n[attention.{0}.backward]\n"
      "{6}\n",
      name, attention_pass(c.forward), c.few_blocks, c.split, c.start.base() * 1e6, c.start_per_doubling.base() * 1e6,
      attention_pass(c.backward), c.wide, c.window);
}

std::string row_kernel(const std::string& name, const RowConstants& c) {
  std::string text = fmt::format("[row_kernel.{}]\nstart = \"{:.4g} us\"\n", name, c.start.base() * 1e6);
  if (c.share != 1.0) text += fmt::format("share = {:.4g}\n", c.share);
  if (c.step_clocks > 0.0) text += fmt::format("flight = {:.4g}\nstep_clocks = {:.4g}\n", c.flight, c.step_clocks);
  if (c.row_clocks > 0.0) text += fmt::format("row_clocks = {:.4g}\n", c.row_clocks);
  return text + "source = \"fitted: samples of this kernel\"\n\n";
}

std::string experts(const std::string& name, const ExpertConstants& c) {
  return fmt::format(
      "[experts.{}]\nstart = \"{:.4g} us\"\nshare = {:.4g}\nprologue = {:.4g}\ntile_penalty = {:.4g}\nreread = {:.4g}\n"
      "activations = {:.4g}\nsource = \"fitted: samples of expert layers by this kernel\"\n\n",
      name, c.start.base() * 1e6, c.share, c.prologue, c.tile_penalty, c.reread, c.activations);
}

std::string call_times(const CallTimes& c) {
  std::string text =
      fmt::format("call_overhead = \"{:.3g} us\"\ncall_floor = \"{:.3g} us\"\n", c.overhead.base() * 1e6, c.floor.base() * 1e6);
  if (c.per_shape > Seconds(0.0)) text += fmt::format("call_per_shape = \"{:.3g} ns\"\n", c.per_shape.base() * 1e9);
  return text;
}

std::string board(const BoardParameters& b) {
  std::string text = fmt::format("[[board]]\ndevice = \"{}\"\narchitecture = \"{}\"\nmemory_kind = \"{}\"\n", b.device,
                                 b.architecture, b.memory_kind);
  if (!b.kernels.empty()) text += fmt::format("kernels = \"{}\"\n", b.kernels);
  if (b.board_class != BoardClass::professional) text += fmt::format("board_class = \"{}\"\n", name(b.board_class));
  text += fmt::format("multiprocessors = {}\nfp32_lanes = {}\n", b.multiprocessors, b.fp32_lanes);
  const ClockLimits& limits = b.limits;
  if (limits.sustained_clock && limits.boost_clock)
    text += fmt::format("boost_clock = \"{:g} MHz\"\nsustained_clock = \"{:g} MHz\"\n", limits.boost_clock->base() / 1e6,
                        limits.sustained_clock->base() / 1e6);
  if (limits.power_limit) text += fmt::format("power_limit = \"{:g} W\"\n", limits.power_limit->base());
  text += fmt::format("peak_fp32 = \"{:g} TFLOP/s\"\n", limits.peak_fp32.base() / 1e12);
  if (limits.peak_fp16_tensor)
    text += fmt::format("peak_fp16_tensor = \"{:g} TFLOP/s\"\n", limits.peak_fp16_tensor->base() / 1e12);
  if (b.memory_bandwidth) text += fmt::format("memory_bandwidth = \"{:g} GB/s\"\n", b.memory_bandwidth->base() / 1e9);
  return text + "\n";
}

std::string family(const FamilyParameters& p) {
  std::string text = fmt::format(
      "[[board.family]]\nfamily = \"{}\"\nprecision = \"{}\"\ncompute_efficiency = {:.4g}\nbandwidth_efficiency = {:.4g}\n",
      p.family, p.precision, p.compute_efficiency, p.bandwidth_efficiency);
  if (p.sustained_efficiency) text += fmt::format("sustained_efficiency = {:.4g}\n", *p.sustained_efficiency);
  if (p.quantize_bandwidth) text += fmt::format("quantize_bandwidth = {:.4g}\n", *p.quantize_bandwidth);
  if (p.call) text += call_times(*p.call);
  if (family_of_parameters(p.family)->computes) text += fmt::format("compute_sigma = {:.3g}\n", p.compute_sigma);
  text += fmt::format("bandwidth_sigma = {:.3g}\n", p.bandwidth_sigma);
  return text + fmt::format("launch = \"{:.3g} us\"\nspread = {:.3g}\nsamples = {}\nsource = \"{}\"\n\n", p.launch.base() * 1e6,
                            p.spread, p.samples, p.source);
}

/// Every board once, with all its families.
std::string boards(const std::vector<BoardParameters>& all) {
  std::string text;
  std::set<std::string_view> written;
  for (const BoardParameters& b : all) {
    if (!written.insert(b.device).second) continue;
    text += board(b);
    for (const BoardParameters& other : all) {
      if (other.device == b.device) text += family(other.parameters);
    }
  }
  return text;
}

std::string transfer(const std::string& name, const TransferSigma& sigma) {
  std::string text = fmt::format("[transfer.{}]\n", name);
  if (family_of_parameters(name.substr(0, name.find('-')))->computes)
    text += fmt::format("compute_sigma = {:.3g}\n", sigma.compute);
  return text + fmt::format(
                    "bandwidth_sigma = {:.3g}\nboards = {}\nsource = \"fitted: the boards of this file, one chip at a time "
                    "predicted from the others\"\n\n",
                    sigma.bandwidth, sigma.boards);
}

}  // namespace

std::string to_toml(const KernelFit& fit) {
  std::string text = "# Written by `tbdsim calibrate fit --shared`; edit the samples or the model, not this file.\n";
  text += fmt::format("schema = 1\nsource = \"{}\"\n\n", fit.constants.source);
  for (const auto& [name, t] : fit.constants.gemm)
    text += fmt::format("[gemm.{}]\n{}source = \"fitted: matrix-product samples\"\n\n", name, tiles(t));
  for (const auto& [name, c] : fit.constants.pipelined) text += pipelined(name, c);
  for (const auto& [name, c] : fit.constants.convolution) {
    const auto from = fit.inherited.find(name);
    text += from == fit.inherited.end()
                ? convolution(name, c)
                : fmt::format("[convolution.{}]\nlike = \"{}\"\nsource = \"transferred: no samples of all three passes\"\n\n",
                              name, from->second);
  }
  for (const auto& [name, c] : fit.constants.recurrent) text += recurrent(name, c);
  for (const auto& [name, c] : fit.constants.attention) text += attention(name, c);
  for (const auto& [name, c] : fit.constants.row_kernels) text += row_kernel(name, c);
  for (const auto& [name, c] : fit.constants.experts) text += experts(name, c);
  for (const auto& [family, c] : fit.constants.calls)
    text += fmt::format("[call.{}]\n{}source = \"fitted: single calls of {}, geometric mean of their hosts\"\n\n", family,
                        call_times(c), family);
  for (const auto& [name, sigma] : fit.constants.transfers) text += transfer(name, sigma);
  text += boards(fit.constants.boards);
  const SpreadConstants& s = fit.constants.spread;
  text += fmt::format("[spread]\nclock = {:g}\nrow = {:g}\ntensor_core = {:g}\nexchange = {:g}\nsource = \"{}\"\n", s.clock,
                      s.row, s.tensor_core, s.exchange, s.source);
  return text;
}

}  // namespace tbdsim::calibrate
