#include "model/report/price_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/prediction/cost.hpp"
#include "model/report/text_table.hpp"
#include "model/study/compare_front.hpp"

namespace tbdsim {
namespace {

constexpr std::size_t kWidth = 80;

/// "58.6 M": three digits of a large number.
std::string count_text(double value) {
  constexpr std::array kPrefixes{std::pair{1e12, " T"}, std::pair{1e9, " G"}, std::pair{1e6, " M"}, std::pair{1e3, " k"}};
  for (const auto& [scale, prefix] : kPrefixes)
    if (value >= scale) return number_text(value / scale) + prefix;
  return number_text(value);
}

/// "149000", "24.48".
std::string usd_text(Usd amount) {
  constexpr double kCentsCount = 100.0;
  return fmt::format("{:.{}f}", amount.base(), amount.base() < kCentsCount ? 2 : 0);
}

/// Without the word for its kind, revisions cut short.
std::string source_text(const std::string& source) {
  constexpr std::size_t kRevision = 40, kShown = 7;
  std::string text;
  std::size_t hex = 0;
  for (const char c : source) {
    hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ? hex + 1 : 0;
    text += c;
    if (hex == kRevision) text.resize(text.size() - kRevision + kShown);
  }
  return text;
}

/// Whether a label is too long for the first column of a table.
bool numbered(const Comparison& comparison) {
  return std::any_of(comparison.candidates.begin(), comparison.candidates.end(),
                     [](const Candidate& c) { return c.label.size() > label_width(); });
}

std::string ratio_text(const std::optional<double>& value) { return value ? number_text(*value) : "-"; }

const std::optional<double>& ratio_of(const Candidate& c, PaidBy by) {
  return by == PaidBy::purchase ? c.bought_ratio : c.rented_ratio;
}

std::string payment_table(const Comparison& comparison, PaidBy by) {
  const bool bought = by == PaidBy::purchase;
  TextTable table({{"", Align::left, label_width()},
                   {bought ? "USD" : "USD/h", Align::right},
                   {"price ratio", Align::right},
                   {"speed-up", Align::right},
                   {"speed-up/price", Align::right},
                   {"samples/USD", Align::right},
                   {"front"}});
  const std::vector<bool> front = compare_front(comparison, by);
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i) {
    const Candidate& c = comparison.candidates[i];
    const auto& payment = payment_of(c.prediction, by);
    if (!c.problem.empty() || !payment) continue;
    const auto& ratio = ratio_of(c, by);
    const Usd sample = sample_cost(c.prediction, *payment);
    table.add({candidate_label(comparison, i), usd_text(payment->amount), ratio_text(ratio), number_text(c.speedup.value),
               ratio_text(ratio && *ratio > 0.0 ? std::optional(c.speedup.value / *ratio) : std::nullopt),
               sample > Usd(0.0) ? count_text(Usd(1.0) / sample) : "-", front[i] ? "*" : ""});
  }
  return fmt::format("\n{}\n{}", bought ? "Bought: samples of three years of constant use, without power and staff" : "Rented",
                     table.text());
}

/// Sources in the order in which they are first named, so that each is printed once.
class Sources {
 public:
  /// "[1, 3]": the parts of a price's source; that of a host stands behind "; host: ".
  std::string marks(const std::string& source) {
    constexpr std::string_view kHost = "; host: ";
    const std::size_t host = source.find(kHost);
    std::string text = mark(source.substr(0, host));
    if (host != std::string::npos) text += ", " + mark(source.substr(host + kHost.size()));
    return "[" + text + "]";
  }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (std::size_t i = 0; i < sources_.size(); ++i)
      all += "  " + wrapped(fmt::format("[{}] {}", i + 1, source_text(sources_[i])), kWidth, 4) + "\n";
    return all.empty() ? "" : "\nPrices are from\n" + all;
  }

 private:
  std::vector<std::string> sources_;

  std::string mark(const std::string& source) {
    const auto known = std::find(sources_.begin(), sources_.end(), source);
    const auto place = known - sources_.begin();
    if (known == sources_.end()) sources_.push_back(source);
    return std::to_string(place + 1);
  }
};

/// What each price is and when it was seen; rows of one price together.
std::string told_prices(const Comparison& comparison, PaidBy by, bool on_terms, Sources& sources) {
  std::vector<std::pair<std::string, std::string>> told;  // price, rows
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i) {
    const Candidate& c = comparison.candidates[i];
    const auto& payment = payment_of(c.prediction, by);
    if (!c.problem.empty() || !payment) continue;
    const PriceBasis& basis = payment->basis;
    std::string_view seen = basis.text;
    if (on_terms && seen.size() > kPurchaseTerms.size() && seen.substr(seen.size() - kPurchaseTerms.size()) == kPurchaseTerms)
      seen.remove_suffix(kPurchaseTerms.size());
    std::string price =
        fmt::format("{}{} {}", seen, basis.note.empty() ? "" : fmt::format(" ({})", basis.note), sources.marks(basis.source));
    const auto same = std::find_if(told.begin(), told.end(), [&](const auto& t) { return t.first == price; });
    if (same == told.end())
      told.emplace_back(std::move(price), candidate_label(comparison, i));
    else
      same->second += ", " + candidate_label(comparison, i);
  }
  std::string text;
  for (const auto& [price, rows] : told) text += "  " + wrapped(fmt::format("{}: {}", rows, price), kWidth, 4) + "\n";
  return text;
}

std::string without_price(const Comparison& comparison) {
  std::string names;
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i) {
    const Candidate& c = comparison.candidates[i];
    if (!c.problem.empty() || c.prediction.cost.bought || c.prediction.cost.rented) continue;
    names += (names.empty() ? "" : ", ") + candidate_label(comparison, i);
  }
  return names.empty()
             ? ""
             : "\n" +
                   wrapped(fmt::format("No price is known of: {} (--set hw.price='9000 USD' or hw.rent='3 USD/h').", names),
                           kWidth, 2) +
                   "\n";
}

}  // namespace

std::size_t label_width() {
  constexpr std::size_t kLabel = 26;  // of 80
  return kLabel + table_width() - kTextWidth;
}

std::string candidate_label(const Comparison& comparison, std::size_t candidate) {
  if (numbered(comparison)) return fmt::format("#{}", candidate + 1);
  const Candidate& c = comparison.candidates[candidate];
  if (!c.label.empty()) return c.label;
  return c.prediction.job.hardware.empty() ? "(only one)" : c.prediction.job.hardware;
}

std::string candidate_legend(const Comparison& comparison) {
  if (!numbered(comparison)) return "";
  std::string text;
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i)
    text += wrapped(fmt::format("{:<4} {}", candidate_label(comparison, i), comparison.candidates[i].label), kWidth, 5) + "\n";
  return text + "\n";
}

std::string price_report(const Comparison& comparison, const std::optional<CostTerms>& terms) {
  std::string text;
  Sources sources;
  for (const PaidBy by : payments_of(comparison)) {
    if (by == PaidBy::nothing) continue;
    text += (terms ? "" : payment_table(comparison, by)) + told_prices(comparison, by, terms.has_value(), sources);
  }
  return text + sources.text() + without_price(comparison);
}

}  // namespace tbdsim
