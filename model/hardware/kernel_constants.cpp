#include "model/hardware/kernel_constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "model/hardware/architecture.hpp"
#include "model/input/digest.hpp"
#include "model/input/toml_reader.hpp"

namespace tbdsim {
namespace {

TileConstants read_tiles(TomlTable table) {
  TileConstants tiles;
  tiles.prologue_depth = table.number("prologue_depth", kNotNegative);
  tiles.tile_penalty = table.number("tile_penalty", kNotNegative);
  tiles.reread = table.number("reread", kNotNegative);
  tiles.transpose_penalty = table.number_or("transpose_penalty", 0.0, kNotNegative);
  tiles.few_rows_bandwidth = table.number_or("few_rows_bandwidth", 1.0, kPositive);
  tiles.few_rows_transposed = table.number_or("few_rows_transposed", 1.0, kPositive);
  tiles.few_rows_until = table.number_or("few_rows_until", INFINITY, kPositive);
  tiles.short_tiles = table.number_or("short_tiles", 1.0, kPositive);
  tiles.narrow_tiles = table.number_or("narrow_tiles", 1.0, kPositive);
  return tiles;
}

FilterClassScales read_scales(TomlTable table, std::string_view key) {
  FilterClassScales scales{1, 1, 1, 1};
  auto row = table.table(key);
  scales[0] = row.number("pointwise", kPositive);
  scales[1] = row.number("dense", kPositive);
  scales[2] = row.number("strided", kPositive);
  scales[3] = row.number("first_layer", kPositive);
  row.finish();
  return scales;
}

ConvolutionConstants read_convolution(TomlTable table) {
  ConvolutionConstants constants;
  constants.tiles = read_tiles(table);
  constants.forward = read_scales(table, "forward");
  constants.backward_data = read_scales(table, "backward_data");
  constants.backward_weights = read_scales(table, "backward_weights");
  constants.gather_penalty = table.number("gather_penalty", kNotNegative);
  constants.scatter_scale = table.number("scatter_scale", kPositive);
  constants.scatter_passes = table.number("scatter_passes", kNotNegative);
  constants.winograd_fused_cost = table.number("winograd_fused_cost", kPositive);
  constants.winograd_filter_passes = table.number("winograd_filter_passes", kNotNegative);
  constants.winograd_gemm_scale = table.number("winograd_gemm_scale", kPositive);
  constants.transform_bandwidth = table.number("transform_bandwidth", kPositive);
  constants.transform_bandwidth_weights = table.number("transform_bandwidth_weights", kPositive);
  constants.fft_scale = table.number("fft_scale", kPositive);
  constants.depthwise_bandwidth = table.number("depthwise_bandwidth", kPositive);
  constants.aligned = table.quantity_if<Bytes>("aligned").value_or(constants.aligned);
  (void)table.text("source");
  table.finish();
  return constants;
}

/// A generation without samples of its own names the one whose constants it takes.
void read_convolutions(TomlTable generations, KernelConstants& constants) {
  std::vector<std::pair<std::string, std::string>> alike;
  for (auto& [name, table] : generations.named_tables()) {
    if (!table.has("like")) {
      constants.convolution[name] = read_convolution(table);
      continue;
    }
    alike.emplace_back(name, table.text("like"));
    (void)table.text("source");
    table.finish();
  }
  for (const auto& [name, from] : alike) {
    const auto found = constants.convolution.find(from);
    if (found == constants.convolution.end())
      generations.problem(name, fmt::format("like: expected a generation with constants of its own, got \"{}\"", from));
    else
      constants.convolution[name] = ConvolutionConstants(found->second);
  }
}

RecurrentConstants read_recurrent(TomlTable table) {
  RecurrentConstants constants;
  constants.tiles = read_tiles(table);
  constants.cycles_batch_16 = table.number("cycles_batch_16", kPositive);
  constants.cycles_batch_32 = table.number("cycles_batch_32", kPositive);
  constants.cycles_more = table.number("cycles_more", kPositive);
  (void)table.text("source");
  table.finish();
  return constants;
}

FamilyParameters read_family(TomlTable table) {
  FamilyParameters p;
  p.family = table.text("family");
  p.precision = table.text("precision");
  p.compute_efficiency = table.number_or("compute_efficiency", 1.0, kPositive);
  p.bandwidth_efficiency = table.number("bandwidth_efficiency", kPositive);
  p.launch = table.quantity<Seconds>("launch", kNotNegative);
  p.spread = table.number("spread", kNotNegative);
  p.samples = static_cast<int>(table.integer("samples", 0, 1 << 30));
  p.source = table.text("source");
  p.compute_sigma = table.number_or("compute_sigma", 0.0, kNotNegative);
  p.bandwidth_sigma = table.number_or("bandwidth_sigma", 0.0, kNotNegative);
  p.launch_sigma = table.number_or("launch_sigma", 0.0, kNotNegative);
  p.call = read_call_times(table);
  table.finish();
  return p;
}

/// A board as often as it has families.
void read_board(TomlTable table, std::vector<BoardParameters>& boards) {
  BoardParameters board;
  board.device = table.text("device");
  board.architecture = read_architecture(table);
  board.board_class = read_board_class(table);
  board.memory_kind = table.text("memory_kind");
  board.multiprocessors = static_cast<int>(table.integer("multiprocessors", 1, 1 << 16));
  board.fp32_lanes = static_cast<int>(table.integer("fp32_lanes", 1, 1 << 16));
  board.limits.boost_clock = table.quantity_if<Hertz>("boost_clock");
  board.limits.sustained_clock = table.quantity_if<Hertz>("sustained_clock");
  board.limits.power_limit = table.quantity_if<Watts>("power_limit");
  board.limits.peak_fp32 = table.quantity<FlopPerSecond>("peak_fp32");
  board.limits.peak_fp16_tensor = table.quantity_if<FlopPerSecond>("peak_fp16_tensor");
  for (auto& family : table.tables_or_empty("family")) {
    board.parameters = read_family(family);
    boards.push_back(board);
  }
  table.finish();
}

TransferSigma read_transfer(TomlTable table) {
  TransferSigma sigma;
  sigma.compute = table.number_or("compute_sigma", sigma.compute, kNotNegative);
  sigma.bandwidth = table.number("bandwidth_sigma", kNotNegative);
  sigma.boards = static_cast<int>(table.integer("boards", 0, 1 << 16));
  (void)table.text("source");
  table.finish();
  return sigma;
}

// Architectures that NVIDIA's libraries have kernels for, oldest first.
constexpr std::array<std::string_view, 3> kKernelSets{"maxwell", "volta", "ampere"};

std::optional<std::size_t> kernel_set(std::string_view architecture) {
  const Architecture* const row = find_architecture(architecture);
  if (row == nullptr || !row->generation) return std::nullopt;
  constexpr int kVolta = 3, kAmpere = 5;  // generations that libraries were written anew for: wider tensor instructions
  return *row->generation < kVolta ? 0 : *row->generation < kAmpere ? 1 : 2;
}

/// Release that ends a generation's name: 8 of "cudnn8".
double release(std::string_view generation) { return generation.empty() ? 0.0 : generation.back() - '0'; }

/// How little the kernels called `name` tell of others; infinite between makers.
double kernels_apart(std::string_view name, std::string_view generation, std::string_view architecture) {
  const std::size_t dash = name.find('-');
  const std::optional<std::size_t> wanted = kernel_set(architecture);
  if (dash == std::string_view::npos || !wanted) return INFINITY;
  const auto* const found = std::find(kKernelSets.begin(), kKernelSets.end(), name.substr(dash + 1));
  const double sets = std::abs(static_cast<double>(found - kKernelSets.begin()) - static_cast<double>(*wanted));
  const double releases = release(name.substr(0, dash)) - release(generation);
  constexpr double kPerSet = 100.0, kOlder = 0.5;
  return kPerSet * sets + std::abs(releases) + (releases < 0.0 ? kOlder : 0.0);
}

}  // namespace

std::string product_kernels(std::string_view generation, std::string_view architecture) {
  const std::optional<std::size_t> set = kernel_set(architecture);
  return std::string(generation) + (set ? fmt::format("-{}", kKernelSets[*set]) : "");
}

const TileConstants* gemm_constants(const KernelConstants& constants, bool tensor, std::string_view generation,
                                    std::string_view architecture) {
  const std::string arithmetic = tensor ? "tensor" : "fp32";
  const auto exact = constants.gemm.find(arithmetic + "-" + product_kernels(generation, architecture));
  if (exact != constants.gemm.end()) return &exact->second;
  const auto plain = constants.gemm.find(arithmetic);
  const TileConstants* best = plain == constants.gemm.end() ? nullptr : &plain->second;
  double least = INFINITY;
  for (const auto& [name, tiles] : constants.gemm) {
    if (name.rfind(arithmetic + "-", 0) != 0) continue;
    const double apart = kernels_apart(std::string_view(name).substr(arithmetic.size() + 1), generation, architecture);
    if (apart >= least) continue;
    least = apart;
    best = &tiles;
  }
  return best;
}

std::optional<CallTimes> read_call_times(TomlTable& table) {
  const auto overhead = table.quantity_if<Seconds>("call_overhead", kNotNegative);
  const auto floor = table.quantity_if<Seconds>("call_floor", kNotNegative);
  const auto per_shape = table.quantity_if<Seconds>("call_per_shape", kNotNegative);
  if (!overhead) return std::nullopt;
  return CallTimes{*overhead, floor.value_or(*overhead), per_shape.value_or(Seconds(0.0))};
}

Result<KernelConstants> read_kernel_constants(TomlFile file) {
  TomlTable root = file.root();
  KernelConstants constants;
  (void)root.integer("schema", 1, 1);
  constants.source = root.text("source");
  for (auto& [name, table] : root.table("gemm").named_tables()) {
    constants.gemm[name] = read_tiles(table);
    (void)table.text("source");
    table.finish();
  }
  read_convolutions(root.table("convolution"), constants);
  if (auto recurrent = root.table_if("recurrent"))
    for (auto& [name, table] : recurrent->named_tables()) constants.recurrent[name] = read_recurrent(table);
  if (auto calls = root.table_if("call")) {
    for (auto& [name, table] : calls->named_tables()) {
      if (const auto call = read_call_times(table)) constants.calls[name] = *call;
      (void)table.text("source");
      table.finish();
    }
  }
  if (auto transfers = root.table_if("transfer")) {
    for (auto& [name, table] : transfers->named_tables()) constants.transfers[name] = read_transfer(table);
  }
  for (auto& table : root.tables_or_empty("board")) read_board(table, constants.boards);
  auto spread = root.table("spread");
  constants.spread.clock = spread.number("clock", kNotNegative);
  constants.spread.row = spread.number("row", kNotNegative);
  constants.spread.tensor_core = spread.number("tensor_core", kNotNegative);
  constants.spread.exchange = spread.number("exchange", kNotNegative);
  constants.spread.source = spread.text("source");
  spread.finish();
  root.finish();
  if (!file.errors().empty()) return tl::make_unexpected(file.errors());
  constants.file = file.name();
  constants.sha256 = sha256_hex(file.text());
  return constants;
}

Result<KernelConstants> read_kernel_constants(const std::string& path) {
  auto file = TomlFile::open(path);
  if (!file) return tl::make_unexpected(file.error());
  return read_kernel_constants(std::move(*file));
}

}  // namespace tbdsim
