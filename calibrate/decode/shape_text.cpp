#include "calibrate/decode/shape_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim::calibrate {
namespace {

std::vector<std::string> key_names(const SampleFamily& family) {
  std::vector<std::string> names;
  for (const ShapeKey& key : family.keys) names.emplace_back(key.name);
  return names;
}

/// The whole number in `text`, if `key` may have it.
std::optional<std::int64_t> whole_number(const ShapeKey& key, std::string_view text) {
  std::int64_t number = 0;
  const auto [stopped, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool read = status == std::errc() && stopped == text.data() + text.size();
  const std::int64_t least = key.kind == KeyKind::size ? 1 : 0;
  if (!read || number < least || (key.kind == KeyKind::flag && number > 1)) return std::nullopt;
  return number;
}

std::string wanted(const ShapeKey& key) {
  switch (key.kind) {
    case KeyKind::size:
      return "a whole number of at least 1";
    case KeyKind::count:
      return "a whole number of at least 0";
    case KeyKind::flag:
      return "0 or 1";
    case KeyKind::text:
      break;
  }
  return key.words.empty() ? "a word" : fmt::format("one of {}", fmt::join(key.words, ", "));
}

/// Takes one value over; false if the key cannot have it.
bool take(const ShapeKey& key, std::string_view text, Sample& sample) {
  if (key.kind == KeyKind::text) {
    if (text.empty() || (!key.words.empty() && std::find(key.words.begin(), key.words.end(), text) == key.words.end()))
      return false;
    sample.kind = text;
    return true;
  }
  const std::optional<std::int64_t> number = whole_number(key, text);
  if (number) sample.shape.emplace_back(key.name, *number);
  return number.has_value();
}

}  // namespace

std::string unknown_word(std::string_view noun, std::string_view word, const std::vector<std::string>& known) {
  if (const auto near = nearest(word, known))
    return fmt::format("unknown {} {}, did you mean \"{}\"?", noun, quoted(word), *near);
  return fmt::format("unknown {} {}; known are {}", noun, quoted(word), fmt::join(known, ", "));
}

std::vector<std::string> read_shape(std::string_view text, const SampleFamily& family, Sample& sample) {
  std::vector<std::string> problems;
  std::vector<bool> seen(family.keys.size(), false);
  sample.shape.reserve(family.keys.size());
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) {
      problems.push_back(fmt::format("expected key=value, got {}", quoted(pair)));
      continue;
    }
    const std::string_view name = pair.substr(0, equals), value = pair.substr(equals + 1);
    const auto key = std::find_if(family.keys.begin(), family.keys.end(), [&](const ShapeKey& k) { return k.name == name; });
    if (key == family.keys.end()) {
      problems.push_back(unknown_word(fmt::format("key of {}", family.name), name, key_names(family)));
      continue;
    }
    auto&& already = seen[static_cast<std::size_t>(key - family.keys.begin())];
    if (already)
      problems.push_back(fmt::format("key \"{}\" appears twice", name));
    else if (!take(*key, value, sample))
      problems.push_back(fmt::format("{}: expected {}, got {}", name, wanted(*key), quoted(value)));
    already = true;
  }
  std::vector<std::string_view> missing;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i]) continue;
    const ShapeKey& key = family.keys[i];
    if (key.absent)
      sample.shape.emplace_back(key.name, *key.absent);
    else
      missing.push_back(key.name);
  }
  if (!missing.empty())
    problems.push_back(
        fmt::format("missing key{} of {}: {}", missing.size() == 1 ? "" : "s", family.name, fmt::join(missing, ", ")));
  return problems;
}

}  // namespace tbdsim::calibrate
