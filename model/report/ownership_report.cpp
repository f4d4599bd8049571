#include "model/report/ownership_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/report/price_report.hpp"
#include "model/report/text_table.hpp"

namespace tbdsim {
namespace {

constexpr double kHoursOfYear = 8760.0, kJoulesOfKilowattHour = 3.6e6, kMillion = 1e6;

std::string usd_text(Usd amount) { return fmt::format("{:.0f}", amount.base()); }

/// What all rows have in common.
std::string terms_text(const CostTerms& terms) {
  std::string text = fmt::format("On one basis: {:g} year(s), in use {} of the time ({:.0f} h); ", terms.years,
                                 percent_text(terms.duty), terms.years * terms.duty * kHoursOfYear);
  text += terms.power_price ? fmt::format("power at {:g} USD/kWh, {} more for cooling",
                                          terms.power_price->base() * kJoulesOfKilowattHour, percent_text(terms.building() - 1.0))
                            : std::string("power left out (--power-price)");
  if (terms.budget) text += fmt::format("; budget {:g} USD", terms.budget->base());
  return text + fmt::format(". Ranked by {}.", name(terms.objective));
}

std::string rank_text(const Comparison& comparison, const Offer& offer) {
  if (offer.rank) return std::to_string(*offer.rank);
  if (!comparison.candidates[offer.candidate].prediction.memory.fits) return "too big";
  return offer.cost.affordable ? "-" : "too dear";
}

std::string_view paid_text(PaidBy by) { return by == PaidBy::purchase ? "bought" : "rented"; }

/// The fastest of what is within the budget, whatever the ranking is by; "" where samples of several networks do not compare.
std::string fastest_text(const Comparison& comparison, const std::vector<Offer>& offers, const CostTerms& terms) {
  const auto throughput = [&](const Offer& offer) { return comparison.candidates[offer.candidate].prediction.throughput.value; };
  const Offer* fastest = nullptr;
  for (const Offer& offer : offers) {
    const Candidate& c = comparison.candidates[offer.candidate];
    if (c.base != comparison.candidates[offers.front().candidate].base) return "";
    if (!offer.rank) continue;
    if (fastest == nullptr || throughput(offer) > throughput(*fastest)) fastest = &offer;
  }
  const std::string within = terms.budget ? "Fastest within the budget" : "Fastest";
  if (fastest == nullptr) return terms.budget ? "Nothing here holds the job within the budget.\n" : "";
  const Prediction& p = comparison.candidates[fastest->candidate].prediction;
  return paragraph(fmt::format("{}: {}, {}, {} {}s/s for {} USD.", within, candidate_label(comparison, fastest->candidate),
                               paid_text(fastest->by), number_text(throughput(*fastest)),
                               p.samples.unit.empty() ? "sample" : p.samples.unit, usd_text(fastest->cost.total)));
}

/// From when on buying pays; "" where there is no choice.
std::string break_even_text(const Comparison& comparison, const std::vector<Offer>& offers, const CostTerms& terms) {
  const auto found = break_even(comparison, offers, terms);
  if (!found) return "";
  const std::string bought = candidate_label(comparison, offers[found->bought].candidate),
                    rented = candidate_label(comparison, offers[found->rented].candidate);
  if (!found->years)
    return paragraph(
        fmt::format("A sample costs less on {}, rented, than on {}, bought, however long it is used.", rented, bought));
  return paragraph(fmt::format("A sample costs less on {}, bought, than on {}, rented, if it is used for more than {} year(s).",
                               bought, rented, number_text(*found->years)));
}

}  // namespace

std::string ownership_report(const Comparison& comparison, const CostTerms& terms) {
  const std::vector<Offer> offers = rank_offers(comparison, terms);
  if (offers.empty()) return "";
  constexpr std::size_t kNarrower = 6;  // a column more than the other tables
  TextTable table({{"rank", Align::right},
                   {"", Align::left, label_width() - kNarrower},
                   {"paid"},
                   {"machines", Align::right},
                   {"host", Align::right},
                   {"power", Align::right},
                   {"total USD", Align::right},
                   {"USD/M samples", Align::right},
                   {"J with host", Align::right}});
  for (const Offer& offer : offers) {
    const bool bought = offer.by == PaidBy::purchase;
    table.add({rank_text(comparison, offer), candidate_label(comparison, offer.candidate), std::string(paid_text(offer.by)),
               usd_text(offer.cost.machines), bought && offer.cost.host > Usd(0.0) ? usd_text(offer.cost.host) : "in it",
               !bought             ? "in it"
               : terms.power_price ? usd_text(offer.cost.power)
                                   : "-",
               usd_text(offer.cost.total), number_text(offer.cost.sample.base() * kMillion),
               offer.energy ? number_text(offer.energy->base()) : "-"});
  }
  return fmt::format("\n{}{}{}{}", paragraph(terms_text(terms)), table.text(), fastest_text(comparison, offers, terms),
                     break_even_text(comparison, offers, terms));
}

std::vector<std::string> ownership_columns() {
  std::vector<std::string> columns;
  for (const char* by : {"bought", "rented"})
    for (const char* what : {"rank", "machines_usd", "host_usd", "power_usd", "total_usd", "usd_per_million_samples"})
      columns.push_back(fmt::format("{}_{}", by, what));
  columns.emplace_back("joule_per_sample_with_host");
  return columns;
}

std::vector<std::string> ownership_fields(const std::vector<Offer>& offers, std::size_t candidate) {
  std::vector<std::string> fields;
  std::string energy;
  for (const PaidBy by : {PaidBy::purchase, PaidBy::rent}) {
    const auto offer =
        std::find_if(offers.begin(), offers.end(), [&](const Offer& o) { return o.candidate == candidate && o.by == by; });
    if (offer == offers.end()) {
      fields.resize(fields.size() + 6);
      continue;
    }
    fields.push_back(offer->rank ? std::to_string(*offer->rank) : "");
    for (const Usd amount : {offer->cost.machines, offer->cost.host, offer->cost.power, offer->cost.total})
      fields.push_back(fmt::format("{}", amount.base()));
    fields.push_back(fmt::format("{}", offer->cost.sample.base() * kMillion));
    if (offer->energy) energy = fmt::format("{}", offer->energy->base());
  }
  fields.push_back(energy);
  return fields;
}

}  // namespace tbdsim
