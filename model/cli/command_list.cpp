#include <fmt/format.h>

#include <algorithm>

#include "model/cli/catalogue_shelves.hpp"
#include "model/cli/command.hpp"
#include "model/cli/output.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

std::string unknown_kind(const std::string& word) {
  std::vector<std::string> known;
  for (const CatalogueKind& kind : catalogue_kinds()) known.push_back(kind.name);
  const auto near = nearest(word, known);
  return fmt::format("list: unknown kind {}{}", tbdsim::quoted(word),
                     near ? fmt::format(", did you mean \"{}\"?", *near) : fmt::format("; there are {}", fmt::join(known, ", ")));
}

/// The kinds themselves, as entries.
std::vector<CatalogueEntry> kinds_as_entries(const Catalogue& catalogue) {
  std::vector<CatalogueEntry> entries;
  for (const CatalogueKind& kind : catalogue_kinds()) {
    CatalogueEntry entry{"kind", kind.name, kind.name, "", {}, {}};
    entry.add_count("entries", "entries", static_cast<std::int64_t>(kind.ids(catalogue).size()), true);
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<std::vector<CatalogueEntry>> entries_of(const Catalogue& catalogue, const std::string& name) {
  if (name.empty()) return kinds_as_entries(catalogue);
  for (const CatalogueKind& kind : catalogue_kinds()) {
    if (kind.name != name) continue;
    std::vector<CatalogueEntry> entries;
    for (const std::string& id : kind.ids(catalogue)) {
      auto entry = kind.describe(catalogue, id);
      if (!entry) return tl::make_unexpected(entry.error());
      entries.push_back(std::move(*entry));
    }
    return entries;
  }
  return fail(unknown_kind(name));
}

}  // namespace

int run(const ListArguments& arguments, const Catalogue& catalogue) {
  const std::string kind = arguments.kind.empty() ? "kinds" : arguments.kind;
  auto entries = entries_of(catalogue, arguments.kind);
  if (!entries) return report(entries.error());
  if (arguments.bytes) {
    const auto timed = std::count_if(entries->begin(), entries->end(),
                                     [&](CatalogueEntry& entry) { return add_transfer_time(*arguments.bytes, entry); });
    if (timed == 0) return report({Error{fmt::format("list: --bytes is for kinds with a bandwidth: {} have none", kind)}});
  }
  switch (arguments.format) {
    case Format::json:
      return write_result(entries_json(kind, *entries));
    case Format::csv:
      return write_result(entries_csv(*entries));
    case Format::table:
      break;
  }
  return write_result(entries_table(*entries));
}

}  // namespace tbdsim
