#pragma once
#include <string>
#include <vector>

#include "model/report/catalogue_entry.hpp"

namespace tbdsim {

/// One kind of thing that the catalogue holds.
struct CatalogueKind {
  std::string name;  ///< "gpus"
  std::vector<std::string> (*ids)(const Catalogue& catalogue);
  /// The id that a user's words mean; an error without suggestion matters to nobody.
  Result<std::string> (*resolve)(const Catalogue& catalogue, const std::string& words);
  /// What is known without much work, for lists.
  Result<CatalogueEntry> (*describe)(const Catalogue& catalogue, const std::string& id);
};

/// Every kind, in the order of documentation.
[[nodiscard]] const std::vector<CatalogueKind>& catalogue_kinds();

}  // namespace tbdsim
