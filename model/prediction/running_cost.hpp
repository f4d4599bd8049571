#pragma once
#include <optional>
#include <string>

#include "model/units/quantity.hpp"

namespace tbdsim {

/// What an hour of the job's hardware is reckoned by.
struct PriceBasis {
  std::string basis;   ///< "rent" and "price" of this very machine, a kind of the catalogue's rents, "launch_price" of its GPUs
  std::string text;    ///< in words: instance, amount, how long it lasts
  std::string source;  ///< of the amount
  std::string note;    ///< what it pays for beside the job's GPUs; else empty
  std::string date;    ///< when the amount was seen; empty: not known
};

/// One way to pay for the job's hardware. Bought and rented are no measure of each other.
struct Payment {
  Usd amount;  ///< once for what is bought, an hour for what is rented
  Usd hour;    ///< of what is bought, over three years of constant use
  PriceBasis basis;
  Usd host = Usd(0.0);  ///< part of `amount` for machines without their GPUs; zero where both are sold together
};

/// What a job costs while it runs, in money and energy; absent: not known.
struct RunningCost {
  std::optional<Usd> hour, million_samples;
  std::optional<Joules> sample_energy;
  PriceBasis price;  ///< of `hour`; empty without
  std::optional<Payment> bought, rented;
  std::optional<Watts> gpu_power, host_power;  ///< drawn while the job runs, by all of its GPUs and by all else of its nodes
};

}  // namespace tbdsim
