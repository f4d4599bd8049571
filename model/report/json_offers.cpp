#include "model/report/json_parts.hpp"
#include "model/study/ownership.hpp"

namespace tbdsim::json {

Json cost_terms(const CostTerms& terms) {
  constexpr double kJoulesOfKilowattHour = 3.6e6;
  return {{"years", terms.years},
          {"duty", terms.duty},
          {"usd_per_kwh", terms.power_price ? Json(terms.power_price->base() * kJoulesOfKilowattHour) : Json(nullptr)},
          {"cooling", terms.building()}};
}

void add_offers(const Comparison& comparison, const CostTerms& terms, Json& json) {
  constexpr double kMillion = 1e6;
  json["terms"] = cost_terms(terms);
  json["terms"]["budget_usd"] = or_null(terms.budget);
  json["terms"]["objective"] = name(terms.objective);
  const std::vector<Offer> offers = rank_offers(comparison, terms);
  if (const auto even = break_even(comparison, offers, terms))
    json["break_even"] = {{"bought_row", offers[even->bought].candidate},
                          {"rented_row", offers[even->rented].candidate},
                          {"years", or_null(even->years)}};
  json["offers"] = Json::array();
  for (const Offer& offer : offers)
    json["offers"].push_back({{"rank", offer.rank ? Json(*offer.rank) : Json(nullptr)},
                              {"row", offer.candidate},
                              {"paid_by", offer.by == PaidBy::purchase ? "purchase" : "rent"},
                              {"machines_usd", offer.cost.machines.base()},
                              {"host_usd", offer.cost.host.base()},
                              {"power_usd", offer.cost.power.base()},
                              {"total_usd", offer.cost.total.base()},
                              {"usd_per_million_samples", offer.cost.sample.base() * kMillion},
                              {"joule_per_sample", or_null(offer.energy)},
                              {"affordable", offer.cost.affordable}});
}

}  // namespace tbdsim::json
