#pragma once
#include "model/prediction/run/run_estimate.hpp"
#include "model/study/ownership.hpp"

namespace tbdsim::plan {

/// Puts what a bought machine costs on these terms: price over the years in which it is used, and power with cooling. What is
/// rented stays as it is: rent is paid while jobs run, with its power. The hour holds the machine alone until `power_into_hour`,
/// since a run draws another power than its machines' limit.
void put_on_terms(Prediction& prediction, const CostTerms& terms);
/// Adds its power to the cost of a run that was estimated of the machine alone.
void add_power(RunEstimate& run, const Prediction& prediction, const CostTerms& terms);
/// Adds power to the hour of a bought machine.
void power_into_hour(Prediction& prediction, const CostTerms& terms);

}  // namespace tbdsim::plan
