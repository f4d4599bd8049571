#include "model/cli/option_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

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
  constexpr std::int64_t kMost = 1'000'000'000'000'000;  // times of steps and doubles stay exact
  std::int64_t count = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), count);
  const bool whole = end == text.data() + text.size() && status != std::errc::invalid_argument;
  if (!whole || (status == std::errc{} && count < 1)) return "a number of samples such as 1281167 or 256K";
  if (status != std::errc{} || count > kMost / unit) return "at most 1e15 samples";
  samples = count * unit;
  return "";
}

std::string set_tokens(std::optional<double>& tokens, const std::string& text) {
  constexpr std::string_view kLetters = "KMBT";
  constexpr double kThousand = 1e3;
  double unit = 1.0;
  std::size_t letter = text.empty() ? std::string_view::npos : kLetters.find(text.back());
  const std::string digits = letter == std::string_view::npos ? text : text.substr(0, text.size() - 1);
  for (; letter != std::string_view::npos && letter <= kLetters.size(); --letter) {
    unit *= kThousand;
    if (letter == 0) break;
  }
  double count = 0.0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  const bool whole = status == std::errc{} && end == digits.data() + digits.size();
  // More than every text ever written, by far.
  constexpr double kMost = 1e18;
  if (!whole || !(count * unit >= 1.0) || count * unit > kMost) return "a number of tokens such as 15T or 300B";
  tokens = count * unit;
  return "";
}

std::string set_share(std::optional<double>& share, const std::string& text) {
  const auto value = parse_quantity(text, Dimension::ratio);
  const bool bare = text.find('%') == std::string::npos;
  if (!value || *value < 0.0 || (bare && *value >= 1.0)) return "a share such as \"8 %\" or 0.08";
  share = *value;
  return "";
}

namespace {

CostTerms& stated(std::optional<CostTerms>& terms) {
  if (!terms) terms.emplace();
  return *terms;
}

std::optional<double> ratio_between(const std::string& text, double least, double most) {
  const auto value = parse_quantity(text, Dimension::ratio);
  return value && *value >= least && *value <= most ? std::optional(*value) : std::nullopt;
}

}  // namespace

namespace {

/// Digits with commas between thousands, without them; nullopt: commas elsewhere.
std::optional<std::string> without_commas(std::string_view digits) {
  constexpr std::size_t kGroup = 3;
  const std::string_view whole = digits.substr(0, digits.find('.'));
  std::string number;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] != ',') {
      number += digits[i];
      continue;
    }
    if (i == 0 || i >= whole.size() || (whole.size() - i) % (kGroup + 1) != 0) return std::nullopt;
  }
  return number;
}

}  // namespace

std::optional<Usd> read_money(const std::string& text) {
  if (const auto exact = parse<Usd>(text)) return *exact;
  std::string_view rest = text;
  const auto skip_blanks = [&] { rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size())); };
  skip_blanks();
  if (rest.starts_with('$')) rest.remove_prefix(1);
  const std::size_t end = std::min(rest.find_first_not_of("0123456789.,"), rest.size());
  const auto digits = without_commas(rest.substr(0, end));
  if (!digits) return std::nullopt;
  double amount = 0.0;
  const auto [stop, status] = std::from_chars(digits->data(), digits->data() + digits->size(), amount);
  if (status != std::errc{} || stop != digits->data() + digits->size()) return std::nullopt;
  rest.remove_prefix(end);
  skip_blanks();
  constexpr double kThousand = 1e3, kMillion = 1e6;
  const double scale = rest.starts_with('k') || rest.starts_with('K') ? kThousand : rest.starts_with('M') ? kMillion : 1.0;
  if (scale > 1.0) rest.remove_prefix(1);
  skip_blanks();
  if (!rest.empty() && rest != "USD" && rest != "$") return std::nullopt;
  return Usd(scale * amount);
}

std::string set_budget(std::optional<CostTerms>& terms, const std::string& text) {
  const auto amount = read_money(text);
  if (!amount || *amount <= Usd(0.0)) return "an amount of money such as \"40000 USD\"";
  stated(terms).budget = *amount;
  return "";
}

std::string set_years(std::optional<CostTerms>& terms, const std::string& text) {
  constexpr double kLeast = 0.01, kMost = 30.0;
  const auto years = ratio_between(text, kLeast, kMost);
  if (!years || text.find('%') != std::string::npos) return "a number of years from 0.01 to 30 such as 3";
  stated(terms).years = *years;
  return "";
}

std::string set_power_price(std::optional<CostTerms>& terms, const std::string& text) {
  constexpr std::string_view kUnit = "/kWh";
  constexpr Joules kKilowattHour(3.6e6);
  const bool unit = text.size() > kUnit.size() && text.compare(text.size() - kUnit.size(), kUnit.size(), kUnit) == 0;
  const bool bare = parse_quantity(text, Dimension::ratio).has_value() && text.find('%') == std::string::npos;
  const auto amount = unit ? read_money(text.substr(0, text.size() - kUnit.size())) : bare ? read_money(text) : std::nullopt;
  if (!amount || *amount < Usd(0.0)) return "a price of energy such as \"0.2 USD/kWh\"";
  stated(terms).power_price = *amount / kKilowattHour;
  return "";
}

std::string set_duty(std::optional<CostTerms>& terms, const std::string& text) {
  const auto share = ratio_between(text, 0.0, 1.0);
  if (!share || *share <= 0.0) return "a share of the time, at most all of it, such as \"60 %\" or 0.6";
  stated(terms).duty = *share;
  return "";
}

std::string set_cooling(std::optional<CostTerms>& terms, const std::string& text) {
  constexpr double kMost = 5.0;
  const auto factor = ratio_between(text, 1.0, kMost);
  if (!factor) return "power of the building over that of its machines, from 1 to 5, such as 1.3";
  stated(terms).cooling = *factor;
  return "";
}

std::string set_objective(std::optional<CostTerms>& terms, const std::string& text) {
  const auto objective = parse_objective(text);
  if (!objective) return "cost, time or energy";
  stated(terms).objective = *objective;
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
