#include "model/input/toml_value.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tbdsim {
namespace {

/// Up to so many members are looked through faster than an order of them is made.
constexpr std::size_t kFew = 16;

}  // namespace

const TomlMember* TomlValue::find(std::string_view key) const {
  if (ordered.empty()) {
    const auto found = std::find_if(members.begin(), members.end(), [&](const TomlMember& member) { return member.key == key; });
    return found == members.end() ? nullptr : &*found;
  }
  const auto before = [&](std::size_t member, std::string_view wanted) { return members[member].key < wanted; };
  const auto found = std::lower_bound(ordered.begin(), ordered.end(), key, before);
  return found == ordered.end() || members[*found].key != key ? nullptr : &members[*found];
}

TomlMember* TomlValue::find(std::string_view key) { return const_cast<TomlMember*>(std::as_const(*this).find(key)); }

void TomlValue::index() {
  ordered.clear();
  if (members.size() <= kFew) return;
  ordered.resize(members.size());
  std::iota(ordered.begin(), ordered.end(), std::size_t{0});
  std::sort(ordered.begin(), ordered.end(), [&](std::size_t a, std::size_t b) { return members[a].key < members[b].key; });
}

std::string_view kind_words(TomlValue::Kind kind) {
  switch (kind) {
    case TomlValue::Kind::string:
      return "a string";
    case TomlValue::Kind::integer:
      return "a whole number";
    case TomlValue::Kind::decimal:
      return "a decimal number";
    case TomlValue::Kind::boolean:
      return "a boolean";
    case TomlValue::Kind::date:
      return "a date or time";
    case TomlValue::Kind::array:
      return "an array";
    case TomlValue::Kind::table:
      return "a table";
  }
  return "";
}

}  // namespace tbdsim
