#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/hardware/cluster.hpp"

namespace tbdsim {

/// A folder of the catalogue and what messages call one of its entries.
struct Shelf {
  std::string folder;  ///< "gpus"
  std::string noun;    ///< "GPU"
};
inline const Shelf kGpus{"gpus", "GPU"}, kSystems{"systems", "system"}, kHosts{"hosts", "host"}, kNetworks{"networks", "network"},
    kStorage{"storage", "storage"};

[[nodiscard]] std::string catalogue_path(const Catalogue& catalogue, const std::string& folder, const std::string& id);

/// (other name, id) of hardware/aliases.toml for a folder; none when there is no such file. Errors: a broken file.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> catalogue_aliases(const Catalogue& catalogue,
                                                                                         const std::string& folder);
/// Everything that may be said instead of an id: ids, then aliases.
[[nodiscard]] std::vector<std::string> known_names(const Catalogue& catalogue, const Shelf& shelf);
/// Where a user finds what a shelf holds: "`tbdsim list gpus`".
[[nodiscard]] std::string listing(const Shelf& shelf);
/// As resolve_name of cluster.hpp; `browse` says where all names are found (name_hint).
[[nodiscard]] Result<std::string> resolve_name(const std::string& name, const std::vector<std::string>& ids,
                                               const std::string& noun, const std::string& browse);
/// Id that `name` means in one folder, by id or alias; nothing where there is none, or more than one. Without the search for
/// names alike that an error message takes.
[[nodiscard]] std::optional<std::string> known_entry(const Catalogue& catalogue, const Shelf& shelf, const std::string& name);
/// The same, or an error.
[[nodiscard]] Result<std::string> resolve_entry(const Catalogue& catalogue, const Shelf& shelf, const std::string& name);

/// File that `name` means: a file in the folder `beside` (with or without .toml), else a catalogue entry.
[[nodiscard]] Result<std::string> find_entry(const Catalogue& catalogue, const Shelf& shelf, const std::string& name,
                                             const std::string& beside);

/// Ends in .toml or names a folder: the user means a file.
[[nodiscard]] bool looks_like_file(const std::string& name);
/// Name without folder and without .toml.
[[nodiscard]] std::string stem_of(const std::string& path);
[[nodiscard]] bool is_file(const std::string& path);
[[nodiscard]] bool is_folder(const std::string& path);

}  // namespace tbdsim
