#include "model/hardware/architecture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include "model/input/known_word.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

constexpr std::array<std::string_view, 2> kBoardClasses{"professional", "consumer"};

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

bool begins(std::string_view text, std::string_view name) {
  const std::string_view head = text.substr(0, name.size());
  const bool whole = text.size() == head.size() || text[head.size()] == ' ';
  return !name.empty() && whole && std::equal(head.begin(), head.end(), name.begin(), name.end(), same_letter);
}

std::string with_revision(const Architecture& row) { return fmt::format("{} {}", row.name, row.revision); }

const Architecture& unknown() {
  static const Architecture kUnknown;
  return kUnknown;
}

}  // namespace

int capability_number(const std::string& text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string::npos) return 0;
  return std::atoi(text.substr(0, dot).c_str()) * 10 + std::atoi(text.substr(dot + 1).c_str());
}

bool knows_family(const std::string& cuda, const Architecture& chip) {
  const int release = capability_number(cuda), first = capability_number(chip.cuda);
  return first == 0 || release == 0 || release >= first;
}

bool is_young_for(const std::string& cuda, const Architecture& chip) {
  const int release = capability_number(cuda);
  return release != 0 && release <= capability_number(chip.young_until);
}

Result<Architectures> Architectures::load(const std::string& catalogue_root) {
  return TomlFile::open(catalogue_root + "/hardware/architectures.toml").and_then([](TomlFile file) {
    return read(std::move(file));
  });
}

std::vector<std::string> Architectures::names() const {
  std::vector<std::string> names;
  for (const Architecture& row : families_)
    if (std::find(names.begin(), names.end(), row.name) == names.end()) names.push_back(row.name);
  return names;
}

const Architecture* Architectures::named(std::string_view text) const {
  const auto exact = [&](const Architecture& row) {
    const std::string whole = with_revision(row);
    return !row.revision.empty() && begins(text, whole);
  };
  auto found = std::find_if(families_.begin(), families_.end(), exact);
  if (found == families_.end())
    found = std::find_if(families_.begin(), families_.end(), [&](const auto& row) { return begins(text, row.name); });
  return found == families_.end() ? nullptr : &*found;
}

const Architecture& Architectures::find(std::string_view text, const std::string& capability) const {
  const Architecture* const by_name = named(text);
  const Architecture* row = nullptr;
  const int wanted = capability_number(capability);
  for (const Architecture& family : families_) {
    const int own = capability_number(family.family);
    if (own > 0 && own <= wanted) row = &family;
  }
  // A capability that the file does not list may lie above one of another architecture: the name tells.
  const bool agree = row != nullptr && (by_name == nullptr ? text.empty() : by_name->name == row->name);
  if (agree) return *row;
  return by_name == nullptr ? unknown() : *by_name;
}

const Architecture* Architectures::contradicted(std::string_view text, const std::string& capability) const {
  const Architecture* const by_name = named(text);
  const int wanted = capability_number(capability);
  if (by_name == nullptr || wanted == 0) return nullptr;
  const auto listed = std::find_if(families_.begin(), families_.end(),
                                   [&](const Architecture& family) { return capability_number(family.family) == wanted; });
  return listed != families_.end() && listed->name != by_name->name ? &*listed : nullptr;
}

std::string Architectures::read_name(TomlTable& table) const {
  std::string text = table.text_or("architecture", "");
  if (text.empty()) return text;
  if (const Architecture* row = named(text)) return row->name + text.substr(row->name.size());
  const std::vector<std::string> known = names();
  const auto near = nearest(text, known);
  table.problem("architecture",
                near ? fmt::format("no architecture {}, did you mean \"{}\"?", quoted(text), *near)
                     : fmt::format("no architecture {}, expected one of {}, with or without a revision as in \"Maxwell 2.0\"; "
                                   "leave the key out for any other",
                                   quoted(text), fmt::join(known, ", ")));
  return {};
}

std::string_view name(BoardClass board_class) { return kBoardClasses[static_cast<std::size_t>(board_class)]; }

BoardClass read_board_class(TomlTable& table) {
  if (!table.has("board_class")) return BoardClass::professional;
  return read_word<BoardClass>(table, "board_class", kBoardClasses, "class of boards").value_or(BoardClass::professional);
}

}  // namespace tbdsim
