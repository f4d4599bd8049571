#include "model/hardware/plain_host.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "model/hardware/hardware_file.hpp"
#include "model/hardware/link_file.hpp"
#include "model/hardware/lookup.hpp"
#include "model/input/file_text.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr int kOldestPlainHost = 3, kNewestPlainHost = 5;
/// A workstation of up to four boards has one CPU; servers of eight put four below each (published 8 x RTX 4090 box).
constexpr std::size_t kGpusPerCpu = 4;
/// More than any PCIe host holds; the rings of thousands would take minutes to find and mean nothing.
constexpr int kMostGpus = 64;

std::vector<VertexId> of_kind(const Topology& topology, VertexKind kind) {
  std::vector<VertexId> ids;
  for (std::size_t i = 0; i < topology.vertices.size(); ++i) {
    if (topology.vertices[i].kind == kind) ids.push_back(VertexId{static_cast<std::int32_t>(i)});
  }
  return ids;
}

/// PCIe of a device with fewer lanes, in proportion.
void narrow(LinkBundle& pcie, int lanes) {
  constexpr double kFullLanes = 16.0;
  const double share = std::min(1.0, lanes / kFullLanes);
  pcie.bandwidth *= share;
  pcie.achieved *= share;
  pcie.sm_copy *= share;
}

/// GPUs and NICs of one kind below a CPU.
std::size_t leaves_of_cpu(std::size_t leaves, std::size_t cpus) { return std::max(kGpusPerCpu, (leaves + cpus - 1) / cpus); }

/// Where the GPUs of a plain host stand, and how they reach each other there.
std::string places(const System& system) {
  const auto gpus = static_cast<std::size_t>(system.gpu_count);
  const std::size_t together = leaves_of_cpu(gpus, static_cast<std::size_t>(system.host.sockets));
  const std::string cpus = gpus <= together ? "all below one CPU" : fmt::format("{} below a CPU", together);
  return fmt::format("{}, where they copy to each other {}", cpus,
                     system.device.pcie_peer_access ? "directly" : "through host memory");
}

/// What a plain host's file would say of the thread that issues to `device`, if it stood in the machine on whose baseboard
/// several of these boards are mounted. One of them and several are issued to alike then. None: it has slots, or nothing is known
/// of that machine's CPU. Read from the catalogue as it stands: the user's edits come after these.
Edits thread_of_platform(const Catalogue& catalogue, const Device& device) {
  if (device.mounted_in.empty()) return {};
  const Catalogue unedited{catalogue.root};
  const auto id = known_entry(unedited, kSystems, device.mounted_in);
  if (!id) return {};
  auto file = TomlFile::open(catalogue_path(unedited, kSystems.folder, *id));
  if (!file || !file->root().has("host")) return {};
  const auto host = load_host(unedited, file->root().text("host"));
  if (!host || !host->single_thread) return {};
  const auto value = [](const char* key, std::string literal, int line) {
    Edit edit;
    edit.key = fmt::format("hw.host.{}", key);
    edit.line = line;
    edit.text = literal;
    edit.literal = std::move(literal);
    return edit;
  };
  return {
      {value("single_thread", fmt::format("{}", *host->single_thread), 1),
       value("single_thread_source",
             fmt::format("\"assumed: as of {}, in which several of these boards are mounted; nothing names the CPU\"", *id), 2)},
      nullptr};
}

/// Host and link types of the catalogue's plain host for `device`, with the values of `first` before the user's.
Result<PlainWiring> load_wiring(const Catalogue& catalogue, const Device& device, const Edits& first) {
  const int generation = std::clamp(device.pcie_generation, kOldestPlainHost, kNewestPlainHost);
  const std::string id = fmt::format("plain-pcie-{}", generation);
  auto file = TomlFile::open(catalogue_path(catalogue, kHosts.folder, id));
  if (!file) return tl::make_unexpected(file.error());
  file->edit(first, "hw.host");
  if (catalogue.edits) file->edit(*catalogue.edits, "hw.host");
  TomlTable root = file->root();
  (void)root.integer("schema", kHardwareSchema, kHardwareSchema);
  PlainWiring wiring;
  wiring.host = read_host(root, id);
  wiring.types = read_link_types(root, device.pcie_peer_access);
  root.finish();
  if (!file->errors().empty()) return tl::make_unexpected(file->errors());
  for (LinkBundle& type : wiring.types) {
    if (type.kind != LinkKind::pcie) continue;
    type.peer_access = device.pcie_peer_access;
    narrow(type, device.pcie_lanes);
    // Both directions of a link are alike: the slower one counts.
    const OwnMeasurements& own = device.calibration.own;
    const auto measured = own.copy_to_device && own.copy_to_host ? std::min(own.copy_to_device, own.copy_to_host)
                          : own.copy_to_device                   ? own.copy_to_device
                                                                 : own.copy_to_host;
    if (measured) type.achieved = std::min(*measured, type.bandwidth);
  }
  return wiring;
}

}  // namespace

std::string system_alike(const Catalogue& catalogue, const std::string& device, int gpus) {
  std::string found;
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (const std::string& id : catalogue_ids(catalogue, kSystems.folder)) {
    const std::string path = catalogue_path(catalogue, kSystems.folder, id);
    // Most files do not name the device; to look for it is faster than to read them as TOML.
    if (const auto text = read_file(path); !text || text->find('"' + device + '"') == std::string::npos) continue;
    auto file = TomlFile::open(path);
    if (!file) continue;
    TomlTable root = file->root();
    if (root.text_or("device", "") != device) continue;
    const std::int64_t has = root.integer_or("gpus", 1, 1, std::numeric_limits<std::int32_t>::max());
    if (has < gpus || has >= fewest) continue;
    found = id;
    fewest = has;
  }
  return found;
}

Result<PlainWiring> load_plain_wiring(const Catalogue& catalogue, const Device& device) {
  return load_wiring(catalogue, device, {});
}

std::vector<Vertex> node_vertices(int gpus, int cpus, int pcie_switches, int nvswitches, int nics) {
  std::vector<Vertex> vertices;
  const auto add = [&](VertexKind kind, int count) {
    for (int i = 0; i < count; ++i) vertices.push_back({fmt::format("{}{}", name(kind), i), kind});
  };
  add(VertexKind::gpu, gpus);
  add(VertexKind::cpu, cpus);
  add(VertexKind::pcie_switch, pcie_switches);
  add(VertexKind::nvswitch, nvswitches);
  add(VertexKind::nic, nics);
  return vertices;
}

void add_plain_pcie(Topology& topology, const std::vector<LinkBundle>& types) {
  const std::vector<VertexId> cpus = of_kind(topology, VertexKind::cpu);
  const bool joined = std::any_of(topology.links.begin(), topology.links.end(),
                                  [](const LinkBundle& link) { return link.kind == LinkKind::cpu_link; });
  for (const LinkBundle& type : types) {
    if (type.kind == LinkKind::pcie) {
      for (const VertexKind kind : {VertexKind::gpu, VertexKind::nic}) {
        const std::vector<VertexId> leaves = of_kind(topology, kind);
        const std::size_t per_cpu = leaves_of_cpu(leaves.size(), cpus.size());
        for (std::size_t i = 0; i < leaves.size(); ++i) {
          topology.links.push_back(wire(type, topology, leaves[i], cpus[i / per_cpu]));
        }
      }
    } else if (type.kind == LinkKind::cpu_link && !joined) {
      for (std::size_t i = 1; i < cpus.size(); ++i) topology.links.push_back(wire(type, topology, cpus[i - 1], cpus[i]));
    }
  }
}

std::string wiring_notice(const System& system, const std::vector<int>& devices) {
  if (!system.chosen_for.empty())
    return fmt::format("{} is mounted on a baseboard: {} of them are taken to be wired as in {}; --hw can name another system",
                       system.chosen_for, devices.size(), system.id);
  if (system.id != system.device.id || devices.size() < 2) return {};
  const std::string other = system.alike.empty()
                                ? "a system file can state another wiring"
                                : fmt::format("the catalogue's {} has such boards in its own wiring", system.alike);
  if (system.device.nvlink_links || system.device.chip.own_links)
    return fmt::format("{} x {} are put on PCIe alone, without links of their own, {}; {}", devices.size(), system.device.id,
                       places(system), other);
  if (devices.size() <= kGpusPerCpu)
    return system.alike.empty()
               ? std::string()
               : fmt::format("{} x {} are put on PCIe, {}; {}", devices.size(), system.device.id, places(system), other);
  const std::vector<VertexId> all = system.topology.gpus();
  std::vector<VertexId> group;
  group.reserve(devices.size());
  for (const int device : devices) group.push_back(all[static_cast<std::size_t>(device)]);
  const std::vector<VertexId> below_one(group.begin(), group.begin() + kGpusPerCpu);
  const BytesPerSecond together = find_rings(system.topology, group).bandwidth,
                       one = find_rings(system.topology, below_one).bandwidth;
  if (together >= one) return {};
  return fmt::format("{} GPUs of a plain PCIe host stand on several CPUs: a ring through all gets {}, of {} below one CPU {}; {}",
                     group.size(), format(together), kGpusPerCpu, format(one), other);
}

Result<System> plain_system(const Catalogue& catalogue, Device device, int gpus) {
  if (gpus > kMostGpus)
    return fail(fmt::format("{} GPUs do not fit one plain PCIe host (at most {}); name a system, or --nodes", gpus, kMostGpus));
  auto wiring = load_wiring(catalogue, device, thread_of_platform(catalogue, device));
  if (!wiring) return tl::make_unexpected(wiring.error());
  System system;
  system.id = device.id;
  system.name = fmt::format("{} x {} in a plain PCIe {}.0 host", gpus, device.name, device.pcie_generation);
  system.gpu_count = gpus;
  system.host = wiring->host;
  system.topology.vertices = node_vertices(gpus, wiring->host.sockets, 0, 0, 0);
  add_plain_pcie(system.topology, wiring->types);
  system.source = device.source;
  system.wiring_source = "assumed: GPUs straight on the PCIe of their CPU, four to a CPU, because only a GPU was named";
  system.notes = "a plain PCIe host was assumed around the GPU";
  system.host.dispatch_scale *= device.calibration.own.anchors.host;
  system.device = std::move(device);
  return system;
}

}  // namespace tbdsim
