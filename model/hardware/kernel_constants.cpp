#include "model/hardware/kernel_constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "model/hardware/architecture.hpp"
#include "model/hardware/constant_bounds.hpp"
#include "model/hardware/device.hpp"
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
  double number_or(std::string_view key, double otherwise) { return number_or(key, otherwise, key); }
  double number_or(std::string_view key, double otherwise, std::string_view bounds) {
    return table_.has(key) ? number(key, bounds) : otherwise;
  }

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
  if (table.has("sustained_efficiency")) p.sustained_efficiency = bounded.number("sustained_efficiency", "compute_efficiency");
  if (table.has("quantize_bandwidth")) p.quantize_bandwidth = bounded.number("quantize_bandwidth");
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
  board.kernels = table.text_or("kernels", "");
  board.limits.boost_clock = table.quantity_if<Hertz>("boost_clock");
  board.limits.sustained_clock = table.quantity_if<Hertz>("sustained_clock");
  board.limits.power_limit = table.quantity_if<Watts>("power_limit");
  board.limits.peak_fp32 = table.quantity<FlopPerSecond>("peak_fp32");
  board.limits.peak_fp16_tensor = table.quantity_if<FlopPerSecond>("peak_fp16_tensor");
  board.memory_bandwidth = table.quantity_if<BytesPerSecond>("memory_bandwidth");
  for (auto& family : table.tables_or_empty("family")) {
    board.parameters = read_family(family);
    boards.push_back(board);
  }
  table.finish();
}

/// `tiles_by_rows = true` is an older word for Hopper's rule.
TileRule read_tile_rule(TomlTable& table) {
  if (table.boolean_or("tiles_by_rows", false)) return TileRule::cutlass_hopper;
  const std::string name = table.text_or("tiles", kTileRules.front().name);
  for (const TileRuleInfo& row : kTileRules)
    if (row.name == name) return row.rule;
  table.problem("tiles",
                fmt::format("'{}' is no rule by which a library takes its tiles: fastest, cutlass-ada, cutlass-hopper", name));
  return TileRule::fastest;
}

PipelinedConstants read_pipelined(TomlTable& table) {
  PipelinedConstants c;
  Bounded bounded(table, true);
  c.tile_penalty = bounded.number("tile_penalty", "pipelined_tile_penalty");
  c.wave_smoothing = bounded.number("wave_smoothing");
  c.resident_waves = bounded.number("resident_waves");
  c.load_latency = table.quantity<Seconds>("load_latency", kNotNegative);
  c.epilogue = table.quantity<Seconds>("epilogue", kNotNegative);
  c.compute_scale = bounded.number_or("compute_scale", 1.0, "pipelined_compute_scale");
  c.splits = table.boolean_or("splits", true);
  c.tiles = read_tile_rule(table);
  c.reread = bounded.number_or("reread", 0.0);
  c.split_cycles = bounded.number("split_cycles");
  c.quantize_launch = table.quantity_if<Seconds>("quantize_launch", kNotNegative).value_or(Seconds(0.0));
  c.quantize_passes = bounded.number_or("quantize_passes", c.quantize_passes);
  c.multiprocessor_rate = table.quantity<FlopPerSecond>("multiprocessor_rate");
  (void)table.text("source");
  table.finish();
  return c;
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

std::optional<std::string_view> pipelined_kernels(const Device& device) {
  if (device.chip.pipelined_products.empty() || !device.peak.bf16_tensor) return std::nullopt;
  return device.chip.pipelined_products;
}

std::optional<PipelinedConstants> pipelined_constants(const KernelConstants& constants, std::string_view precision,
                                                      std::string_view generation, const Device& device) {
  const auto kernels = pipelined_kernels(device);
  if (!kernels) return std::nullopt;
  const std::vector<std::string>& all = device.chip.pipelined_sets;
  const auto own = std::find(all.begin(), all.end(), *kernels);
  const bool narrow = precision == "fp8";
  // How tiles run is of the architecture first, then of the precision, then of the library; how a library is called, and how it
  // makes 8-bit operands, is of the library first. A neighbour that is newer comes after one that is older.
  constexpr double kSet = 100.0, kNewer = 0.5, kPrecision = 10.0, kLibrary = 1.0, kOtherCaller = 1000.0;
  const PipelinedConstants *best = nullptr, *caller = nullptr;
  bool alike = false;
  double least = INFINITY, least_caller = INFINITY;
  for (const auto& [name, c] : constants.pipelined) {
    const bool of_narrow = name.rfind("fp8-", 0) == 0;
    if (of_narrow && !narrow) continue;
    const std::string_view plain = std::string_view(name).substr(of_narrow ? 4 : 0);
    const std::size_t dash = plain.find('-');
    const auto at = std::find(all.begin(), all.end(), plain.substr(dash + 1));
    const auto sets = static_cast<double>(at - own);
    const double far = kSet * std::abs(sets) + (sets > 0 ? kNewer : 0.0);
    const bool other = plain.substr(0, dash) != generation;
    const double apart = far + (of_narrow != narrow ? kPrecision : 0.0) + (other ? kLibrary : 0.0);
    if (apart < least) {
      least = apart;
      best = &c;
      alike = at == own;
    }
    const double apart_caller = far + (other ? kOtherCaller : 0.0);
    if (of_narrow == narrow && apart_caller < least_caller) {
      least_caller = apart_caller;
      caller = &c;
    }
  }
  if (best == nullptr) return std::nullopt;
  PipelinedConstants result = *best;
  if (!alike) {
    const double faster = *device.peak.bf16_tensor / device.multiprocessors / result.multiprocessor_rate;
    result.load_latency = result.load_latency / faster;
    result.epilogue = result.epilogue / faster;
  }
  if (caller != nullptr && caller != best) {
    result.splits = caller->splits;
    result.reread = caller->reread;
    result.quantize_launch = caller->quantize_launch;
    result.quantize_passes = caller->quantize_passes;
  }
  return result;
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
  if (auto pipelined = root.table_if("pipelined"))
    for (auto& [name, table] : pipelined->named_tables()) constants.pipelined[name] = read_pipelined(table);
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
