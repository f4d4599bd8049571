#include "model/hardware/lookup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "model/hardware/hardware_file.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/find_named.hpp"

namespace tbdsim {
namespace {

constexpr std::string_view kExtension = ".toml";

std::string quoted_list(const std::vector<std::string>& names) { return fmt::format("\"{}\"", fmt::join(names, "\", \"")); }

/// What stands before a board's name on its box and in no id: "NVIDIA GeForce RTX 4090".
std::string without_maker(const std::string& name) {
  constexpr std::array<std::string_view, 7> kMakers{"nvidia", "geforce", "amd", "instinct", "radeon", "tesla", "quadro"};
  std::string left = fold_name(name);
  for (const std::string_view maker : kMakers) {
    if (left.size() > maker.size() && left.compare(0, maker.size(), maker) == 0) left.erase(0, maker.size());
  }
  return left;
}

}  // namespace

bool looks_like_file(const std::string& name) {
  const bool toml =
      name.size() > kExtension.size() && name.compare(name.size() - kExtension.size(), kExtension.size(), kExtension) == 0;
  return toml || name.find('/') != std::string::npos;
}

std::string stem_of(const std::string& path) {
  const std::string file = std::filesystem::path(path).filename().string();
  return looks_like_file(file) ? file.substr(0, file.size() - kExtension.size()) : file;
}

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

std::string catalogue_path(const Catalogue& catalogue, const std::string& folder, const std::string& id) {
  return fmt::format("{}/hardware/{}/{}{}", catalogue.root, folder, id, kExtension);
}

std::vector<std::string> catalogue_ids(const Catalogue& catalogue, const std::string& folder) {
  std::vector<std::string> ids;
  std::error_code ignored;  // a folder that cannot be read holds no ids
  for (const auto& entry : std::filesystem::directory_iterator(catalogue.root + "/hardware/" + folder, ignored)) {
    if (entry.path().extension() == kExtension) ids.push_back(entry.path().stem().string());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::string listing(const Shelf& shelf) { return fmt::format("`tbdsim list {}`", shelf.folder); }

Result<std::string> resolve_name(const std::string& name, const std::vector<std::string>& ids, const std::string& noun) {
  return resolve_name(name, ids, noun, "");
}

Result<std::string> resolve_name(const std::string& name, const std::vector<std::string>& ids, const std::string& noun,
                                 const std::string& browse) {
  if (std::find(ids.begin(), ids.end(), name) != ids.end()) return name;
  std::vector<std::string> fits;
  for (const std::string& id : ids) {
    if (fold_name(id) == fold_name(name)) fits.push_back(id);
  }
  if (fits.size() == 1) return fits.front();
  if (fits.size() > 1) return fail(fmt::format("\"{}\" fits more than one {}: {}", name, noun, quoted_list(fits)));
  // What is listed for users to choose from they may describe themselves, too.
  const std::string own = browse.empty() ? "" : "a file of your own (`tbdsim docs formats`)";
  const std::string bare = without_maker(name);
  return fail(
      fmt::format("no {} called \"{}\"{}", noun, name, name_hint(bare == fold_name(name) ? name : bare, ids, browse, own)));
}

Result<std::vector<std::pair<std::string, std::string>>> catalogue_aliases(const Catalogue& catalogue,
                                                                           const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> aliases;
  const std::string path = catalogue.root + "/hardware/aliases.toml";
  if (!is_file(path)) return aliases;
  auto file = TomlFile::open(path);
  if (!file) return tl::make_unexpected(file.error());
  TomlTable root = file->root();
  (void)root.integer("schema", kHardwareSchema, kHardwareSchema);
  for (auto& [name, table] : root.named_tables()) {
    for (const std::string& alias : table.keys()) {
      std::string id = table.text(alias);
      if (name == folder) aliases.emplace_back(alias, std::move(id));
    }
  }
  root.finish();
  if (!file->errors().empty()) return tl::make_unexpected(file->errors());
  return aliases;
}

std::vector<std::string> known_names(const Catalogue& catalogue, const Shelf& shelf) {
  std::vector<std::string> names = catalogue_ids(catalogue, shelf.folder);
  if (const auto aliases = catalogue_aliases(catalogue, shelf.folder)) {
    for (const auto& [alias, id] : *aliases) names.push_back(alias);
  }
  return names;
}

std::optional<std::string> known_entry(const Catalogue& catalogue, const Shelf& shelf, const std::string& name) {
  const std::vector<std::string> ids = catalogue_ids(catalogue, shelf.folder);
  if (std::find(ids.begin(), ids.end(), name) != ids.end()) return name;
  const std::string folded = fold_name(name);
  const auto means = [&](const std::string& id) { return fold_name(id) == folded; };
  const auto found = std::find_if(ids.begin(), ids.end(), means);
  if (found != ids.end() && std::none_of(found + 1, ids.end(), means)) return *found;
  if (const auto aliases = catalogue_aliases(catalogue, shelf.folder)) {
    for (const auto& [alias, id] : *aliases) {
      if (means(alias)) return id;
    }
  }
  const std::string bare = without_maker(name);
  return bare == folded ? std::nullopt : known_entry(catalogue, shelf, bare);
}

Result<std::string> resolve_entry(const Catalogue& catalogue, const Shelf& shelf, const std::string& name) {
  if (auto known = known_entry(catalogue, shelf, name)) return *known;
  const auto aliases = catalogue_aliases(catalogue, shelf.folder);
  if (!aliases) return tl::make_unexpected(aliases.error());
  return resolve_name(name, known_names(catalogue, shelf), shelf.noun, listing(shelf));
}

Result<std::string> find_entry(const Catalogue& catalogue, const Shelf& shelf, const std::string& name,
                               const std::string& beside) {
  for (const std::string& candidate : {name, name + std::string(kExtension)}) {
    const std::string path = (std::filesystem::path(beside) / candidate).string();
    if (looks_like_file(candidate) && is_file(path)) return path;
  }
  if (name.find('/') != std::string::npos) return fail(fmt::format("no file \"{}\" beside this one", name));
  return resolve_entry(catalogue, shelf, stem_of(name)).map([&](const std::string& id) {
    return catalogue_path(catalogue, shelf.folder, id);
  });
}

}  // namespace tbdsim
