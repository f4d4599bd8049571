#include "model/plan/plan_costs.hpp"

#include <fmt/format.h>

#include "model/prediction/cost.hpp"
#include "model/study/payment.hpp"

namespace tbdsim::plan {
namespace {

constexpr double kHoursOfYear = 8760.0, kMillion = 1e6, kJoulesOfKilowattHour = 3.6e6, kPercent = 100.0;
constexpr Seconds kHour{3600.0};

bool bought(const Prediction& p) { return p.cost.hour && paid_by(p) == PaidBy::purchase; }

std::string terms_text(const CostTerms& terms) {
  return fmt::format(", over {:g} year(s) in use {:g} % of the time, {}", terms.years, kPercent * terms.duty,
                     terms.power_price
                         ? fmt::format("power at {:g} USD/kWh with {:g} % more for cooling, without staff",
                                       terms.power_price->base() * kJoulesOfKilowattHour, kPercent * (terms.building() - 1.0))
                         : "without power and staff");
}

}  // namespace

void put_on_terms(Prediction& p, const CostTerms& terms) {
  if (!bought(p)) return;
  const auto owned = ownership(p, terms, PaidBy::purchase);
  if (!owned) return;
  p.cost.hour = p.cost.bought->amount / (terms.years * terms.duty * kHoursOfYear);
  p.cost.million_samples = kMillion * owned->sample;
  std::string& text = p.cost.price.text;
  if (text.ends_with(kPurchaseTerms)) text.resize(text.size() - kPurchaseTerms.size());
  text += terms_text(terms);
  p.cost.bought->hour = *p.cost.hour;
  p.cost.bought->basis.text = text;
}

void add_power(RunEstimate& run, const Prediction& p, const CostTerms& terms) {
  if (terms.power_price && bought(p) && run.cost && run.energy) *run.cost += *run.energy * *terms.power_price;
}

void power_into_hour(Prediction& p, const CostTerms& terms) {
  if (!terms.power_price || !bought(p)) return;
  if (const auto energy = sample_energy(p, terms)) {
    p.cost.hour = *p.cost.hour + *energy * (p.throughput.value * kHour.base()) * *terms.power_price;
    p.cost.bought->hour = *p.cost.hour;
  }
}

}  // namespace tbdsim::plan
