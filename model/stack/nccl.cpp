#include "model/stack/nccl.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <limits>

#include "model/stack/quantity_list.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr std::array<std::string_view, kProtocols> kProtocolNames{"ll", "ll128", "simple"};
constexpr std::array<std::string_view, 4> kFabrics{"mesh", "nvswitch", "peer", "host"};
constexpr Bounds kShare{0.0, 1.0, true};
// The plan behind a switch is that of 2.18 (NVIDIA/nccl:src/graph/tuning.cc@b647562): older releases planned otherwise.
constexpr NcclVersion kSwitchedFrom{2, 18, 0};

/// Three times, one for each protocol.
std::array<Seconds, kProtocols> read_times(TomlTable& table, std::string_view key) {
  std::array<Seconds, kProtocols> times{};
  const auto found = quantity_list<Seconds>(table, key, "a time", "3.6 us");
  if (found.size() == kProtocols)
    std::copy(found.begin(), found.end(), times.begin());
  else
    table.problem(
        key, fmt::format("expected {} times, for LL, LL128 and Simple, such as \"3.6 us\"; got {}", kProtocols, found.size()));
  return times;
}

NcclRelease read_release(TomlTable& table) {
  NcclRelease release;
  const std::string from = table.text("from");
  if (const auto version = parse_nccl_version(from))
    release.from = *version;
  else if (!from.empty())
    table.problem("from", version.error().front().message);
  release.ll128 = table.boolean_or("ll128", false);
  release.relay = table.boolean_or("relay", false);
  release.tree = table.boolean_or("tree", false);
  release.nvls = table.boolean_or("nvls", false);
  release.base = read_times(table, "base");
  release.hop = read_times(table, "hop");
  release.volta_link = table.quantity_if<BytesPerSecond>("volta_link").value_or(BytesPerSecond(0.0));
  release.ampere_port = table.quantity_if<BytesPerSecond>("ampere_port").value_or(BytesPerSecond(0.0));
  release.ll_limit = table.quantity_if<Bytes>("ll_limit").value_or(Bytes(0.0));
  release.between_nodes = table.text_or("between_nodes", "");
  if (const auto other = parse_nccl_version(release.between_nodes); !release.between_nodes.empty() && !other)
    table.problem("between_nodes", other.error().front().message);
  release.ll128_channel = table.quantity<BytesPerSecond>("ll128_channel");
  release.ll_share = table.number_or("ll_share", release.ll_share, kShare);
  release.ll128_share = table.number_or("ll128_share", release.ll128_share, kShare);
  (void)table.text("source");
  return release;
}

NcclFabricCosts read_fabric(TomlTable table, NcclFabric fabric) {
  NcclFabricCosts costs;
  costs.fabric = fabric;
  costs.base = table.quantity<Seconds>("base", kNotNegative);
  costs.hop = read_times(table, "hop");
  costs.ll_efficiency = table.number_or("ll_efficiency", costs.ll_efficiency, kShare);
  costs.ll128_efficiency = table.number_or("ll128_efficiency", costs.ll128_efficiency, kShare);
  costs.ll128_floor = table.quantity_if<Seconds>("ll128_floor", kNotNegative).value_or(Seconds(0.0));
  costs.ll128_serial = table.quantity_if<BytesPerSecond>("ll128_serial").value_or(BytesPerSecond(0.0));
  costs.drain_last = table.number_or("drain_last", 0.0, kNotNegative);
  costs.drain_before = table.number_or("drain_before", 0.0, kNotNegative);
  costs.channels = static_cast<int>(table.integer_or("channels", 0, 0, 64));
  costs.relay_efficiency = table.number_or("relay_efficiency", 1.0, kShare);
  costs.beside = table.number_or("beside", 0.0, kShare);
  (void)table.text("source");
  return costs;
}

void read_calls(TomlTable& root, NcclLibrary& library) {
  TomlTable fabrics = root.table("fabric");
  for (std::size_t i = 0; i < kFabrics.size(); ++i)
    library.fabrics.push_back(read_fabric(fabrics.table(kFabrics[i]), static_cast<NcclFabric>(i)));
  for (auto& [name, table] : root.table("transport").named_tables()) {
    NcclTransport transport{name, table.quantity<Seconds>("hop_ll", kNotNegative), table.quantity<Seconds>("hop", kNotNegative),
                            table.boolean_or("pipelined", true), table.quantity<Seconds>("latency", kNotNegative)};
    (void)table.text("source");
    library.transports.push_back(std::move(transport));
  }
  for (TomlTable& table : root.tables_or_empty("switch_reduction")) {
    library.reductions.push_back({table.text("architecture"), table.number("efficiency", kShare),
                                  static_cast<int>(table.integer("fewest", 2, 4096)),
                                  table.quantity<Seconds>("start", kNotNegative)});
    (void)table.text("source");
  }
  if (auto switched = root.table_if("switched")) library.switched = read_switched(std::move(*switched));
  for (TomlTable& table : root.tables_or_empty("spread")) {
    library.spreads.push_back(
        {table.quantity<Bytes>("up_to"), table.number("one_node", kNotNegative), table.number("nodes", kNotNegative)});
    (void)table.text("source");
  }
  for (auto& [name, table] : root.table("launch").named_tables()) {
    library.launches.push_back({name, table.quantity<Seconds>("base", kNotNegative),
                                table.quantity_if<Seconds>("per_gpu", kNotNegative).value_or(Seconds(0.0)),
                                table.boolean_or("ahead", false)});
    (void)table.text("source");
  }
}

/// The release where none is named: that of the architecture, else `release`.
std::string read_default(TomlTable table, const std::string& architecture) {
  std::string found = table.text("release");
  (void)table.text("source");
  for (auto& [name, version] : table.table("architecture").named_tables()) {
    const std::string text = version.text("release");
    if (architecture.rfind(name, 0) == 0) found = text;
  }
  return found;
}

}  // namespace

std::string_view name(Protocol protocol) { return kProtocolNames[static_cast<std::size_t>(protocol)]; }

std::string to_text(const NcclVersion& version) {
  const std::string text = fmt::format("{}.{}", version.major, version.minor);
  return version.patch > 0 ? fmt::format("{}.{}", text, version.patch) : text;
}

Result<NcclVersion> parse_nccl_version(std::string_view text) {
  std::array<int, 3> parts{0, 0, 0};
  std::size_t count = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (count < parts.size()) {
    const auto [stopped, status] = std::from_chars(at, end, parts[count]);
    if (status != std::errc{} || parts[count] < 0) break;
    ++count;
    if (stopped == end && count >= 2) return NcclVersion{parts[0], parts[1], parts[2]};
    if (stopped == end || *stopped != '.') break;
    at = stopped + 1;
  }
  return fail(fmt::format("expected an NCCL version such as 2.18 or 2.1.15, got {}", quoted(text)));
}

Result<NcclLibrary> read_nccl(TomlFile file, const std::string& version, const std::string& architecture) {
  TomlTable root = file.root();
  (void)root.integer("schema", kSchema, kSchema);
  NcclLibrary library;
  const std::string usual = read_default(root.table("default"), architecture);
  library.tree_share = root.number("tree_share", kShare);
  library.tree_hop = root.quantity<Seconds>("tree_hop", kNotNegative);
  library.ll_tree_share = root.number("ll_tree_share", kShare);
  library.ll_tree_hop = root.quantity<Seconds>("ll_tree_hop", kNotNegative);
  library.ll_limit = root.quantity<Bytes>("ll_limit");
  library.loop = root.quantity<Bytes>("loop");
  library.pairwise_hop = root.quantity<Seconds>("pairwise_hop", kNotNegative);
  library.source = root.text("source");
  const std::string newest = root.text("newest");
  const auto last = parse_nccl_version(newest);
  if (!last && !newest.empty()) root.problem("newest", last.error().front().message);
  std::vector<NcclRelease> releases;
  for (TomlTable& table : root.tables_or_empty("release")) {
    releases.push_back(read_release(table));
    if (releases.size() > 1 && releases.back().from < releases[releases.size() - 2].from)
      table.problem("from", "expected a release after the one before");
  }
  if (releases.empty()) root.problem("", "expected at least one [[release]]");
  read_calls(root, library);
  root.finish();
  if (!file.errors().empty()) return tl::make_unexpected(file.errors());
  const auto parsed = parse_nccl_version(version.empty() ? usual : version);
  if (!parsed) return tl::make_unexpected(parsed.error());
  if (*parsed < releases.front().from || parsed->major > last->major) {
    const NcclVersion& first = releases.front().from;
    return fail(fmt::format("NCCL {}: there are releases from {}.{} to {}", version, first.major, first.minor, newest));
  }
  library.version = *parsed;
  library.newest = newest;
  library.release = releases.front();
  for (const NcclRelease& release : releases) {
    if (release.from <= library.version) library.release = release;
  }
  if (library.version < kSwitchedFrom) library.switched.clear();
  return library;
}

Result<NcclLibrary> load_nccl(const std::string& catalogue_root, const std::string& version, const std::string& architecture) {
  return TomlFile::open(catalogue_root + "/hardware/nccl.toml").and_then([&](TomlFile file) {
    return read_nccl(std::move(file), version, architecture);
  });
}

const NcclFabricCosts& costs(const NcclLibrary& library, NcclFabric fabric) {
  static const NcclFabricCosts kNone;
  const auto found = std::find_if(library.fabrics.begin(), library.fabrics.end(),
                                  [&](const NcclFabricCosts& costs) { return costs.fabric == fabric; });
  return found == library.fabrics.end() ? kNone : *found;
}

const NcclSwitched* switched_costs(const NcclLibrary& library, const std::string& architecture) {
  const auto found = std::find_if(library.switched.begin(), library.switched.end(),
                                  [&](const NcclSwitched& costs) { return architecture.rfind(costs.architecture, 0) == 0; });
  return found == library.switched.end() ? nullptr : &*found;
}

double spread(const NcclLibrary& library, int nodes, Bytes message) {
  double found = 0.0;
  for (auto row = library.spreads.rbegin(); row != library.spreads.rend(); ++row) {
    if (row != library.spreads.rbegin() && message > row->up_to) break;
    found = nodes > 1 ? row->nodes : row->one_node;
  }
  return found;
}

}  // namespace tbdsim
