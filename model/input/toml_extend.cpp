#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/input/toml_state.hpp"

namespace tbdsim {
namespace {

using Kind = TomlValue::Kind;

constexpr std::string_view kSource = "source", kWithout = "without";

void move_down(TomlValue& value, int lines) {
  value.place.line += lines;
  for (TomlValue& element : value.elements) move_down(element, lines);
  for (TomlMember& member : value.members) {
    member.key_place.line += lines;
    move_down(member.value, lines);
  }
}

/// Whether there was such a member.
bool drop(TomlValue& table, std::string_view key) {
  const auto gone = std::remove_if(table.members.begin(), table.members.end(), [&](const auto& m) { return m.key == key; });
  if (gone == table.members.end()) return false;
  table.members.erase(gone, table.members.end());
  table.index();
  return true;
}

/// The same of "key" or "table.key".
bool drop_path(TomlValue& root, std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return drop(root, path);
  for (TomlMember& member : root.members)
    if (member.key == path.substr(0, dot)) return drop_path(member.value, path.substr(dot + 1));
  return false;
}

class Heir {
 public:
  explicit Heir(std::vector<Note>& notes) : notes_(notes) {}

  void inherit(TomlValue& own, TomlValue base, const std::string& path) {
    if (!path.empty() && base.find(kSource) != nullptr && !own.members.empty() && own.find(kSource) == nullptr)
      notes_.push_back(
          {fmt::format("{}: missing key: the table changes what the file that it extends says there", joined_key(path, kSource)),
           own.members.front().key_place});
    std::vector<TomlMember> more;
    for (TomlMember& member : base.members) {
      TomlMember* const found = own.find(member.key);
      if (found == nullptr) {
        more.push_back(std::move(member));
      } else if (found->value.kind == Kind::table && member.value.kind == Kind::table) {
        inherit(found->value, std::move(member.value), joined_key(path, member.key));
      }
    }
    std::move(more.begin(), more.end(), std::back_inserter(own.members));
    own.index();
  }

 private:
  std::vector<Note>& notes_;
};

}  // namespace

void TomlFile::extend(TomlFile base, const std::vector<std::string_view>& own) {
  Impl& below = *base.impl_;
  if (!impl_->text.empty() && impl_->text.back() != '\n') impl_->text += '\n';
  const int shift = static_cast<int>(split_lines(impl_->text).size());
  move_down(below.root, shift);
  impl_->bases.push_back({below.name, shift + 1});
  for (const TomlBase& further : below.bases) impl_->bases.push_back({further.name, further.first_line + shift});
  for (Note note : below.notes) {
    note.place.line += shift;
    impl_->notes.push_back(std::move(note));
  }
  impl_->text += below.text;
  impl_->lines = split_lines(impl_->text);
  for (const std::string_view key : own) drop(below.root, key);
  TomlTable root = this->root();
  for (const std::string& path : root.texts_or_empty(kWithout))
    if (!drop_path(below.root, path)) root.problem(kWithout, fmt::format("the file that it extends has no \"{}\"", path));
  Heir(impl_->notes).inherit(impl_->root, std::move(below.root), "");
}

}  // namespace tbdsim
