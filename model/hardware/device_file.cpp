#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>
#include <utility>

#include "model/hardware/hardware_file.hpp"
#include "model/hardware/kernel_constants.hpp"
#include "model/hardware/kernel_family.hpp"
#include "model/hardware/plausible_rates.hpp"
#include "model/input/known_word.hpp"
#include "model/input/read_capability.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

constexpr std::int64_t kMostMultiprocessors = 4096;  // far above any device; catches a slip of digits
constexpr std::int64_t kMostLanes = 1024;
constexpr std::int64_t kMostLinks = 1024;
constexpr std::int64_t kMostSamples = 1'000'000'000;
/// Efficiencies are fractions of peak; clocks above the nominal boost may push them a little over one.
constexpr Bounds kEfficiency{0.0, 2.0, true};
/// Standard deviation of ln(measured / predicted): 2 is a factor of 13 either way at 80 %.
constexpr Bounds kSpread{0.0, 2.0, false};

/// Of a multiprocessor. With registers for less than one warp (32 threads of 8 registers of 4 bytes) no kernel runs; the largest
/// of the catalogue has 512 KiB.
constexpr Bounds kPerMultiprocessor{1024.0, 1024.0 * 1024.0 * 1024.0, false};

/// A year, or with its month or its day: "2017", "2017-04", "2017-04-06". Empty where the key is missing.
std::string read_date(TomlTable& table, std::string_view key) {
  std::string text = table.text_or(key, "");
  if (text.empty()) return text;
  int year = 0, month = 1, day = 1;
  const char *at = text.data(), *const end = text.data() + text.size();
  bool sound = true;
  for (int* part : {&year, &month, &day}) {
    const std::ptrdiff_t digits = part == &year ? 4 : 2;
    if (part != &year && at == end) break;
    if (part != &year) sound = sound && *at++ == '-';
    sound = sound && end - at >= digits && std::from_chars(at, at + digits, *part).ptr == at + digits;
    if (!sound) break;
    at += digits;
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!sound || at != end || !date.ok())
    table.problem(key, fmt::format("expected a date such as \"2017-04-06\", got {}", quoted(text)));
  return text;
}

std::optional<int> integer_if(TomlTable& table, std::string_view key, std::int64_t high) {
  if (!table.has(key)) return std::nullopt;
  return static_cast<int>(table.integer(key, 1, high));
}

/// A value that every board has; zero after a problem, which is noted, so that nothing is made of a stand-in.
template <class Q>
Q stated(TomlTable& table, std::string_view key) {
  if (table.has(key)) return table.quantity_if<Q>(key).value_or(Q(0.0));
  (void)table.quantity<Q>(key);
  return Q(0.0);
}

FamilyParameters read_family(TomlTable table) {
  FamilyParameters family;
  constexpr std::array<std::string_view, 6> kPrecisions{"fp32", "fp32-tensor", "tf32", "fp16", "bf16", "fp8"};
  std::vector<std::string_view> families;
  for (const KernelFamilyInfo& row : kernel_families()) families.push_back(row.name);
  family.family = read_known_word(table, "family", families, "kernel family");
  family.precision = read_known_word(table, "precision", kPrecisions, "precision");
  family.compute_efficiency = table.number("compute_efficiency", kEfficiency);
  family.bandwidth_efficiency = table.number("bandwidth_efficiency", kEfficiency);
  family.launch = table.quantity<Seconds>("launch", kNotNegative);
  family.spread = table.number("spread", kSpread);
  family.samples = static_cast<int>(table.integer("samples", 0, kMostSamples));
  family.source = table.text("source");
  family.compute_sigma = table.number_or("compute_sigma", 0.0, kNotNegative);
  family.bandwidth_sigma = table.number_or("bandwidth_sigma", 0.0, kNotNegative);
  family.launch_sigma = table.number_or("launch_sigma", 0.0, kNotNegative);
  if (table.has("sustained_efficiency")) family.sustained_efficiency = table.number("sustained_efficiency", kEfficiency);
  if (table.has("quantize_bandwidth")) family.quantize_bandwidth = table.number("quantize_bandwidth", kPositive);
  family.call = read_call_times(table);
  return family;
}

PeakRates read_peak(TomlTable& table) {
  PeakRates peak;
  peak.fp32 = stated<FlopPerSecond>(table, "peak_fp32");
  peak.fp32_tensor = table.quantity_if<FlopPerSecond>("peak_fp32_tensor");
  peak.tf32_tensor = table.quantity_if<FlopPerSecond>("peak_tf32_tensor");
  peak.fp16_tensor = table.quantity_if<FlopPerSecond>("peak_fp16_tensor");
  peak.bf16_tensor = table.quantity_if<FlopPerSecond>("peak_bf16_tensor");
  peak.fp8_tensor = table.quantity_if<FlopPerSecond>("peak_fp8_tensor");
  peak.fp16_vector = table.quantity_if<FlopPerSecond>("peak_fp16_vector");
  peak.fp64 = table.quantity_if<FlopPerSecond>("peak_fp64");
  return peak;
}

void read_memory(TomlTable& table, Device& device) {
  device.memory_capacity = stated<Bytes>(table, "memory_capacity");
  device.memory_reported = table.quantity_if<Bytes>("memory_reported");
  if (device.memory_capacity > Bytes(0.0) && device.memory_reported > device.memory_capacity)
    table.problem("memory_reported", "more than the board has, which memory_capacity states");
  device.memory_kind = table.text_or("memory_kind", "");
  device.memory_bus_bits = integer_if(table, "memory_bus_bits", 1 << 20);
  device.memory_clock = table.quantity_if<Hertz>("memory_clock");
  device.memory_bandwidth = stated<BytesPerSecond>(table, "memory_bandwidth");
  device.l2_capacity = table.quantity_if<Bytes>("l2_capacity");
  device.address_translations = table.quantity_if<Hertz>("address_translations");
  device.address_translations_source = table.text_or("address_translations_source", "");
  device.shared_memory_per_multiprocessor = table.quantity_if<Bytes>("shared_memory_per_multiprocessor", kPerMultiprocessor);
  device.registers_per_multiprocessor = table.quantity_if<Bytes>("registers_per_multiprocessor", kPerMultiprocessor);
}

/// Whose chip it is, told several times.
void check_identity(TomlTable& table, const Device& device, const Architectures& architectures) {
  if (device.vendor && device.vendor != Vendor::nvidia && !device.compute_capability.empty())
    table.problem(
        "compute_capability",
        fmt::format("NVIDIA's boards alone have one, vendor is \"{}\"; remove it, or change vendor", name(*device.vendor)));
  else if (const Architecture* own = architectures.contradicted(device.architecture, device.compute_capability))
    table.problem("architecture", fmt::format("{}, but compute_capability {} is {}'s; change one of the two", device.architecture,
                                              quoted(device.compute_capability), own->name));
  else if (const Architecture* named = architectures.named(device.architecture);
           device.vendor && named != nullptr && (device.vendor == Vendor::nvidia) != named->generation.has_value())
    table.problem("vendor", fmt::format("\"{}\" makes no {}, which architecture names; change one of the two",
                                        name(*device.vendor), device.architecture));
}

// A multiplier beyond this is no calibration: something else is meant.
constexpr Bounds kAnchor{0.1, 10.0, false};

// From a GPU that does not feel the other one to two that take turns.
constexpr Bounds kBoardSharing{0.0, 1.0, false};

OwnMeasurements read_own(TomlTable& table) {
  OwnMeasurements own;
  for (const AnchorKind& anchor : kAnchors) own.anchors.*anchor.value = table.number_or(anchor.key, 1.0, kAnchor);
  own.collective_pace = table.number_or("collective_pace", 1.0, kAnchor);
  own.copy_to_device = table.quantity_if<BytesPerSecond>("copy_to_device");
  own.copy_to_host = table.quantity_if<BytesPerSecond>("copy_to_host");
  own.launch_interval = table.quantity_if<Seconds>("launch_interval");
  if (table.has("overlap_cost")) own.overlap_cost = table.number("overlap_cost", kNotNegative);
  own.source = table.text_or("own_source", "");
  return own;
}

}  // namespace

Device read_device(TomlTable table, std::string id, const Architectures& architectures) {
  Device device;
  device.id = std::move(id);
  device.name = table.text("name");
  if (table.has("vendor")) device.vendor = read_row(table, "vendor", vendors(), "vendor");
  device.architecture = architectures.read_name(table);
  device.board_class = read_board_class(table);
  device.compute_capability = read_capability(table, "compute_capability");
  device.chip = architectures.find(device.architecture, device.compute_capability);
  device.multiprocessors = static_cast<int>(table.integer("multiprocessors", 1, kMostMultiprocessors));
  device.fp32_lanes = static_cast<int>(table.integer("fp32_lanes", 1, kMostLanes));
  device.tensor_cores = integer_if(table, "tensor_cores", kMostMultiprocessors * kMostLanes);
  device.base_clock = table.quantity_if<Hertz>("base_clock");
  device.boost_clock = table.quantity_if<Hertz>("boost_clock");
  device.sustained_clock = table.quantity_if<Hertz>("sustained_clock");
  device.sustained_clock_source = table.text_or("sustained_clock_source", "");
  if (device.sustained_clock && !device.boost_clock)
    table.problem("sustained_clock", "acts as a share of the clock of the peak rates; state `boost_clock` too");
  device.board_sharing = table.number_or("board_sharing", 0, kBoardSharing);
  device.board_sharing_source = table.text_or("board_sharing_source", "");
  device.peak = read_peak(table);
  read_memory(table, device);
  device.max_threads_per_multiprocessor = integer_if(table, "max_threads_per_multiprocessor", 1 << 16);
  device.pcie_generation = static_cast<int>(table.integer_or("pcie_generation", device.pcie_generation, 1, 9));
  device.pcie_lanes = static_cast<int>(table.integer_or("pcie_lanes", device.pcie_lanes, 1, 32));
  device.pcie_peer_access = table.boolean_or("pcie_peer_access", true);
  device.pcie_peer_access_source = table.text_or("pcie_peer_access_source", "");
  device.nvlink_links = integer_if(table, "nvlink_links", kMostLinks);
  device.mounted_in = table.text_or("mounted_in", "");
  device.nvlink_bandwidth = table.quantity_if<BytesPerSecond>("nvlink_bandwidth");
  device.power_limit = table.quantity_if<Watts>("power_limit");
  check_identity(table, device, architectures);
  check_rates(table, device);
  device.launch_price = table.quantity_if<Usd>("launch_price");
  device.own_price = device.launch_price && table.where("launch_price").file == kAssignments;
  device.launch_date = read_date(table, "launch_date");
  device.source = table.text("source");
  device.launch_price_date = table.has("launch_price_date") ? read_date(table, "launch_price_date") : device.launch_date;
  device.launch_price_source = table.text_or("launch_price_source", device.source);
  device.notes = table.text_or("notes", "");
  for (TomlTable& family : table.tables_or_empty("calibration")) {
    FamilyParameters read = read_family(family);
    if (!read.family.empty() && device.calibration.find(read.family, read.precision) != nullptr)
      family.problem("family", fmt::format("a second table of {} in {}", read.family, read.precision));
    device.calibration.families.push_back(std::move(read));
  }
  device.calibration.measured = clock_limits(device);
  device.calibration.own = read_own(table);
  return device;
}

}  // namespace tbdsim
