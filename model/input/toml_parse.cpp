// The only file that includes the TOML library.
#include <fmt/format.h>
// The library asserts, in builds that keep assertions, on table headers that its own checks refuse a moment later.
#define TOML_ASSERT(...) static_cast<void>(0)
#include <toml++/toml.h>

#include <algorithm>
#include <utility>

#include "model/input/note.hpp"
#include "model/input/toml_value.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

TextPlace place_of(const toml::source_region& region) {
  TextPlace place{static_cast<int>(region.begin.line), static_cast<int>(region.begin.column), 0};
  if (region.end.line == region.begin.line && region.end.column > region.begin.column) {
    place.width = static_cast<int>(region.end.column - region.begin.column);
  }
  return place;
}

TomlValue converted(const toml::node& node);

void convert_members(const toml::table& table, TomlValue& into) {
  for (const auto& [key, child] : table)
    into.members.push_back({std::string(key.str()), place_of(key.source()), converted(child)});
  // The library keeps keys sorted; users think in the order of their file.
  std::stable_sort(into.members.begin(), into.members.end(), [](const TomlMember& a, const TomlMember& b) {
    return std::pair(a.key_place.line, a.key_place.column) < std::pair(b.key_place.line, b.key_place.column);
  });
  into.index();
}

TomlValue converted(const toml::node& node) {
  using Kind = TomlValue::Kind;
  TomlValue value;
  value.place = place_of(node.source());
  if (const auto* table = node.as_table()) {
    value.kind = Kind::table;
    convert_members(*table, value);
  } else if (const auto* array = node.as_array()) {
    value.kind = Kind::array;
    for (const toml::node& element : *array) value.elements.push_back(converted(element));
  } else if (const auto* text = node.as_string()) {
    value.kind = Kind::string;
    value.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value.kind = Kind::integer;
    value.integer = integer->get();
  } else if (const auto* decimal = node.as_floating_point()) {
    value.kind = Kind::decimal;
    value.decimal = decimal->get();
  } else if (const auto* boolean = node.as_boolean()) {
    value.kind = Kind::boolean;
    value.boolean = boolean->get();
  } else {
    value.kind = Kind::date;
  }
  return value;
}

/// A control character that an escape (`\u001b`) brought in, which would act on the terminal that it is printed to.
bool has_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F) return true;
    const bool upper = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;  // U+0080 to U+009F
    if (upper) return true;
  }
  return false;
}

void note_controls(const TomlValue& value, std::vector<Note>& notes) {
  if (value.kind == TomlValue::Kind::string && has_control(value.text))
    notes.push_back({fmt::format("expected text without control characters, got {}", tbdsim::quoted(value.text)), value.place});
  for (const TomlValue& element : value.elements) note_controls(element, notes);
  for (const TomlMember& member : value.members) {
    if (has_control(member.key))
      notes.push_back(
          {fmt::format("expected a key without control characters, got {}", tbdsim::quoted(member.key)), member.key_place});
    note_controls(member.value, notes);
  }
}

Errors syntax_error(const toml::parse_error& error, std::string_view text, const std::string& name) {
  TextPlace place = place_of(error.source());
  std::string_view why = error.description();
  constexpr std::string_view kOpening = "Error while parsing ";
  std::string_view part;
  if (why.substr(0, kOpening.size()) == kOpening && why.find(": ") != std::string_view::npos) {
    part = why.substr(kOpening.size(), why.find(": ") - kOpening.size());
    why.remove_prefix(why.find(": ") + 2);
  }
  // Long enough for every message of the library; what it cites from the file may be longer.
  constexpr std::size_t kLongest = 200;
  place.width = std::max(place.width, 1);
  const std::string where = part.empty() ? "" : fmt::format(" ({})", printable(part));
  return in_order({Note{fmt::format("not valid TOML{}: {}", where, printable(why, kLongest)), place}}, text, name);
}

}  // namespace

Result<TomlValue> parse_toml(std::string_view text, const std::string& name) {
  try {
    TomlValue root = converted(toml::parse(text, std::string_view(name)));
    std::vector<Note> notes;
    note_controls(root, notes);
    if (!notes.empty()) return tl::make_unexpected(in_order(notes, text, name));
    return root;
  } catch (const toml::parse_error& error) { return tl::make_unexpected(syntax_error(error, text, name)); }
}

}  // namespace tbdsim
