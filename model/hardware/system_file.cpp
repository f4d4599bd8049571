#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <type_traits>

#include "model/hardware/hardware_file.hpp"
#include "model/hardware/joined_nodes.hpp"
#include "model/hardware/link_file.hpp"
#include "model/hardware/lookup.hpp"
#include "model/hardware/plain_host.hpp"
#include "model/hardware/price.hpp"
#include "model/input/digest.hpp"
#include "model/support/quote.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr std::int64_t kMostGpus = 4096;  // of one node; a rack of 72 behind one switch counts as one
constexpr std::int64_t kMostParts = 4096;
constexpr std::int64_t kMostJoined = 64;

/// Samples in a device's description were taken under the limits that it states itself, not under those of `--set`.
void restore_measured(const Catalogue& catalogue, const Architectures& architectures, const TomlFile& file,
                      const std::string& key, Device& device) {
  if (!catalogue.edits || device.calibration.families.empty()) return;
  auto written = TomlFile::parse(file.text(), file.name());
  if (!written) return;
  TomlTable root = written->root();
  device.calibration.measured = clock_limits(read_device(key.empty() ? root : root.table(key), device.id, architectures));
}

/// Whether the value is the user's own, from --set.
bool is_set(const TomlTable& table, std::string_view key) { return table.has(key) && table.where(key).file == kAssignments; }

/// Reads one system file and what it names. Problems of named files are kept beside those of the file itself.
class SystemReader {
 public:
  SystemReader(const Catalogue& catalogue, const Architectures& architectures, TomlFile& file)
      : catalogue_(catalogue),
        architectures_(architectures),
        file_(file),
        root_(file.root()),
        beside_(std::filesystem::path(file.name()).parent_path().string()) {}

  Result<System> read() {
    (void)root_.integer("schema", kHardwareSchema, kHardwareSchema);
    read_identity();
    system_.device = read_device_part();
    check_power();
    read_host_part();
    read_network_part();
    read_topology();
    root_.finish();
    Errors errors = file_.errors();
    errors.insert(errors.end(), elsewhere_.begin(), elsewhere_.end());
    if (!errors.empty()) return tl::make_unexpected(std::move(errors));
    return std::move(system_);
  }

 private:
  void read_identity() {
    system_.id = stem_of(file_.name());
    system_.name = root_.text("name");
    system_.gpu_count = static_cast<int>(root_.integer("gpus", 1, kMostGpus));
    system_.hosts = static_cast<int>(root_.integer_or("hosts", 1, 1, kMostParts));
    if (system_.gpu_count % system_.hosts != 0)
      root_.problem("hosts", fmt::format("expected a divisor of the {} GPUs, got {}", system_.gpu_count, system_.hosts));
    system_.nics = static_cast<int>(root_.integer_or("nics", 0, 0, kMostParts));
    read_price();
    system_.storage = root_.text_or("storage", "");
    system_.date = root_.text_or("date", "");
    system_.source = root_.text("source");
    system_.wiring_source = root_.text_or("wiring_source", system_.source);
    system_.price_date = root_.text_or("price_date", "");
    system_.price_source = root_.text_or("price_source", system_.source);
    system_.power_source = root_.text_or("power_source", system_.source);
    system_.provider = root_.text_or("provider", "");
    system_.notes = root_.text_or("notes", "");
    system_.notice = root_.text_or("notice", "");
    system_.file = file_.name();
    system_.sha256 = sha256_hex(file_.text());
  }

  /// A machine's price and what it is let for. The user's word of one sets aside what the file says of the other.
  void read_price() {
    const bool price = is_set(root_, "price"), rent = is_set(root_, "rent");
    system_.price = root_.quantity_if<Usd>("price");
    system_.power = root_.quantity_if<Watts>("power");
    read_rent();
    if (price && !rent) {
      system_.rent.reset();
      system_.rent_kind.clear();
    }
    if (rent && !price) system_.price.reset();
    system_.price_of = price || rent ? kAssignments : fmt::format("the file of {}", system_.id);
  }

  /// Of the file alone: a question about another board may ask for more than the machine draws.
  void check_power() {
    const auto asked = [](const Edit& edit) { return edit.key.ends_with("power_limit") || edit.key == "hw.power"; };
    if (!system_.power || !system_.device.power_limit ||
        (catalogue_.edits && std::any_of(catalogue_.edits->changes.begin(), catalogue_.edits->changes.end(), asked)))
      return;
    const Watts boards = system_.gpu_count * *system_.device.power_limit;
    if (*system_.power < boards)
      root_.problem("power", fmt::format("{} of the whole machine, less than its {} GPUs draw, {}", format(*system_.power),
                                         system_.gpu_count, format(boards)));
  }

  /// An amount, or the kind of the catalogue's rents that is asked for.
  void read_rent() {
    const std::vector<std::string> words = root_.is_table("rent") ? std::vector<std::string>{} : root_.scalars("rent");
    const auto& kinds = rent_kinds();
    if (words.size() != 1 || words[0].empty() || std::isalpha(static_cast<unsigned char>(words[0][0])) == 0) {
      system_.rent = root_.quantity_if<UsdPerSecond>("rent");
    } else if (std::find(kinds.begin(), kinds.end(), words[0]) != kinds.end()) {
      system_.rent_kind = words[0];
    } else {
      root_.problem("rent", fmt::format("expected a price per time such as \"3.06 USD/h\", or one of {}, got {}",
                                        fmt::join(kinds, ", "), tbdsim::quoted(words[0])));
    }
  }

  /// The root table of the file that `key` names; nullopt after noting why there is none.
  std::optional<TomlFile> open_named(std::string_view key, const Shelf& shelf) {
    const std::string name = root_.text(key);
    if (name.empty()) return std::nullopt;
    const auto path = find_entry(catalogue_, shelf, name, beside_);
    if (!path) {
      root_.problem(key, path.error().front().message);
      return std::nullopt;
    }
    auto file = TomlFile::open(*path);
    if (file) {
      if (catalogue_.edits) file->edit(*catalogue_.edits, fmt::format("hw.{}", key));
      return std::move(*file);
    }
    elsewhere_.insert(elsewhere_.end(), file.error().begin(), file.error().end());
    return std::nullopt;
  }

  /// Reads a part that is either a table of this file or another file: `read` is given the table and the id.
  template <class Part, class Reader>
  std::optional<Part> read_part(const std::string& key, const Shelf& shelf, const Reader& reader) {
    if (root_.is_table(key)) {
      Part value = reader(root_.table(key), system_.id);
      if constexpr (std::is_same_v<Part, Device>) restore_measured(catalogue_, architectures_, file_, key, value);
      return value;
    }
    auto file = open_named(key, shelf);
    if (!file) return std::nullopt;
    TomlTable table = file->root();
    (void)table.integer("schema", kHardwareSchema, kHardwareSchema);
    Part value = reader(table, stem_of(file->name()));
    if constexpr (std::is_same_v<Part, Device>) restore_measured(catalogue_, architectures_, *file, "", value);
    if (shelf.folder == kHosts.folder) (void)read_link_types(table, true);
    table.finish();
    const Errors errors = file->errors();
    elsewhere_.insert(elsewhere_.end(), errors.begin(), errors.end());
    return value;
  }

  Device read_device_part() {
    bool own_clock = false;
    const auto read = [&](TomlTable table, std::string id) {
      own_clock = is_set(table, "sustained_clock");
      return read_device(std::move(table), std::move(id), architectures_);
    };
    Device device = read_part<Device>("device", kGpus, read).value_or(Device{});
    if (auto clock = root_.quantity_if<Hertz>("sustained_clock"); clock && (!own_clock || is_set(root_, "sustained_clock"))) {
      device.sustained_clock = clock;
      device.sustained_clock_source = root_.text_or("sustained_clock_source", system_.source);
    } else {
      root_.mark("sustained_clock_source");
    }
    return device;
  }

  void read_host_part() {
    bool own_memory = false;
    const auto read = [&](TomlTable table, std::string id) {
      own_memory = is_set(table, "memory_capacity");
      return read_host(std::move(table), std::move(id));
    };
    if (root_.has("host")) {
      system_.host = read_part<Host>("host", kHosts, read).value_or(Host{});
    } else if (plain()) {
      system_.host = plain()->host;
    }
    if (auto memory = root_.quantity_if<Bytes>("host_memory"); memory && (!own_memory || is_set(root_, "host_memory")))
      system_.host.memory_capacity = memory;
    take_usual_thread();
    system_.host.dispatch_scale *= system_.device.calibration.own.anchors.host;
  }

  /// A host of which nothing names the CPU has one of its GPU's time: that of a plain host with PCIe as old. What that file lacks
  /// is no problem of this one.
  void take_usual_thread() {
    Host& host = system_.host;
    if (host.single_thread) return;
    const auto usual = load_plain_wiring(Catalogue{catalogue_.root}, system_.device);
    if (!usual) return;
    host.single_thread = usual->host.single_thread;
    host.single_thread_source = usual->host.single_thread_source;
  }

  void read_network_part() {
    if (root_.has("network")) system_.network = read_part<Network>("network", kNetworks, read_network);
    system_.tiers = read_fabric(root_, system_);
  }

  void read_topology() {
    const int pcie_switches = static_cast<int>(root_.integer_or("pcie_switches", 0, 0, kMostParts));
    const int nvswitches = static_cast<int>(root_.integer_or("nvswitches", 0, 0, kMostParts));
    Topology& topology = system_.topology;
    topology.vertices = node_vertices(system_.gpu_count, system_.host.sockets, pcie_switches, nvswitches, system_.nics);
    const bool sound = read_links(root_, topology, system_.device.pcie_peer_access);
    if (sound && root_.has("link")) report_unconnected();
    const auto joined = static_cast<int>(root_.integer_or("joined_nodes", 1, 1, kMostJoined));
    if (sound && joined > 1)
      if (const std::string problem = join_nodes(system_, joined); !problem.empty()) root_.problem("joined_nodes", problem);
    const bool attached = std::any_of(topology.links.begin(), topology.links.end(), [](const LinkBundle& link) {
      return link.kind == LinkKind::pcie || link.kind == LinkKind::internal;
    });
    if (attached || !plain()) return;
    add_plain_pcie(topology, plain()->types);
    system_.wiring_source += "; assumed: GPUs and NICs straight on the PCIe of their CPU, because the file describes none";
  }

  void report_unconnected() {
    std::vector<std::string> lonely;
    for (const VertexId gpu : system_.topology.gpus()) {
      const bool linked = std::any_of(system_.topology.links.begin(), system_.topology.links.end(),
                                      [&](const LinkBundle& link) { return link.a == gpu || link.b == gpu; });
      if (!linked) lonely.push_back(system_.topology.vertices[static_cast<std::size_t>(gpu.value)].name);
    }
    if (lonely.empty()) return;
    root_.problem("gpus", fmt::format("unconnected GPU: {} of {} ({}) end no link", lonely.size(), system_.gpu_count,
                                      fmt::join(lonely, ", ")));
  }

  /// Wiring of a host of which nothing is known; read once, and only if needed.
  const PlainWiring* plain() {
    if (!plain_) plain_ = load_plain_wiring(catalogue_, system_.device);
    if (*plain_) return &**plain_;
    if (!plain_reported_) elsewhere_.insert(elsewhere_.end(), plain_->error().begin(), plain_->error().end());
    plain_reported_ = true;
    return nullptr;
  }

  const Catalogue& catalogue_;
  const Architectures& architectures_;
  TomlFile& file_;
  TomlTable root_;
  std::string beside_;
  System system_;
  Errors elsewhere_;
  std::optional<Result<PlainWiring>> plain_;
  bool plain_reported_ = false;
};

/// Both kinds of file may be given as hardware; only a GPU states its multiprocessors.
bool describes_device(TomlFile& file) { return file.root().has("multiprocessors") && !file.root().has("device"); }

Result<Device> device_from(const Architectures& architectures, TomlFile& file) {
  TomlTable root = file.root();
  (void)root.integer("schema", kHardwareSchema, kHardwareSchema);
  Device device = read_device(root, stem_of(file.name()), architectures);
  root.finish();
  if (!file.errors().empty()) return tl::make_unexpected(file.errors());
  return device;
}

/// The system of the catalogue on whose baseboard `device` is mounted.
Result<System> mounted_system(const Catalogue& catalogue, const Architectures& architectures, const Device& device) {
  const auto id = resolve_entry(catalogue, kSystems, device.mounted_in);
  if (!id) return tl::make_unexpected(id.error());
  auto file = TomlFile::open(catalogue_path(catalogue, kSystems.folder, *id));
  if (!file) return tl::make_unexpected(file.error());
  if (catalogue.edits) file->edit(*catalogue.edits, "hw");
  auto system = SystemReader(catalogue, architectures, *file).read();
  if (system && system->device.id != device.id)
    return fail(fmt::format("{}: mounted_in \"{}\" is a system of {}", device.id, *id, system->device.id));
  if (system) system->chosen_for = device.id;
  return system;
}

Result<System> system_from(const Catalogue& catalogue, const std::string& path, int gpus) {
  auto file = TomlFile::open(path);
  if (!file) return tl::make_unexpected(file.error());
  if (file->root().has("anchor")) return fail(path + ": `calibrate anchor` wrote it: use it as --calibration, beside --hw NAME");
  const bool device = describes_device(*file);
  if (catalogue.edits) file->edit(*catalogue.edits, device ? "hw.device" : "hw");
  const auto known = architectures_of(catalogue);
  if (!known) return tl::make_unexpected(known.error());
  const Architectures& architectures = **known;
  if (!device) return SystemReader(catalogue, architectures, *file).read();
  auto system = device_from(architectures, *file).and_then([&](Device found) {
    if (gpus > 1 && !found.mounted_in.empty()) return mounted_system(catalogue, architectures, found);
    restore_measured(catalogue, architectures, *file, "", found);
    auto plain = plain_system(catalogue, std::move(found), gpus);
    if (plain && gpus > 1) plain->alike = system_alike(catalogue, plain->device.id, gpus);
    return plain;
  });
  if (system && system->chosen_for.empty()) {
    system->file = path;
    system->sha256 = sha256_hex(file->text());
  }
  return system;
}

/// Path of what a user calls `name`: his file, else an entry of the first shelf that has it.
Result<std::string> user_path(const Catalogue& catalogue, const std::vector<Shelf>& shelves, const std::string& name) {
  const bool file_meant = looks_like_file(name);
  // A directory or a broken link of that name is refused as what it is.
  std::error_code ignored;
  const bool there = std::filesystem::exists(std::filesystem::symlink_status(name, ignored));
  if (file_meant && (there || name.find('/') != std::string::npos)) return name;
  const std::string wanted = file_meant ? stem_of(name) : name;
  std::vector<std::string> all;
  std::string nouns, browse;
  for (const Shelf& shelf : shelves) {
    if (const auto id = known_entry(catalogue, shelf, wanted)) return catalogue_path(catalogue, shelf.folder, *id);
    const std::vector<std::string> names = known_names(catalogue, shelf);
    all.insert(all.end(), names.begin(), names.end());
    nouns += (nouns.empty() ? "" : " or ") + shelf.noun;
    browse += (browse.empty() ? "" : " and ") + listing(shelf);
  }
  if (!file_meant && is_file(name)) return name;
  if (!file_meant && is_folder(name))
    return fail(
        fmt::format("\"{}\" is a directory; expected the name of a {} or a file such as {}/NAME.toml", name, nouns, name));
  auto miss = resolve_name(wanted, all, nouns, browse);
  if (!miss && file_meant)
    miss.error().front().message = fmt::format("no file \"{}\" here, and {}", name, miss.error().front().message);
  return miss;
}

template <class Part, class Reader>
Result<Part> load_entry(const Catalogue& catalogue, const Shelf& shelf, const std::string& name, const Reader& read) {
  const auto path = user_path(catalogue, {shelf}, name);
  if (!path) return tl::make_unexpected(path.error());
  auto file = TomlFile::open(*path);
  if (!file) return tl::make_unexpected(file.error());
  if (catalogue.edits) file->edit(*catalogue.edits, shelf.noun);
  TomlTable root = file->root();
  (void)root.integer("schema", kHardwareSchema, kHardwareSchema);
  Part value = read(root, stem_of(*path));
  if (shelf.folder == kHosts.folder) (void)read_link_types(root, true);
  root.finish();
  if (!file->errors().empty()) return tl::make_unexpected(file->errors());
  return value;
}

}  // namespace

Result<Device> parse_device(const Architectures& architectures, std::string text, const std::string& file) {
  auto toml = TomlFile::parse(std::move(text), file);
  if (!toml) return tl::make_unexpected(toml.error());
  return device_from(architectures, *toml);
}

Result<System> parse_system(const Catalogue& catalogue, std::string text, const std::string& file) {
  auto toml = TomlFile::parse(std::move(text), file);
  if (!toml) return tl::make_unexpected(toml.error());
  return architectures_of(catalogue).and_then([&](const std::shared_ptr<const Architectures>& architectures) {
    return SystemReader(catalogue, *architectures, *toml).read();
  });
}

Result<System> load_system(const Catalogue& catalogue, const std::string& name, int gpus) {
  return user_path(catalogue, {kSystems, kGpus}, name).and_then([&](const std::string& path) {
    return system_from(catalogue, path, gpus);
  });
}

Result<Device> load_device(const Catalogue& catalogue, const std::string& name) {
  return architectures_of(catalogue).and_then([&](const std::shared_ptr<const Architectures>& architectures) {
    return load_entry<Device>(catalogue, kGpus, name, [&](TomlTable table, std::string id) {
      return read_device(std::move(table), std::move(id), *architectures);
    });
  });
}
Result<Host> load_host(const Catalogue& catalogue, const std::string& name) {
  return load_entry<Host>(catalogue, kHosts, name, read_host);
}
Result<Network> load_network(const Catalogue& catalogue, const std::string& name) {
  auto network = load_entry<Network>(catalogue, kNetworks, name, read_network);
  if (!network || !catalogue.edits || catalogue.edits->changes.empty()) return network;
  // A changed transport changes no adapters: a node has as many as before.
  Catalogue as_written = catalogue;
  as_written.edits = nullptr;
  if (const auto written = load_entry<Network>(as_written, kNetworks, name, read_network)) network->adapters = written->transport;
  return network;
}

}  // namespace tbdsim
