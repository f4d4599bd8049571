#include "model/hardware/kernel_constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "model/hardware/architecture.hpp"
#include "model/hardware/constant_bounds.hpp"
#include "model/input/digest.hpp"
#include "model/input/toml_reader.hpp"

namespace tbdsim {
namespace {

bool is_tensor(std::string_view name) { return name.find("tensor") != std::string_view::npos; }

/// A constant within its bounds; the problem names the reason of those.
class Bounded {
 public:
  Bounded(TomlTable& table, bool tensor) : table_(table), tensor_(tensor) {}

  double number(std::string_view key) { return number(key, key); }
  /// `bounds`: the row of the table that the key has.
  double number(std::string_view key, std::string_view bounds) { return judged(key, table_.number(key, kNotNegative), bounds); }
  double number_or(std::string_view key, double otherwise) { return table_.has(key) ? number(key) : otherwise; }

 private:
  double judged(std::string_view key, double value, std::string_view row) {
    const ConstantBounds& bounds = constant_bounds(row);
    const double most = bounds.most(tensor_);
    if (table_.has(key) && (value < bounds.low || value > most))
      table_.problem(key, fmt::format("{:g} lies outside {:g} to {:g}: {}", value, bounds.low, most, bounds.reason));
    return value;
  }

  TomlTable& table_;
  bool tensor_;
};

TileConstants read_tiles(TomlTable& table, bool tensor) {
  TileConstants tiles;
  Bounded bounded(table, tensor);
  tiles.prologue_depth = bounded.number("prologue_depth");
  tiles.tile_penalty = bounded.number("tile_penalty");
  tiles.reread = bounded.number("reread");
  tiles.transpose_penalty = bounded.number_or("transpose_penalty", 0.0);
  tiles.few_rows_bandwidth = bounded.number_or("few_rows_bandwidth", 1.0);
  tiles.few_rows_transposed = bounded.number_or("few_rows_transposed", 1.0);
  tiles.few_rows_until = table.number_or("few_rows_until", INFINITY, kPositive);
  tiles.short_tiles = bounded.number_or("short_tiles", 1.0);
  tiles.narrow_tiles = bounded.number_or("narrow_tiles", 1.0);
  return tiles;
}

FilterClassScales read_scales(TomlTable& table, std::string_view key, bool tensor) {
  FilterClassScales scales{1, 1, 1, 1};
  auto row = table.table(key);
  Bounded bounded(row, tensor);
  constexpr std::array<std::string_view, 4> kClasses{"pointwise", "dense", "strided", "first_layer"};
  for (std::size_t i = 0; i < kClasses.size(); ++i) scales[i] = bounded.number(kClasses[i], "scale");
  row.finish();
  return scales;
}

ConvolutionConstants read_convolution(TomlTable table, bool tensor) {
  ConvolutionConstants constants;
  constants.tiles = read_tiles(table, tensor);
  constants.forward = read_scales(table, "forward", tensor);
  constants.backward_data = read_scales(table, "backward_data", tensor);
  constants.backward_weights = read_scales(table, "backward_weights", tensor);
  Bounded bounded(table, tensor);
  constants.gather_penalty = bounded.number("gather_penalty");
  constants.scatter_scale = bounded.number("scatter_scale");
  constants.scatter_passes = bounded.number("scatter_passes");
  constants.winograd_fused_cost = bounded.number("winograd_fused_cost");
  constants.winograd_filter_passes = bounded.number("winograd_filter_passes");
  constants.winograd_gemm_scale = bounded.number("winograd_gemm_scale");
  constants.transform_bandwidth = bounded.number("transform_bandwidth");
  constants.transform_bandwidth_weights = bounded.number("transform_bandwidth_weights");
  constants.fft_scale = bounded.number("fft_scale");
  constants.depthwise_bandwidth = bounded.number("depthwise_bandwidth");
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
      constants.convolution[name] = read_convolution(table, is_tensor(name));
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

RecurrentConstants read_recurrent(TomlTable table, bool tensor) {
  RecurrentConstants constants;
  constants.tiles = read_tiles(table, tensor);
  Bounded bounded(table, tensor);
  constants.cycles_batch_16 = bounded.number("cycles_batch_16", "cycles");
  constants.cycles_batch_32 = bounded.number("cycles_batch_32", "cycles");
  constants.cycles_more = bounded.number("cycles_more", "cycles");
  (void)table.text("source");
  table.finish();
  return constants;
}

FamilyParameters read_family(TomlTable table) {
  FamilyParameters p;
  p.family = table.text("family");
  p.precision = table.text("precision");
  Bounded bounded(table, is_tensor(p.precision));
  p.compute_efficiency = bounded.number_or("compute_efficiency", 1.0);
  p.bandwidth_efficiency = bounded.number("bandwidth_efficiency");
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
void read_board(TomlTable table, const Architectures& architectures, std::vector<BoardParameters>& boards) {
  BoardParameters board;
  board.device = table.text("device");
  board.architecture = architectures.read_name(table);
  board.chip = architectures.find(board.architecture, table.text_or("compute_capability", ""));
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

/// Release that ends a generation's name: 8 of "cudnn8".
double release(std::string_view generation) { return generation.empty() ? 0.0 : generation.back() - '0'; }

/// How little the kernels called `name` tell of those that a family runs; infinite between makers.
double kernels_apart(std::string_view name, std::string_view generation, const Architecture& chip) {
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos || chip.product_kernels.empty()) return INFINITY;
  const std::vector<std::string>& sets = chip.product_sets;
  const auto place = [&](std::string_view of) {
    return static_cast<double>(std::find(sets.begin(), sets.end(), of) - sets.begin());
  };
  const double releases = release(name.substr(0, dash)) - release(generation);
  constexpr double kPerSet = 100.0, kOlder = 0.5;
  return kPerSet * std::abs(place(name.substr(dash + 1)) - place(chip.product_kernels)) + std::abs(releases) +
         (releases < 0.0 ? kOlder : 0.0);
}

}  // namespace

std::string product_kernels(std::string_view generation, const Architecture& chip) {
  return std::string(generation) + (chip.product_kernels.empty() ? "" : "-" + chip.product_kernels);
}

const TileConstants* gemm_constants(const KernelConstants& constants, bool tensor, std::string_view generation,
                                    const Architecture& chip) {
  const std::string arithmetic = tensor ? "tensor" : "fp32";
  const auto exact = constants.gemm.find(arithmetic + "-" + product_kernels(generation, chip));
  if (exact != constants.gemm.end()) return &exact->second;
  const auto plain = constants.gemm.find(arithmetic);
  const TileConstants* best = plain == constants.gemm.end() ? nullptr : &plain->second;
  double least = INFINITY;
  for (const auto& [name, tiles] : constants.gemm) {
    if (name.rfind(arithmetic + "-", 0) != 0) continue;
    const double apart = kernels_apart(std::string_view(name).substr(arithmetic.size() + 1), generation, chip);
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

Result<KernelConstants> read_kernel_constants(TomlFile file, const Architectures& architectures) {
  TomlTable root = file.root();
  KernelConstants constants;
  (void)root.integer("schema", 1, 1);
  constants.source = root.text("source");
  for (auto& [name, table] : root.table("gemm").named_tables()) {
    constants.gemm[name] = read_tiles(table, is_tensor(name));
    (void)table.text("source");
    table.finish();
  }
  read_convolutions(root.table("convolution"), constants);
  if (auto recurrent = root.table_if("recurrent"))
    for (auto& [name, table] : recurrent->named_tables()) constants.recurrent[name] = read_recurrent(table, is_tensor(name));
  if (auto attention = root.table_if("attention"))
    for (auto& [name, table] : attention->named_tables()) constants.attention[name] = read_attention_constants(std::move(table));
  if (auto rows = root.table_if("row_kernel"))
    for (auto& [name, table] : rows->named_tables()) constants.row_kernels[name] = read_row_constants(std::move(table));
  if (auto experts = root.table_if("experts"))
    for (auto& [name, table] : experts->named_tables()) constants.experts[name] = read_expert_constants(std::move(table));
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
  for (auto& table : root.tables_or_empty("board")) read_board(table, architectures, constants.boards);
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

Result<KernelConstants> read_kernel_constants(const std::string& path, const Architectures& architectures) {
  auto file = TomlFile::open(path);
  if (!file) return tl::make_unexpected(file.error());
  return read_kernel_constants(std::move(*file), architectures);
}

}  // namespace tbdsim
