#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

#include "model/input/toml_state.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

using Kind = TomlValue::Kind;

/// `above 0`, `from 1 to 64`, `of at least 2`; empty when everything is allowed.
std::string range_text(const Bounds& bounds, const std::function<std::string(double)>& show) {
  const bool low = std::isfinite(bounds.low), high = std::isfinite(bounds.high);
  if (low && high) {
    return bounds.low_open ? fmt::format(" above {} and at most {}", show(bounds.low), show(bounds.high))
                           : fmt::format(" from {} to {}", show(bounds.low), show(bounds.high));
  }
  if (low) return fmt::format(" {} {}", bounds.low_open ? "above" : "of at least", show(bounds.low));
  return high ? fmt::format(" of at most {}", show(bounds.high)) : "";
}

bool within(double value, const Bounds& bounds) {
  return (bounds.low_open ? value > bounds.low : value >= bounds.low) && value <= bounds.high;
}

std::string expected_number(const Bounds& bounds) {
  return "a number" + range_text(bounds, [](double value) { return fmt::format("{}", value); });
}

std::string expected_integer(std::int64_t low, std::int64_t high) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  if (low == high) return fmt::format("{}", low);
  if (low != kLeast && high != kMost) return fmt::format("a whole number from {} to {}", low, high);
  if (low != kLeast) return fmt::format("a whole number of at least {}", low);
  return high != kMost ? fmt::format("a whole number of at most {}", high) : "a whole number";
}

std::string unexpected(std::string_view expected, std::string_view found) {
  return fmt::format("expected {}, got {}", expected, found);
}

double harmless(const Bounds& bounds) {
  if (bounds.low_open) return bounds.low + 1.0;
  return std::isfinite(bounds.low) ? bounds.low : 0.0;
}

}  // namespace

std::string TomlTable::text(std::string_view key) {
  constexpr std::string_view kExpected = "a string";
  const TomlValue* value = node_->require(key, [&] { return std::string(kExpected); });
  if (value == nullptr) return "";
  if (value->kind != Kind::string) {
    node_->note(key, *value, unexpected(kExpected, node_->file->shown(*value)));
  } else if (value->text.empty()) {
    node_->note(key, *value, unexpected(kExpected, "an empty one"));
  }
  return value->text;
}

std::string TomlTable::text_or(std::string_view key, std::string_view fallback) {
  return has(key) ? text(key) : std::string(fallback);
}

std::int64_t TomlTable::integer(std::string_view key, std::int64_t low, std::int64_t high) {
  const auto expected = [&] { return expected_integer(low, high); };
  const TomlValue* value = node_->require(key, expected);
  if (value == nullptr) return low;
  if (value->kind == Kind::integer && value->integer >= low && value->integer <= high) return value->integer;
  const bool right_kind = value->kind == Kind::integer;
  node_->note(key, *value, unexpected(expected(), right_kind ? fmt::format("{}", value->integer) : node_->file->shown(*value)));
  return low;
}

std::int64_t TomlTable::integer_or(std::string_view key, std::int64_t fallback, std::int64_t low, std::int64_t high) {
  return has(key) ? integer(key, low, high) : fallback;
}

double TomlTable::number(std::string_view key, Bounds bounds) {
  const auto expected = [&] { return expected_number(bounds); };
  const TomlValue* value = node_->require(key, expected);
  if (value == nullptr) return harmless(bounds);
  double found = value->kind == Kind::integer ? static_cast<double>(value->integer) : value->decimal;
  if (value->kind == Kind::string) {
    const auto measured = parse_measured(value->text);
    if (!measured || measured->dimension != Dimension::ratio) {
      const bool quoted_number = parse_quantity(value->text, Dimension::ratio).has_value();
      const std::string shown = node_->file->shown(*value);
      node_->note(key, *value, unexpected(expected(), quoted_number ? shown + "; write it without quotes" : shown));
      return harmless(bounds);
    }
    found = measured->base;
  } else if (value->kind != Kind::integer && value->kind != Kind::decimal) {
    node_->note(key, *value, unexpected(expected(), node_->file->shown(*value)));
    return harmless(bounds);
  }
  if (std::isfinite(found) && within(found, bounds)) return found;
  const std::string written = value->kind == Kind::string ? fmt::format("\"{}\"", value->text) : node_->file->as_written(*value);
  node_->note(key, *value, unexpected(std::isfinite(found) ? expected() : "a finite number", written));
  return harmless(bounds);
}

double TomlTable::number_or(std::string_view key, double fallback, Bounds bounds) {
  return has(key) ? number(key, bounds) : fallback;
}

bool TomlTable::boolean_or(std::string_view key, bool fallback) {
  if (!has(key)) return fallback;
  const TomlValue* value = node_->find(key);
  if (value->kind == Kind::boolean) return value->boolean;
  node_->note(key, *value, unexpected("true or false", node_->file->shown(*value)));
  return fallback;
}

std::vector<std::string> TomlTable::texts_or_empty(std::string_view key) {
  std::vector<std::string> texts;
  if (!has(key)) return texts;
  const TomlValue* value = node_->find(key);
  if (value->kind != Kind::array) {
    node_->note(key, *value, unexpected("an array of strings", node_->file->shown(*value)));
    return texts;
  }
  for (std::size_t i = 0; i < value->elements.size(); ++i) {
    const TomlValue& element = value->elements[i];
    texts.push_back(element.text);
    if (element.kind == Kind::string && !element.text.empty()) continue;
    const std::string found = element.kind == Kind::string ? "an empty one" : node_->file->shown(element);
    node_->note_element(key, i, element, unexpected("a string", found));
  }
  return texts;
}

std::vector<std::string> TomlTable::scalars(std::string_view key) {
  std::vector<std::string> texts;
  if (!has(key)) return texts;
  const TomlValue* value = node_->find(key);
  const bool array = value->kind == Kind::array;
  for (std::size_t i = 0; i < (array ? value->elements.size() : 1); ++i) {
    const TomlValue& element = array ? value->elements[i] : *value;
    const bool scalar = element.kind != Kind::array && element.kind != Kind::table && element.kind != Kind::date;
    texts.push_back(element.kind == Kind::string ? element.text : node_->file->as_written(element));
    if (!scalar) node_->note(key, element, unexpected("a string, a number or a list of them", node_->file->shown(element)));
  }
  return texts;
}

std::vector<std::int64_t> TomlTable::integers_or_empty(std::string_view key) {
  std::vector<std::int64_t> integers;
  if (!has(key)) return integers;
  const TomlValue* value = node_->find(key);
  if (value->kind != Kind::array) {
    node_->note(key, *value, unexpected("an array of whole numbers", node_->file->shown(*value)));
    return integers;
  }
  for (std::size_t i = 0; i < value->elements.size(); ++i) {
    const TomlValue& element = value->elements[i];
    integers.push_back(element.integer);
    if (element.kind == Kind::integer) continue;
    node_->note_element(key, i, element, unexpected("a whole number", node_->file->shown(element)));
  }
  return integers;
}

std::optional<double> TomlTable::quantity_base(std::string_view key, Dimension wanted, Bounds bounds) {
  const DimensionWords wanted_words = words(wanted);
  const auto expected = [&] { return fmt::format("{} such as \"{}\"", wanted_words.noun, wanted_words.example); };
  const TomlValue* value = node_->require(key, expected);
  if (value == nullptr) return std::nullopt;
  if (value->kind == Kind::integer || value->kind == Kind::decimal) {
    const std::string written = node_->file->as_written(*value);
    const std::string found = written + " (a bare number; write it as a string with its unit)";
    node_->note(key, *value, unexpected(expected(), found));
    return std::nullopt;
  }
  if (value->kind != Kind::string) {
    node_->note(key, *value, unexpected(expected(), node_->file->shown(*value)));
    return std::nullopt;
  }
  const auto base = parse_quantity(value->text, wanted);
  if (!base) {
    node_->note(key, *value, base.error());
    return std::nullopt;
  }
  if (within(*base, bounds)) return *base;
  const auto show = [&](double bound) { return bound == 0.0 ? "0" : format(Measured{bound, wanted}); };
  const std::string range = std::string(wanted_words.noun) + range_text(bounds, show);
  node_->note(key, *value, unexpected(range, fmt::format("\"{}\"", value->text)));
  return std::nullopt;
}

TomlTable TomlTable::table(std::string_view key) {
  constexpr std::string_view kExpected = "a table";
  const TomlValue* value = node_->require(key, [&] { return std::string(kExpected); });
  if (value != nullptr && value->kind != Kind::table) {
    node_->note(key, *value, unexpected(kExpected, node_->file->shown(*value)));
    value = nullptr;
  }
  return TomlTable(node_->file->node(value, joined_key(node_->path, key)));
}

bool TomlTable::is_table(std::string_view key) const {
  const TomlValue* value = has(key) ? node_->find(key) : nullptr;
  return value != nullptr && value->kind == Kind::table;
}

std::optional<TomlTable> TomlTable::table_if(std::string_view key) {
  return has(key) ? std::optional<TomlTable>(table(key)) : std::nullopt;
}

std::vector<TomlTable> TomlTable::tables_or_empty(std::string_view key) {
  std::vector<TomlTable> tables;
  if (!has(key)) return tables;
  const TomlValue* value = node_->find(key);
  if (value->kind != Kind::array) {
    const std::string expected = fmt::format("an array of tables ([[{}]])", joined_key(node_->path, key));
    node_->note(key, *value, unexpected(expected, node_->file->shown(*value)));
    return tables;
  }
  for (std::size_t i = 0; i < value->elements.size(); ++i) {
    const TomlValue& element = value->elements[i];
    if (element.kind != Kind::table) {
      node_->note_element(key, i, element, unexpected("a table", node_->file->shown(element)));
      continue;
    }
    tables.push_back(TomlTable(node_->file->node(&element, fmt::format("{}[{}]", joined_key(node_->path, key), i))));
  }
  return tables;
}

std::vector<std::pair<std::string, TomlTable>> TomlTable::named_tables() {
  std::vector<std::pair<std::string, TomlTable>> tables;
  if (node_->table == nullptr) return tables;
  for (const TomlMember& member : node_->table->members) {
    if (node_->named.count(member.key) == 0 && node_->known.count(member.key) > 0) continue;
    node_->named.insert(member.key);
    if (member.value.kind == Kind::table) {
      tables.emplace_back(member.key, table(member.key));
    } else {
      node_->known.insert(member.key);
      node_->note(member.key, member.value, unexpected("a table", node_->file->shown(member.value)));
    }
  }
  return tables;
}

void TomlTable::problem(std::string_view key, const std::string& message) {
  if (node_->table == nullptr) return;
  const TomlValue* value = key.empty() ? nullptr : node_->find(key);
  if (!key.empty()) node_->know(key);
  node_->note(key, value ? *value : *node_->table, message);
}

SourceRef TomlTable::where(std::string_view key) const {
  if (node_->table == nullptr) return {node_->file->name, 0, 0};
  const TomlValue* value = key.empty() ? nullptr : node_->find(key);
  const TextPlace& place = value ? value->place : node_->table->place;
  return node_->file->place(place.line, place.column);
}

}  // namespace tbdsim
