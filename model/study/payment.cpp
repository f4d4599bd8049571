#include "model/study/payment.hpp"

#include <array>
#include <utility>

namespace tbdsim {
namespace {

constexpr std::array kNames{std::pair{PaidBy::nothing, std::string_view("")},
                            std::pair{PaidBy::purchase, std::string_view("purchase")},
                            std::pair{PaidBy::rent, std::string_view("rent")}};

}  // namespace

std::string_view name(PaidBy by) {
  for (const auto& [each, word] : kNames)
    if (each == by) return word;
  return "";
}

std::optional<PaidBy> find_paid_by(std::string_view name) {
  for (const auto& [by, word] : kNames)
    if (word == name) return by;
  return std::nullopt;
}

const std::optional<Payment>& payment_of(const Prediction& prediction, PaidBy by) {
  static const std::optional<Payment> kNone;
  return by == PaidBy::purchase ? prediction.cost.bought : by == PaidBy::rent ? prediction.cost.rented : kNone;
}

PaidBy paid_by(const Prediction& prediction) {
  if (!prediction.cost.million_samples) return PaidBy::nothing;
  return prediction.cost.bought && prediction.cost.bought->basis.basis == prediction.cost.price.basis ? PaidBy::purchase
                                                                                                      : PaidBy::rent;
}

Usd sample_cost(const Prediction& prediction, const Payment& payment) {
  constexpr double kSecondsOfHour = 3600.0;
  return payment.hour / kSecondsOfHour / prediction.throughput.value;
}

}  // namespace tbdsim
