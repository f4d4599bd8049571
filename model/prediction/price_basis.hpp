#pragma once
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

}  // namespace tbdsim
