#include "model/hardware/link_file.hpp"

#include <fmt/format.h>

#include "model/support/edit_distance.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr std::int64_t kMostLinksOfABundle = 1024;
constexpr Bounds kLatency{0.0, 1.0, false};  // s: more than any link of a machine, or around the earth, has
const std::vector<std::string> kKinds = {"nvlink", "xgmi", "pcie", "cpu_link", "network", "storage", "internal"};

LinkKind read_kind(TomlTable& table) {
  const std::string text = table.text("kind");
  const auto kind = parse_link_kind(text);
  if (!kind && !text.empty()) {
    const auto near = nearest(text, kKinds);
    table.problem("kind", near ? fmt::format("no link kind \"{}\", did you mean \"{}\"?", text, *near)
                               : fmt::format("no link kind \"{}\", expected one of {}", text, fmt::join(kKinds, ", ")));
  }
  return kind.value_or(LinkKind::internal);
}

/// Shares of the line rate that a link reaches when its file does not say: a copy engine, copy kernels, and GPU to GPU
/// staged in host memory. From the links of the catalogue: PCIe 3.0 x16 12, 12.4 and 6 of 15.75 GB/s; NVLink2 23.9 and 22.8
/// of 25 GB/s.
struct Shares {
  double achieved = 1.0, sm_copy = 1.0;
  std::optional<double> staged;
};
Shares usual_shares(LinkKind kind) {
  if (kind == LinkKind::pcie) return {0.76, 0.785, 0.38};
  if (kind == LinkKind::nvlink) return {0.957, 0.914, std::nullopt};
  return {};
}

void check_not_above(TomlTable& table, std::string_view key, BytesPerSecond value, BytesPerSecond line_rate) {
  if (value > line_rate) table.problem(key, fmt::format("{} is above the line rate of {}", format(value), format(line_rate)));
}

LinkBundle read_type(const std::string& name, TomlTable table, bool peer_access) {
  LinkBundle type;
  type.type = name;
  type.kind = read_kind(table);
  const auto line_rate = table.quantity_if<BytesPerSecond>("bandwidth");
  type.bandwidth =
      line_rate || table.has("bandwidth") ? line_rate.value_or(BytesPerSecond(1.0)) : table.quantity<BytesPerSecond>("bandwidth");
  const Shares usual = usual_shares(type.kind);
  const auto achieved = table.quantity_if<BytesPerSecond>("achieved");
  const auto sm_copy = table.quantity_if<BytesPerSecond>("sm_copy");
  type.achieved = achieved.value_or(usual.achieved * type.bandwidth);
  type.sm_copy = sm_copy.value_or(achieved ? *achieved : usual.sm_copy * type.bandwidth);
  if (achieved && line_rate) check_not_above(table, "achieved", *achieved, *line_rate);
  if (sm_copy && line_rate) check_not_above(table, "sm_copy", *sm_copy, *line_rate);
  type.latency = table.quantity_if<Seconds>("latency", kLatency).value_or(Seconds(0.0));
  type.peer_access = table.boolean_or("peer_access", peer_access && type.kind == LinkKind::pcie);
  type.staged = table.quantity_if<BytesPerSecond>("staged");
  if (!type.staged && usual.staged) type.staged = *usual.staged * type.bandwidth;
  type.source = table.text("source");
  type.staged_source = table.text_or("staged_source", type.source);
  type.achieved_source = table.text_or("achieved_source", type.source);
  type.sm_copy_source = table.text_or("sm_copy_source", type.achieved_source);
  type.latency_source = table.text_or("latency_source", type.source);
  return type;
}

std::optional<VertexId> read_end(TomlTable& wire_table, std::string_view key, const Topology& topology) {
  const std::string name = wire_table.text(key);
  if (name.empty()) return std::nullopt;
  if (auto vertex = topology.find(name)) return vertex;
  std::vector<std::string> names;
  for (const Vertex& vertex : topology.vertices) names.push_back(vertex.name);
  const auto near = nearest(name, names);
  wire_table.problem(key,
                     fmt::format("no vertex called \"{}\"", name) + (near ? fmt::format(", did you mean \"{}\"?", *near) : ""));
  return std::nullopt;
}

bool read_wires(TomlTable& table, const LinkBundle& type, Topology& topology) {
  bool sound = true;
  for (TomlTable& entry : table.tables_or_empty("wires")) {
    const auto a = read_end(entry, "a", topology);
    const auto b = read_end(entry, "b", topology);
    const int count = static_cast<int>(entry.integer_or("count", 1, 1, kMostLinksOfABundle));
    const bool same = a && b && *a == *b;
    if (same) entry.problem("b", "a link needs two different ends");
    if (a && b && !same) {
      topology.links.push_back(wire(type, topology, *a, *b, count));
    } else {
      sound = false;
    }
  }
  return sound;
}

}  // namespace

LinkBundle wire(const LinkBundle& type, const Topology& topology, VertexId a, VertexId b, int count) {
  LinkBundle bundle = type;
  bundle.a = a;
  bundle.b = b;
  bundle.count = count;
  const auto name = [&](VertexId v) { return topology.vertices[static_cast<std::size_t>(v.value)].name; };
  bundle.name = name(a) + "-" + name(b);
  return bundle;
}

std::vector<LinkBundle> read_link_types(TomlTable& root, bool peer_access) {
  std::vector<LinkBundle> types;
  if (!root.has("link")) return types;
  for (auto& [name, table] : root.table("link").named_tables()) types.push_back(read_type(name, table, peer_access));
  return types;
}

bool read_links(TomlTable& root, Topology& topology, bool peer_access) {
  if (!root.has("link")) return true;
  bool sound = true;
  for (auto& [name, table] : root.table("link").named_tables()) {
    const LinkBundle type = read_type(name, table, peer_access);
    sound = read_wires(table, type, topology) && sound;
  }
  return sound;
}

}  // namespace tbdsim
