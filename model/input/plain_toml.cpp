#include "model/input/plain_toml.hpp"

#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

using Kind = TomlValue::Kind;

/// A table of more keys goes to the library, whose search for a repeated key is not linear.
constexpr std::size_t kMostKeys = 256;
/// What nests deeper goes to the library, behind `nesting_problem`.
constexpr int kDeepest = 8;
/// Longer than any number that a person writes.
constexpr std::size_t kLongestNumber = 24;

bool digit(char c) { return c >= '0' && c <= '9'; }
bool of_bare_key(char c) { return digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-'; }

/// How a number is written: `3`, `-0.5`, `1e-9`; nothing else that begins with a digit or a sign.
std::optional<Kind> kind_of_number(std::string_view text) {
  std::size_t i = text.front() == '-' ? 1 : 0;
  const auto digits = [&] {
    const std::size_t from = i;
    while (i < text.size() && digit(text[i])) ++i;
    return i - from;
  };
  const std::size_t first = i, whole = digits();
  if (whole == 0 || (whole > 1 && text[first] == '0')) return std::nullopt;
  if (i == text.size()) return Kind::integer;
  if (text[i] == '.' && (++i, digits() == 0)) return std::nullopt;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (digits() == 0) return std::nullopt;
  }
  return i == text.size() ? std::optional(Kind::decimal) : std::nullopt;
}

/// Whether `[name]` or `[[name]]` made the value of a key: the bracket precedes the name. A value follows it.
bool made_by_header(const TomlMember& member) {
  return std::pair(member.value.place.line, member.value.place.column) <
         std::pair(member.key_place.line, member.key_place.column);
}

/// Whether `name.key = ...` did: the table stands where its name does.
bool made_by_dot(const TomlMember& member) {
  return member.value.place.line == member.key_place.line && member.value.place.column == member.key_place.column;
}

/// Every function returns false, or nothing, where the text is not plain.
class PlainReader {
 public:
  explicit PlainReader(std::string_view text) : text_(text) {}

  std::optional<TomlValue> read() {
    TomlValue root;
    root.place = {1, 1, 0};
    TomlValue* table = &root;
    while (skip_blank_lines(), at_ < text_.size()) {
      if (text_[at_] == '[') {
        table = header(root);
        if (table == nullptr) return std::nullopt;
      } else if (!assignment(*table, 0)) {
        return std::nullopt;
      }
      if (!end_of_line()) return std::nullopt;
    }
    if (!plain_) return std::nullopt;
    index_all(root);
    return root;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0, line_begin_ = 0;
  std::size_t more_bytes_ = 0;  ///< of the line so far, beyond one for each character
  int line_ = 1;
  bool plain_ = true;  ///< false: a comment holds what no text does

  [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\n'; }
  [[nodiscard]] TextPlace here() const { return {line_, static_cast<int>(at_ - line_begin_ - more_bytes_) + 1, 0}; }
  void close(TextPlace& place) const {
    if (place.line == line_) place.width = here().column - place.column;
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  /// One character of a comment or string.
  bool character() {
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte < 0x80) {
      ++at_;
      return (byte >= 0x20 && byte != 0x7F) || byte == '\t';
    }
    const std::size_t length = utf8_length(text_.substr(at_));
    // U+0080 to U+009F act on a terminal.
    if (length == 0 || (byte == 0xC2 && static_cast<unsigned char>(text_[at_ + 1]) < 0xA0)) return false;
    at_ += length;
    more_bytes_ += length - 1;
    return true;
  }
  void skip_comment() {
    if (next() != '#') return;
    while (plain_ && at_ < text_.size() && text_[at_] != '\n') plain_ = character();
  }
  /// Spaces, comments and ends of lines.
  void skip_blank_lines() {
    for (skip_spaces(), skip_comment(); plain_ && at_ < text_.size() && text_[at_] == '\n'; skip_spaces(), skip_comment()) {
      line_begin_ = ++at_;
      more_bytes_ = 0;
      ++line_;
    }
  }
  bool end_of_line() {
    skip_spaces();
    skip_comment();
    return plain_ && next() == '\n';
  }

  std::string_view bare_key() {
    const std::size_t from = at_;
    while (at_ < text_.size() && of_bare_key(text_[at_])) ++at_;
    return text_.substr(from, at_ - from);
  }

  /// Its key, and a value that is still empty; null where the table has it already, or too many.
  TomlMember* key(TomlValue& table) {
    TextPlace place = here();
    const std::string_view name = bare_key();
    close(place);
    if (name.empty() || table.members.size() >= kMostKeys || table.find(name) != nullptr) return nullptr;
    TomlMember& member = table.members.emplace_back();
    member.key = name;
    member.key_place = place;
    return &member;
  }

  /// `key = value` or `table.key = value`.
  bool assignment(TomlValue& table, int depth) {
    const std::size_t from = at_;
    const std::string_view name = bare_key();
    if (next() == '.') {
      TomlMember* found = table.find(name);
      if (found == nullptr) {
        at_ = from;
        found = key(table);
        if (found == nullptr) return false;
        found->value.place = found->key_place;
      } else if (!made_by_dot(*found)) {
        return false;
      }
      ++at_;
      return depth < kDeepest && assignment(found->value, depth + 1);
    }
    at_ = from;
    TomlMember* const member = key(table);
    if (member == nullptr) return false;
    skip_spaces();
    if (next() != '=') return false;
    ++at_;
    skip_spaces();
    return value(member->value, depth);
  }

  /// The table that `[a.b]` or `[[a.b]]` opens.
  TomlValue* header(TomlValue& root) {
    const std::size_t end = text_.find_first_of("]\n", at_);
    if (end == std::string_view::npos || text_[end] != ']') return nullptr;
    TextPlace place = here();
    const std::size_t begin = at_;
    const bool element = text_.substr(at_, 2) == "[[";
    const std::size_t brackets = element ? 2 : 1;
    if (element && text_.substr(end, 2) != "]]") return nullptr;
    at_ = end + brackets;
    close(place);  // the name has one byte for each character, or it is refused below
    at_ = begin + brackets;
    TomlValue* table = &root;
    for (int depth = 0; table != nullptr && text_[at_] != ']'; ++depth) {
      if (depth > 0 && text_[at_++] != '.') return nullptr;
      if (depth >= kDeepest) return nullptr;
      table = part_of_header(*table, end, element, place);
    }
    if (at_ != end || table == &root) return nullptr;
    at_ = end + brackets;
    return table;
  }

  /// Goes from a table to the one that the next part of a header names, made where it is missing.
  TomlValue* part_of_header(TomlValue& table, std::size_t end, bool element, const TextPlace& place) {
    const std::size_t from = at_;
    const std::string_view name = bare_key();
    const bool last = at_ == end;
    if (TomlMember* const found = table.find(name)) {
      TomlValue& value = found->value;
      if (!made_by_header(*found) || (last && !(element && value.kind == Kind::array))) return nullptr;
      if (value.kind == Kind::table) return &value;
      if (last) {
        value.place.width = 0;  // the array ends on another line now
        value.elements.emplace_back().place = place;
      }
      return &value.elements.back();
    }
    at_ = from;
    TomlMember* const made = key(table);
    if (made == nullptr) return nullptr;
    made->value.place = place;
    if (!last || !element) return &made->value;
    made->value.kind = Kind::array;
    made->value.elements.emplace_back().place = place;
    return &made->value.elements.back();
  }

  bool value(TomlValue& into, int depth) {
    into.place = here();
    const char c = next();
    bool known = false;
    if (c == '"') {
      known = string(into);
    } else if (digit(c) || c == '-') {
      known = number(into);
    } else if (c == '[') {
      known = depth < kDeepest && array(into, depth + 1);
    } else if (c == '{') {
      known = depth < kDeepest && inline_table(into, depth + 1);
    } else {
      known = boolean(into);
    }
    close(into.place);
    return known;
  }

  bool string(TomlValue& into) {
    into.kind = Kind::string;
    std::size_t from = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\') {
        into.text += text_.substr(from, at_ - from);
        from = ++at_;
        if (next() != '"' && next() != '\\') return false;
      }
      if (!character()) return false;
    }
    if (at_ == text_.size()) return false;
    into.text += text_.substr(from, at_ - from);
    ++at_;
    return !into.text.empty() || next() != '"';  // three quotes begin a string of several lines
  }

  /// The characters up to where a value may end.
  std::string_view word() {
    const std::size_t from = at_;
    while (at_ < text_.size() && (of_bare_key(text_[at_]) || text_[at_] == '.' || text_[at_] == '+' || text_[at_] == ':')) ++at_;
    return text_.substr(from, at_ - from);
  }

  bool boolean(TomlValue& into) {
    into.kind = Kind::boolean;
    const std::string_view text = word();
    into.boolean = text == "true";
    return into.boolean || text == "false";
  }

  bool number(TomlValue& into) {
    const std::string_view text = word();
    const auto kind = text.size() > kLongestNumber ? std::nullopt : kind_of_number(text);
    if (!kind) return false;
    into.kind = *kind;
    const char* const end = text.data() + text.size();
    return into.kind == Kind::integer ? std::from_chars(text.data(), end, into.integer).ec == std::errc{}
                                      : std::from_chars(text.data(), end, into.decimal).ec == std::errc{};
  }

  bool array(TomlValue& into, int depth) {
    into.kind = Kind::array;
    for (++at_;;) {
      skip_blank_lines();
      if (plain_ && next() == ']') break;
      if (!value(into.elements.emplace_back(), depth)) return false;
      skip_blank_lines();
      if (plain_ && next() == ']') break;
      if (next() != ',') return false;
      ++at_;
    }
    ++at_;
    return true;
  }

  bool inline_table(TomlValue& into, int depth) {
    ++at_;
    skip_spaces();
    while (next() != '}') {
      if (!assignment(into, depth)) return false;
      skip_spaces();
      if (next() == '}') break;
      if (next() != ',') return false;
      ++at_;
      skip_spaces();
      if (next() == '}') return false;
    }
    ++at_;
    return true;
  }

  static void index_all(TomlValue& value) {
    for (TomlValue& element : value.elements) index_all(element);
    for (TomlMember& member : value.members) index_all(member.value);
    value.index();
  }
};

}  // namespace

std::optional<TomlValue> parse_plain_toml(std::string_view text) { return PlainReader(text).read(); }

}  // namespace tbdsim
