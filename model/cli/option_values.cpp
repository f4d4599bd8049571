#include "model/cli/option_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "model/configuration/read_option.hpp"
#include "model/input/value_list.hpp"
#include "model/units/parse.hpp"

namespace tbdsim {

std::string set_counts(std::vector<int>& counts, const OptionRow& row, const std::string& text) {
  const std::string name = fmt::format("--{}", row.name);
  const auto list = parse_number_list(name, text);
  if (!list) return list.error().front().message.substr(name.size() + 2);
  counts.clear();
  for (const std::int64_t n : *list) {
    if (n < std::numeric_limits<int>::min() || n > std::numeric_limits<int>::max()) return fmt::format("{} is too large", n);
    counts.push_back(static_cast<int>(n));
  }
  return "";
}

std::string set_bytes(std::optional<Bytes>& bytes, const std::string& text) {
  const auto size = parse<Bytes>(text);
  if (!size || size->base() <= 0.0) return "a size such as 1PB";
  bytes = *size;
  return "";
}

std::string set_samples(std::optional<std::int64_t>& samples, const std::string& asked) {
  std::string text = asked;
  std::int64_t unit = 1;
  if (!text.empty() && (text.back() == 'K' || text.back() == 'k')) unit = 1'000;
  if (!text.empty() && text.back() == 'M') unit = 1'000'000;
  if (unit > 1) text.pop_back();
  const auto count = whole_number(text, 1);
  if (!count) return "a number of samples such as 1281167 or 256K";
  samples = *count * unit;
  return "";
}

std::string set_share(std::optional<double>& share, const std::string& text) {
  const auto value = parse_quantity(text, Dimension::ratio);
  const bool bare = text.find('%') == std::string::npos;
  if (!value || *value < 0.0 || (bare && *value >= 1.0)) return "a share such as \"8 %\" or 0.08";
  share = *value;
  return "";
}

std::string set_shard(std::size_t& shard, std::size_t& shards, const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto index = whole_number(std::string_view(text).substr(0, slash), 1);
  const auto count = slash < text.size() ? whole_number(std::string_view(text).substr(slash + 1), 1) : std::nullopt;
  if (!index || !count || *index > *count) return "a shard such as 2/8";
  shard = static_cast<std::size_t>(*index - 1);
  shards = static_cast<std::size_t>(*count);
  return "";
}

std::string set_format(Format& format, const std::string& text) {
  if (text == "table")
    format = Format::table;
  else if (text == "json")
    format = Format::json;
  else if (text == "csv")
    format = Format::csv;
  else
    return "table, json or csv";
  return "";
}

std::string set_view(MemoryView& view, const std::string& text) {
  if (text == "structure")
    view = MemoryView::structure;
  else if (text == "layer")
    view = MemoryView::layer;
  else if (text == "type")
    view = MemoryView::type;
  else if (text == "time")
    view = MemoryView::time;
  else
    return "structure, layer, type or time";
  return "";
}

}  // namespace tbdsim
