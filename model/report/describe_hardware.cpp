#include <fmt/format.h>

#include <map>

#include "model/report/catalogue_entry.hpp"
#include "model/report/memory_report_text.hpp"

namespace tbdsim {
namespace {

template <class Q>
std::optional<Q> known(Q value) {
  return value > Q(0.0) ? std::optional<Q>(value) : std::nullopt;
}

template <class T>
void add_optional_count(CatalogueEntry& entry, const char* label, const char* key, const std::optional<T>& value) {
  if (value) entry.add_count(label, key, *value);
}

void add_rates(CatalogueEntry& entry, const PeakRates& peak) {
  entry.add("peak fp32", "peak_fp32_flop_per_s", std::optional(peak.fp32), true);
  entry.add("peak fp32, matrix cores", "peak_fp32_tensor_flop_per_s", peak.fp32_tensor);
  entry.add("peak tf32, tensor cores", "peak_tf32_tensor_flop_per_s", peak.tf32_tensor);
  entry.add("peak fp16, tensor cores", "peak_fp16_tensor_flop_per_s", peak.fp16_tensor);
  entry.add("peak bf16, tensor cores", "peak_bf16_tensor_flop_per_s", peak.bf16_tensor);
  entry.add("peak fp8, tensor cores", "peak_fp8_tensor_flop_per_s", peak.fp8_tensor);
  entry.add("peak fp16", "peak_fp16_vector_flop_per_s", peak.fp16_vector);
  entry.add("peak fp64", "peak_fp64_flop_per_s", peak.fp64);
}

void add_memory(CatalogueEntry& entry, const Device& d) {
  const std::string sold = sold_memory(d.memory_capacity);
  entry.facts.push_back({"memory, as sold", "memory_sold", sold, sold, {}, true});
  entry.add("memory", "memory_capacity_bytes", std::optional(d.memory_capacity));
  entry.add("memory, as the driver reports it", "memory_reported_bytes", d.memory_reported);
  entry.add_text("memory kind", "memory_kind", d.memory_kind);
  add_optional_count(entry, "memory bus, bits", "memory_bus_bits", d.memory_bus_bits);
  entry.add("memory clock", "memory_clock_hz", memory_clock(d));
  entry.add("memory bandwidth", "memory_bandwidth_bytes_per_s", std::optional(d.memory_bandwidth), true);
  entry.add("L2 cache", "l2_capacity_bytes", d.l2_capacity);
  entry.add("address translations", "address_translations_hz", d.address_translations, false, d.address_translations_source);
}

/// Bundles of one link table: how many physical links, and what each does.
void add_links(CatalogueEntry& entry, const Topology& topology) {
  std::map<std::string, std::pair<int, const LinkBundle*>> types;
  for (const LinkBundle& link : topology.links) {
    auto& [count, example] = types[link.type];
    count += link.count;
    example = &link;
  }
  for (const auto& [type, links] : types) {
    const auto& [count, link] = links;
    entry.add_count(fmt::format("{} links", type), fmt::format("{}_links", type), count);
    const auto add = [&, type = type](const char* what, const char* key, BytesPerSecond rate, const std::string& source) {
      entry.add(fmt::format("{} {}", type, what), fmt::format("{}_{}_bytes_per_s", type, key), known(rate), false, source);
    };
    add("bandwidth per link, direction", "bandwidth", link->bandwidth, link->source);
    add("achieved by a copy engine", "achieved", link->achieved, link->achieved_source);
    add("achieved by a copy kernel", "sm_copy", link->sm_copy, link->sm_copy_source);
    if (link->staged) add("GPU to GPU through host memory", "staged", *link->staged, link->staged_source);
    entry.add(fmt::format("{} latency", type), fmt::format("{}_latency_s", type), known(link->latency), false,
              link->latency_source);
  }
}

/// Units, taper and rails of the tiers beyond a node.
void add_fabric(CatalogueEntry& entry, const System& s) {
  for (const FabricTier& tier : s.tiers) {
    std::string text = tier.nodes ? fmt::format("{} nodes", *tier.nodes) : "any number of nodes";
    if (tier.bandwidth) text += fmt::format(", {} ports of {} a node", tier.ports, format(*tier.bandwidth));
    if (tier.oversubscription > 1.0) text += fmt::format(", oversubscribed {:g} to 1", tier.oversubscription);
    if (tier.latency > Seconds(0.0)) text += fmt::format(", {} more a message", format(tier.latency));
    if (tier.rails) text += ", a switch for each port of a node";
    entry.facts.push_back({"fabric, " + tier.name, "fabric_" + tier.name, text, text, tier.source, false});
  }
}

}  // namespace

CatalogueEntry describe(const Device& d) {
  CatalogueEntry entry{"gpu", d.id, d.name, d.source, {}, {}};
  entry.add_text("architecture", "architecture", d.architecture, true);
  entry.add_text("board class", "board_class", std::string(name(d.board_class)), false);
  entry.add_text("vendor", "vendor", std::string(name(d.vendor)));
  entry.add_text("compute capability", "compute_capability", d.compute_capability);
  entry.add_count("multiprocessors", "multiprocessors", d.multiprocessors);
  entry.add_count("fp32 cores", "fp32_cores", std::int64_t{d.multiprocessors} * d.fp32_lanes);
  add_optional_count(entry, "tensor cores", "tensor_cores", d.tensor_cores);
  entry.add("base clock", "base_clock_hz", d.base_clock);
  entry.add("boost clock", "boost_clock_hz", d.boost_clock);
  entry.add("sustained clock", "sustained_clock_hz", d.sustained_clock, false, d.sustained_clock_source);
  add_rates(entry, d.peak);
  add_memory(entry, d);
  entry.add_text("PCIe", "pcie", fmt::format("{}.0 x{}", d.pcie_generation, d.pcie_lanes));
  entry.add_flag("peer access over PCIe", "pcie_peer_access", d.pcie_peer_access, d.pcie_peer_access_source);
  add_optional_count(entry, "NVLink links", "nvlink_links", d.nvlink_links);
  entry.add("NVLink bandwidth per link, direction", "nvlink_bandwidth_bytes_per_s", d.nvlink_bandwidth);
  entry.add("power limit", "power_limit_w", d.power_limit, true);
  entry.add("launch price", "launch_price_usd", d.launch_price);
  entry.add_text("launch date", "launch_date", d.launch_date);
  entry.add_text("notes", "notes", d.notes);
  return entry;
}

CatalogueEntry describe(const Host& h) {
  CatalogueEntry entry{"host", h.id, h.name, h.source, {}, {}};
  entry.add_count("sockets", "sockets", h.sockets, true);
  entry.add_count("cores", "cores", h.cores, true);
  entry.add("clock", "clock_hz", h.clock, true);
  entry.add("memory", "memory_capacity_bytes", h.memory_capacity, true);
  entry.add("memory bandwidth", "memory_bandwidth_bytes_per_s", h.memory_bandwidth, false, h.memory_bandwidth_source);
  if (h.single_thread)
    entry.facts.push_back({"one thread over the reference host's", "single_thread", fmt::format("{:g}", *h.single_thread),
                           *h.single_thread, h.single_thread_source, false});
  return entry;
}

CatalogueEntry describe(const Network& n) {
  CatalogueEntry entry{"network", n.id, n.name, n.source, {}, {}};
  entry.add("line rate per port, direction", "bandwidth_bytes_per_s", std::optional(n.bandwidth), true);
  entry.add("achieved", "achieved_bytes_per_s", std::optional(n.achieved), true, n.achieved_source);
  entry.add("latency", "latency_s", known(n.latency), true, n.latency_source);
  entry.add_flag("RDMA", "rdma", n.rdma);
  entry.add_text("notes", "notes", n.notes);
  return entry;
}

CatalogueEntry describe(const Storage& s) {
  CatalogueEntry entry{"storage", s.id, s.name, s.source, {}, {}};
  entry.add_text("kind", "kind", s.kind, true);
  entry.add("interface", "interface_bandwidth_bytes_per_s", s.interface_bandwidth, true);
  entry.add("sequential read", "sequential_read_bytes_per_s", s.sequential_read, true);
  entry.add("random read", "random_read_bytes_per_s", s.random_read, true);
  entry.add("access elsewhere", "access_s", s.access, true, s.access_source);
  entry.add_count("accesses at once", "accesses_at_once", s.at_once, true);
  entry.add_flag("shared by all nodes", "shared", s.shared);
  entry.add_text("notes", "notes", s.notes);
  return entry;
}

CatalogueEntry describe(const DataPathStage& s) {
  CatalogueEntry entry{"data path", s.name, s.name, s.source, {}, {}};
  entry.add("bandwidth", "bandwidth_bytes_per_s", std::optional(s.bandwidth), true);
  entry.add_text("notes", "notes", s.notes);
  return entry;
}

bool add_transfer_time(Bytes size, CatalogueEntry& entry) {
  // What is reached goes before what the wire could do.
  for (const char* key : {"achieved_bytes_per_s", "sequential_read_bytes_per_s", "interface_bandwidth_bytes_per_s",
                          "memory_bandwidth_bytes_per_s", "bandwidth_bytes_per_s"}) {
    const auto fact = std::find_if(entry.facts.begin(), entry.facts.end(), [&](const Fact& f) { return f.key == key; });
    if (fact == entry.facts.end()) continue;
    const double seconds = size.base() / std::get<double>(fact->value);
    const auto parts = {std::pair{604800.0, "weeks"}, {86400.0, "days"}, {3600.0, "h"}};
    std::string text;
    for (const auto& [unit, word] : parts) {
      if (seconds >= 0.1 * unit) text = fmt::format("{:.2f} {}{}{}", seconds / unit, word, text.empty() ? "" : " = ", text);
    }
    entry.facts.push_back({fmt::format("time to move {}", format(size)),
                           "transfer_time_s",
                           text.empty() ? format(Seconds(seconds)) : text,
                           seconds,
                           {},
                           true});
    return true;
  }
  return false;
}

CatalogueEntry describe(const InputSource& i) {
  CatalogueEntry entry{"input", i.name, i.name, i.source, {}, {}};
  entry.add_text("sample", "unit", i.unit, true);
  if (!i.environment) entry.add_text("access", "access", i.access == SampleAccess::files ? "files" : "records", true);
  add_optional_count(entry, "samples", "samples", i.samples);
  entry.add("stored, a sample", "stored_bytes", known(i.stored), true);
  entry.add(i.environment ? "simulation, a sample and thread" : "decoding, a sample and thread", "decode_s", known(i.decode),
            true);
  entry.add("on a processor of", "clock_hz", i.clock);
  const std::string spread = fmt::format("{:.0f} %", 100.0 * i.spread);
  entry.facts.push_back({"standard deviation of that", "spread", spread, i.spread, {}, false});
  return entry;
}

CatalogueEntry describe(const System& s) {
  CatalogueEntry entry{"system", s.id, s.name, s.source, {}, {}};
  entry.add_count("GPUs", "gpus", s.gpu_count, true);
  entry.add_text("GPU", "device", s.device.id, true);
  entry.add_text("host", "host", s.host.id, true);
  entry.add_count("NICs", "nics", s.nics);
  if (s.network) entry.add_text("network", "network", s.network->id, true);
  add_fabric(entry, s);
  entry.add_count("GPU pairs with peer access", "peer_pairs", peer_pairs(s.topology));
  add_links(entry, s.topology);
  entry.add("price", "price_usd", s.price);
  entry.add("power, at most", "power_w", s.power);
  if (s.rent) {
    // Rent is quoted by the hour.
    constexpr Seconds kHour(3600.0);
    entry.facts.push_back({"rent", "rent_usd_per_hour", format(*s.rent, 4), (*s.rent * kHour).base(), {}, false});
  }
  entry.add_text("storage", "storage", s.storage);
  entry.add_text("date", "date", s.date);
  entry.add_text("notes", "notes", s.notes);
  entry.add_text("source of the wiring", "wiring_source", s.wiring_source);
  entry.add_text("file", "file", s.file);
  entry.add_text("SHA-256", "sha256", s.sha256);
  return entry;
}

}  // namespace tbdsim
