#include <fmt/format.h>

#include <cmath>

#include "model/hardware/hardware_file.hpp"

namespace tbdsim {
namespace {

/// Shortest decimal text that reads back as exactly `base` in `unit` (worth `factor` base units), or "".
template <class Q>
std::string exact_text(double base, double factor, std::string_view unit) {
  constexpr int kFewestDigits = 1, kMostDigits = 17;  // 17 significant digits tell any two doubles apart
  for (int digits = kFewestDigits; digits <= kMostDigits; ++digits) {
    std::string text = fmt::format("{:.{}g} {}", base / factor, digits, unit);
    const auto back = parse<Q>(text);
    if (back && back->base() == base) return text;
  }
  return "";
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

class Writer {
 public:
  void line(std::string_view text) { out_ += fmt::format("{}\n", text); }
  void text(std::string_view key, std::string_view value) {
    if (!value.empty()) out_ += fmt::format("{} = \"{}\"\n", key, escaped(value));
  }
  void integer(std::string_view key, std::optional<int> value) {
    if (value) out_ += fmt::format("{} = {}\n", key, *value);
  }
  /// Shortest text that reads back as the same double; a decimal point is not needed by the reader.
  void number(std::string_view key, double value) { out_ += fmt::format("{} = {}\n", key, value); }
  /// In `unit`, worth `factor` base units; in base units where only they are exact.
  template <class Q>
  void quantity(std::string_view key, const std::optional<Q>& value, double factor, std::string_view unit,
                std::string_view base_unit) {
    if (!value) return;
    std::string text = exact_text<Q>(value->base(), factor, unit);
    if (text.empty()) text = exact_text<Q>(value->base(), 1.0, base_unit);
    out_ += fmt::format("{} = \"{}\"\n", key, text);
  }
  void clock(std::string_view key, const std::optional<Hertz>& value) { quantity(key, value, 1e6, "MHz", "Hz"); }
  void rate(std::string_view key, const std::optional<FlopPerSecond>& value) { quantity(key, value, 1e12, "TFLOP/s", "FLOP/s"); }
  void bandwidth(std::string_view key, const std::optional<BytesPerSecond>& value) { quantity(key, value, 1e9, "GB/s", "B/s"); }
  void kibibytes(std::string_view key, const std::optional<Bytes>& value) { quantity(key, value, 1024.0, "KiB", "B"); }
  void mebibytes(std::string_view key, const std::optional<Bytes>& value) { quantity(key, value, 1048576.0, "MiB", "B"); }
  void gibibytes(std::string_view key, const std::optional<Bytes>& value) { quantity(key, value, 1073741824.0, "GiB", "B"); }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

void write_identity(Writer& w, const Device& device) {
  w.text("name", device.name);
  w.text("vendor", name(device.vendor));
  w.text("architecture", device.architecture);
  if (device.board_class != BoardClass::professional) w.text("board_class", name(device.board_class));
  w.text("compute_capability", device.compute_capability);
  w.integer("multiprocessors", device.multiprocessors);
  w.integer("fp32_lanes", device.fp32_lanes);
  w.integer("tensor_cores", device.tensor_cores);
  w.clock("base_clock", device.base_clock);
  w.clock("boost_clock", device.boost_clock);
  w.clock("sustained_clock", device.sustained_clock);
  w.text("sustained_clock_source", device.sustained_clock_source);
  if (device.board_sharing != 0.0) w.number("board_sharing", device.board_sharing);
  w.text("board_sharing_source", device.board_sharing_source);
}

void write_rates(Writer& w, const PeakRates& peak) {
  w.rate("peak_fp32", peak.fp32);
  w.rate("peak_fp32_tensor", peak.fp32_tensor);
  w.rate("peak_tf32_tensor", peak.tf32_tensor);
  w.rate("peak_fp16_tensor", peak.fp16_tensor);
  w.rate("peak_bf16_tensor", peak.bf16_tensor);
  w.rate("peak_fp8_tensor", peak.fp8_tensor);
  w.rate("peak_fp16_vector", peak.fp16_vector);
  w.rate("peak_fp64", peak.fp64);
}

void write_memory(Writer& w, const Device& device) {
  w.gibibytes("memory_capacity", device.memory_capacity);
  w.mebibytes("memory_reported", device.memory_reported);
  w.text("memory_kind", device.memory_kind);
  w.integer("memory_bus_bits", device.memory_bus_bits);
  w.clock("memory_clock", device.memory_clock);
  w.bandwidth("memory_bandwidth", device.memory_bandwidth);
  w.mebibytes("l2_capacity", device.l2_capacity);
  w.clock("address_translations", device.address_translations);
  w.text("address_translations_source", device.address_translations_source);
  w.kibibytes("shared_memory_per_multiprocessor", device.shared_memory_per_multiprocessor);
  w.kibibytes("registers_per_multiprocessor", device.registers_per_multiprocessor);
  w.integer("max_threads_per_multiprocessor", device.max_threads_per_multiprocessor);
}

void write_attachment(Writer& w, const Device& device) {
  w.integer("pcie_generation", device.pcie_generation);
  w.integer("pcie_lanes", device.pcie_lanes);
  if (!device.pcie_peer_access) w.line("pcie_peer_access = false");
  w.text("pcie_peer_access_source", device.pcie_peer_access_source);
  w.integer("nvlink_links", device.nvlink_links);
  if (!device.mounted_in.empty()) w.text("mounted_in", device.mounted_in);
  w.bandwidth("nvlink_bandwidth", device.nvlink_bandwidth);
  w.quantity("power_limit", device.power_limit, 1.0, "W", "W");
  w.quantity("launch_price", device.launch_price, 1.0, "USD", "USD");
  w.text("launch_date", device.launch_date);
  if (device.launch_price_date != device.launch_date) w.text("launch_price_date", device.launch_price_date);
  if (device.launch_price_source != device.source) w.text("launch_price_source", device.launch_price_source);
  w.text("source", device.source);
  w.text("notes", device.notes);
}

void write_own(Writer& w, const OwnMeasurements& own) {
  for (const AnchorKind& anchor : kAnchors) {
    if (own.anchors.*anchor.value != 1.0) w.number(anchor.key, own.anchors.*anchor.value);
  }
  if (own.collective_pace != 1.0) w.number("collective_pace", own.collective_pace);
  w.bandwidth("copy_to_device", own.copy_to_device);
  w.bandwidth("copy_to_host", own.copy_to_host);
  w.quantity("launch_interval", own.launch_interval, 1e-6, "us", "s");
  if (own.overlap_cost) w.number("overlap_cost", *own.overlap_cost);
  w.text("own_source", own.source);
}

void write_family(Writer& w, const FamilyParameters& family) {
  w.line("\n[[calibration]]");
  w.text("family", family.family);
  w.text("precision", family.precision);
  w.number("compute_efficiency", family.compute_efficiency);
  w.number("bandwidth_efficiency", family.bandwidth_efficiency);
  w.quantity("launch", std::optional<Seconds>(family.launch), 1e-6, "us", "s");
  w.number("spread", family.spread);
  w.integer("samples", family.samples);
  w.text("source", family.source);
  if (family.compute_sigma > 0.0) w.number("compute_sigma", family.compute_sigma);
  if (family.bandwidth_sigma > 0.0) w.number("bandwidth_sigma", family.bandwidth_sigma);
  if (family.launch_sigma > 0.0) w.number("launch_sigma", family.launch_sigma);
  if (family.sustained_efficiency) w.number("sustained_efficiency", *family.sustained_efficiency);
  if (family.quantize_bandwidth) w.number("quantize_bandwidth", *family.quantize_bandwidth);
  if (!family.call) return;
  w.quantity("call_overhead", std::optional<Seconds>(family.call->overhead), 1e-6, "us", "s");
  w.quantity("call_floor", std::optional<Seconds>(family.call->floor), 1e-6, "us", "s");
  if (family.call->per_shape > Seconds(0.0))
    w.quantity("call_per_shape", std::optional<Seconds>(family.call->per_shape), 1e-6, "us", "s");
}

}  // namespace

std::string to_toml(const Device& device) {
  Writer w;
  w.line(fmt::format("schema = {}", kHardwareSchema));
  write_identity(w, device);
  write_rates(w, device.peak);
  write_memory(w, device);
  write_attachment(w, device);
  write_own(w, device.calibration.own);
  for (const FamilyParameters& family : device.calibration.families) write_family(w, family);
  return w.take();
}

}  // namespace tbdsim
