#pragma once
#include <optional>
#include <string_view>

#include "model/prediction/prediction.hpp"

namespace tbdsim {

/// How the hardware of a job is paid for. Prices and rents are no measure of each other.
enum class PaidBy { nothing, purchase, rent };
/// "purchase", "rent", or "" where no price is known.
[[nodiscard]] std::string_view name(PaidBy by);
/// The one of that name; absent: none has it.
[[nodiscard]] std::optional<PaidBy> find_paid_by(std::string_view name);

/// The payment of a prediction by `by`; absent where it is not known.
[[nodiscard]] const std::optional<Payment>& payment_of(const Prediction& prediction, PaidBy by);
/// By which of both the prediction tells the cost of its samples.
[[nodiscard]] PaidBy paid_by(const Prediction& prediction);
/// USD of a sample.
[[nodiscard]] Usd sample_cost(const Prediction& prediction, const Payment& payment);

}  // namespace tbdsim
