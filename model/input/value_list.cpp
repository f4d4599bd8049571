#include "model/input/value_list.hpp"

#include <fmt/format.h>
#include <charconv>
#include <functional>
#include <optional>

#include "model/support/quote.hpp"
#include "model/units/parse.hpp"

namespace tbdsim {
namespace {

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> items;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    items.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Why an item is refused whose digits alone are right; empty: for another reason.
std::string_view beyond_range(std::string_view item) {
  std::int64_t value = 0;
  const std::size_t dots = item.find("..");
  for (const std::size_t begin : {std::size_t{0}, dots == std::string_view::npos ? std::size_t{0} : dots + 2})
    if (std::from_chars(item.data() + begin, item.data() + item.size(), value).ec == std::errc::result_out_of_range)
      return " (a number beyond 64 bits)";
  return "";
}

std::optional<std::int64_t> whole_bytes(std::string_view text) {
  if (const auto plain = whole(text)) return plain;
  const auto size = parse<Bytes>(text);
  if (!size || size->base() < 0.0 || size->base() > 9e18) return std::nullopt;
  return static_cast<std::int64_t>(size->base());
}

/// What one kind of list holds, and how its ranges run without a factor of their own: times `factor`, or plus one at 1.
struct Kind {
  std::optional<std::int64_t> (*read)(std::string_view);
  const char* expected;
  std::int64_t factor;
};

Result<std::vector<std::int64_t>> parse_list(std::string_view option, std::string_view text, const Kind& kind) {
  const auto refuse = [&](std::string_view item, std::string_view why) {
    return fail(fmt::format("{}: expected {}, got {}{}", option, kind.expected, quoted(std::string(item)), why));
  };
  std::vector<std::int64_t> values;
  for (const std::string_view item : split(text)) {
    const std::size_t dots = item.find("..");
    if (dots == std::string_view::npos) {
      const auto value = kind.read(item);
      if (!value) return refuse(item, beyond_range(item));
      values.push_back(*value);
      continue;
    }
    const std::string_view rest = item.substr(dots + 2);
    const std::size_t star = std::min(rest.find('*'), rest.size());
    const auto first = kind.read(item.substr(0, dots)), last = kind.read(rest.substr(0, star));
    const auto factor = star < rest.size() ? whole(rest.substr(star + 1)) : std::optional(kind.factor);
    if (!first || !last || !factor) return refuse(item, beyond_range(item));
    if (*last < *first) return refuse(item, " (it runs down)");
    if (star < rest.size() && *factor < 2) return refuse(item, " (a factor is at least 2)");
    if (*factor > 1 && *first < 1) return refuse(item, " (0 never grows by a factor)");
    for (std::int64_t value = *first;;) {
      values.push_back(value);
      if (values.size() > kLongestList)
        return fail(fmt::format("{}: {} stands for more than {} values", option, item, kLongestList));
      if (*factor > 1 ? value > *last / *factor : value >= *last) break;
      value = *factor > 1 ? value * *factor : value + 1;
    }
  }
  return values;
}

}  // namespace

Result<std::vector<std::int64_t>> parse_number_list(std::string_view option, std::string_view text) {
  return parse_list(option, text, {whole, "whole numbers such as 1,2,4 or 1..8 or 4..128*2", 1});
}

Result<std::vector<Bytes>> parse_size_list(std::string_view option, std::string_view text) {
  const auto numbers = parse_list(option, text, {whole_bytes, "sizes such as 1KiB,1MiB or 1KiB..1GiB", 2});
  if (!numbers) return tl::make_unexpected(numbers.error());
  std::vector<Bytes> sizes;
  sizes.reserve(numbers->size());
  for (const std::int64_t n : *numbers) sizes.emplace_back(static_cast<double>(n));
  return sizes;
}

Result<std::vector<std::string>> parse_word_list(std::string_view option, std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view item : split(text)) {
    if (item.empty()) return fail(fmt::format("{}: expected names between commas, got {}", option, quoted(std::string(text))));
    words.emplace_back(item);
  }
  return words;
}

}  // namespace tbdsim
