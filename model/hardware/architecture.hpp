#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// A design of GPUs that the cost models know by name. Files may add its revision: "Maxwell 2.0", "Ada Lovelace".
struct Architecture {
  std::string_view name;
  std::optional<int> generation;  ///< NVIDIA's order of appearance; absent: AMD
};

/// Every architecture, oldest first, NVIDIA's before AMD's.
[[nodiscard]] std::span<const Architecture> architectures();

/// The architecture that `text` names, with or without a revision; null if it is none of the table.
[[nodiscard]] const Architecture* find_architecture(std::string_view text);

/// Whether `text` names the generation `name` (a row of the table), any revision of it.
[[nodiscard]] bool is_architecture(std::string_view text, std::string_view name);

/// The key `architecture`, empty where it is missing, spelled as the table spells it ("volta" is Volta).
/// Problems: no architecture of the table, with a suggestion.
[[nodiscard]] std::string read_architecture(TomlTable& table);

/// For whom a board is sold: consumer boards (GeForce, TITAN) run above the boost clock that they list, others keep to it.
enum class BoardClass { professional, consumer };
[[nodiscard]] std::string_view name(BoardClass board_class);

/// The key `board_class`; professional where it is missing, since boards of that class keep to what they list.
/// Problems: another word, with a suggestion.
[[nodiscard]] BoardClass read_board_class(TomlTable& table);

}  // namespace tbdsim
