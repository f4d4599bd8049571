#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "model/cli/catalogue_shelves.hpp"
#include "model/cli/command.hpp"
#include "model/cli/output.hpp"
#include "model/input/file_text.hpp"
#include "model/input/toml_reader.hpp"
#include "model/support/quote.hpp"
#include "model/workload/network_writer.hpp"

namespace tbdsim {
namespace {

std::string formatted(Format format, const CatalogueEntry& entry) {
  switch (format) {
    case Format::json:
      return entry_json(entry);
    case Format::csv:
      return entry_csv(entry);
    case Format::table:
      break;
  }
  return entry_table(entry);
}

struct Found {
  const CatalogueKind* kind = nullptr;
  std::string id;
};

tl::unexpected<Errors> unknown_name(const Catalogue& catalogue, const std::string& name) {
  // Only models have variants.
  if (name.find('@') != std::string::npos) return tl::make_unexpected(find_network(name, "").error());
  for (const CatalogueKind& kind : catalogue_kinds())
    if (kind.name == name) return fail(fmt::format("show: {} is a kind of entry; `tbdsim list {}` shows them", name, name));
  std::vector<std::string> known;
  for (const CatalogueKind& kind : catalogue_kinds()) {
    for (const std::string& id : kind.ids(catalogue)) {
      // A model has several variants, which are one name.
      if (std::string bare = id.substr(0, id.find('@')); known.empty() || known.back() != bare) known.push_back(std::move(bare));
    }
  }
  return tl::make_unexpected(resolve_name(name, known, "catalogue entry").error());
}

/// The one entry of any kind that a name means; an exact id wins.
Result<Found> find_entry(const Catalogue& catalogue, const std::string& name) {
  std::vector<Found> found;
  for (const CatalogueKind& kind : catalogue_kinds()) {
    if (auto id = kind.resolve(catalogue, name)) found.push_back({&kind, *id});
  }
  if (found.empty()) return unknown_name(catalogue, name);
  const auto exact = std::find_if(found.begin(), found.end(), [&](const Found& f) { return f.id == name; });
  if (exact != found.end()) return *exact;
  if (found.size() == 1) return found.front();
  std::vector<std::string> choices;
  choices.reserve(found.size());
  for (const Found& f : found) choices.push_back(fmt::format("{} of {}", f.id, f.kind->name));
  return fail(fmt::format("show: {} fits several: {}", tbdsim::quoted(name), fmt::join(choices, ", ")));
}

Result<CatalogueEntry> show_model(const std::string& id, std::optional<int> image, std::optional<int> seq_len) {
  if (image && *image < 1) return fail(fmt::format("--image {}: expected at least 1 pixel", *image));
  if (seq_len && *seq_len < 1) return fail(fmt::format("--seq-len {}: expected at least 1 token", *seq_len));
  const auto entry = find_network(id, "");
  if (!entry) return tl::make_unexpected(entry.error());
  return build_network(**entry, {image, std::nullopt, seq_len}).map([&](const OpGraph& graph) {
    return describe(**entry, graph);
  });
}

/// Kind of the entry that a user's file describes, by a key that files of that kind must have; null for a network's layers.
const CatalogueKind* described_kind(const std::string& path) {
  auto file = TomlFile::open(path);
  if (!file) return nullptr;
  TomlTable root = file->root();
  const std::string_view name = root.has("device")                             ? "systems"
                                : root.has("architecture")                     ? "gpus"
                                : root.has("framework") || root.has("extends") ? "stacks"
                                : root.has("sockets")                          ? "hosts"
                                : root.has("latency")                          ? "networks"
                                : root.has("sequential_read")                  ? "storage"
                                                                               : "";
  for (const CatalogueKind& kind : catalogue_kinds())
    if (kind.name == name) return &kind;
  return nullptr;
}

/// Adds the time to move `--bytes`.
Result<void> add_time(const ShowArguments& arguments, CatalogueEntry& entry) {
  if (!arguments.bytes || add_transfer_time(*arguments.bytes, entry)) return {};
  return fail(fmt::format("show: --bytes is for entries with a bandwidth; {} has none", entry.id));
}

/// Refuses sizes of a model for what has none.
Result<void> check_sizes(const ShowArguments& arguments, const std::string& id, std::string_view why) {
  if (!arguments.image && !arguments.seq_len) return {};
  return fail(fmt::format("show: {} is for models; {} {}", arguments.image ? "--image" : "--seq-len", id, why));
}

/// A network that a user brings as a file, or hardware or software of his own.
Result<Answer> show_file(const ShowArguments& arguments, Session& session) {
  const CatalogueKind* const kind = is_imported_file(arguments.name) ? nullptr : described_kind(arguments.name);
  if (kind != nullptr) {
    if (const auto sound = check_sizes(arguments, arguments.name, "describes " + kind->name); !sound)
      return tl::make_unexpected(sound.error());
    auto entry = kind->describe(session.catalogue(), arguments.name);
    if (!entry) return tl::make_unexpected(entry.error());
    return add_time(arguments, *entry).map([&] { return Answer{formatted(arguments.format, *entry), {}}; });
  }
  const auto workload = session.workload(arguments.name, "", {arguments.image, std::nullopt, arguments.seq_len});
  if (!*workload) return tl::make_unexpected(workload->error());
  const Workload& read = **workload;
  if (!read.takes_sizes)
    if (const auto sound = check_sizes(arguments, arguments.name, "states its own"); !sound)
      return tl::make_unexpected(sound.error());
  CatalogueEntry entry = describe_file(read.file, read.graph);
  return add_time(arguments, entry).map([&] { return Answer{formatted(arguments.format, entry), read.notices}; });
}

/// A network as a file of layers, for stacks that fuse attention and for others. Errors: an imported operator that trains arrays,
/// which no such file can state.
Result<Answer> network_file(const ShowArguments& arguments, Session& session) {
  const auto read = [&](bool fused) {
    return session.workload(arguments.name, "", {arguments.image, std::nullopt, arguments.seq_len, fused});
  };
  const auto workload = read(false), fused = read(true);
  if (!*workload) return tl::make_unexpected(workload->error());
  if (!*fused) return tl::make_unexpected(fused->error());
  const OpGraph& graph = (*workload)->graph;
  const auto foreign = std::find_if(graph.ops.begin(), graph.ops.end(),
                                    [](const Op& op) { return op.kind == OpKind::by_bytes && !op.parameters.empty(); });
  if (foreign != graph.ops.end())
    return fail(fmt::format("--as toml: {} trains arrays in {}, an operator that a network file has no word for", arguments.name,
                            foreign->name));
  return Answer{network_toml(graph, (*fused)->graph), (*workload)->notices};
}

/// The file behind an entry, or the network as a file.
Result<Answer> show_as_toml(const ShowArguments& arguments, Session& session, const std::string& name) {
  if (arguments.format != Format::table || arguments.bytes)
    return fail(fmt::format("--as toml is the file alone: leave out {}", arguments.bytes ? "--bytes" : "--format"));
  std::error_code error;
  if (is_imported_file(arguments.name)) return network_file(arguments, session);
  std::string path = arguments.name;
  if (const bool own = path.ends_with(".toml") && std::filesystem::exists(path, error); !own) {
    const auto found = find_entry(session.catalogue(), name);
    if (!found) return tl::make_unexpected(found.error());
    if (found->kind->name == "models") return network_file(arguments, session);
    path = fmt::format("{}/hardware/{}/{}.toml", session.catalogue().root, found->kind->name, found->id);
    if (!std::filesystem::exists(path, error))
      return fail(fmt::format("--as toml: {} of {} has no file of its own", found->id, found->kind->name));
  } else if (described_kind(path) == nullptr) {
    return network_file(arguments, session);
  }
  return read_file(path).map([](std::string text) { return Answer{std::move(text), {}}; });
}

}  // namespace

Result<Answer> answer(const ShowArguments& arguments, Session& session) {
  const Catalogue& catalogue = session.catalogue();
  std::error_code error;
  const bool described = std::filesystem::path(arguments.name).extension() == ".toml";
  const std::string name = described ? std::filesystem::path(arguments.name).stem().string() : arguments.name;
  if (arguments.as_toml) return show_as_toml(arguments, session, name);
  if (is_imported_file(arguments.name) || (described && std::filesystem::exists(arguments.name, error)))
    return show_file(arguments, session);
  // As for --hw, a bare "dgx1.toml" is looked up in the catalogue.
  const auto found = find_entry(catalogue, name);
  if (!found) return tl::make_unexpected(found.error());
  const bool model = found->kind->name == "models";
  if (const auto sound = check_sizes(arguments, found->id, "is one of " + found->kind->name); !model && !sound)
    return tl::make_unexpected(sound.error());
  auto entry = model ? show_model(found->id, arguments.image, arguments.seq_len) : found->kind->describe(catalogue, found->id);
  if (!entry) return tl::make_unexpected(entry.error());
  return add_time(arguments, *entry).map([&] { return Answer{formatted(arguments.format, *entry), {}}; });
}

int run(const ShowArguments& arguments, const Catalogue& catalogue) {
  return deliver(answer(arguments, *open_session(catalogue)));
}

}  // namespace tbdsim
