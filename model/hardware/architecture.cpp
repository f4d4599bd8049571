#include "model/hardware/architecture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "model/input/known_word.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

// Generations in the order in which they appeared; neighbours share more of their design. Ada and Hopper are of one time.
constexpr std::array<Architecture, 11> kArchitectures{{{"Kepler", 0},
                                                       {"Maxwell", 1},
                                                       {"Pascal", 2},
                                                       {"Volta", 3},
                                                       {"Turing", 4},
                                                       {"Ampere", 5},
                                                       {"Ada", 6},
                                                       {"Hopper", 6},
                                                       {"Blackwell", 7},
                                                       {"GCN", std::nullopt},
                                                       {"CDNA", std::nullopt}}};

constexpr std::array<std::string_view, 2> kBoardClasses{"professional", "consumer"};

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

}  // namespace

std::span<const Architecture> architectures() { return kArchitectures; }

const Architecture* find_architecture(std::string_view text) {
  for (const Architecture& row : kArchitectures) {
    const std::string_view head = text.substr(0, row.name.size());
    const bool whole = text.size() == head.size() || text[head.size()] == ' ';
    if (whole && std::equal(head.begin(), head.end(), row.name.begin(), row.name.end(), same_letter)) return &row;
  }
  return nullptr;
}

bool is_architecture(std::string_view text, std::string_view name) {
  const Architecture* const row = find_architecture(text);
  return row != nullptr && row->name == name;
}

std::string read_architecture(TomlTable& table) {
  std::string text = table.text_or("architecture", "");
  if (text.empty()) return text;
  if (const Architecture* row = find_architecture(text)) return std::string(row->name) + text.substr(row->name.size());
  std::vector<std::string> names;
  names.reserve(kArchitectures.size());
  for (const Architecture& row : kArchitectures) names.emplace_back(row.name);
  const auto near = nearest(text, names);
  table.problem("architecture",
                near ? fmt::format("no architecture {}, did you mean \"{}\"?", quoted(text), *near)
                     : fmt::format("no architecture {}, expected one of {}, with or without a revision as in \"Maxwell 2.0\"; "
                                   "leave the key out for any other",
                                   quoted(text), fmt::join(names, ", ")));
  return {};
}

std::string_view name(BoardClass board_class) { return kBoardClasses[static_cast<std::size_t>(board_class)]; }

BoardClass read_board_class(TomlTable& table) {
  if (!table.has("board_class")) return BoardClass::professional;
  const std::string text = read_known_word(table, "board_class", kBoardClasses, "class of boards");
  const auto* const found = std::find(kBoardClasses.begin(), kBoardClasses.end(), text);
  return found == kBoardClasses.end() ? BoardClass::professional : static_cast<BoardClass>(found - kBoardClasses.begin());
}

}  // namespace tbdsim
