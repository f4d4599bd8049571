#pragma once
#include <string_view>

namespace tbdsim {

/// What kind of quantity a text with a unit denotes.
enum class Dimension { time, size, flop_count, bandwidth, flop_rate, frequency, power, energy, money, money_rate, ratio };

/// How a dimension is named and shown in messages, e.g. {"a bandwidth", "25 GB/s"}.
struct DimensionWords {
  std::string_view noun;     ///< "a bandwidth"
  std::string_view example;  ///< "25 GB/s"
};
[[nodiscard]] DimensionWords words(Dimension dimension);

/// A number in base units together with what it measures.
struct Measured {
  double base = 0.0;
  Dimension dimension = Dimension::ratio;
};

}  // namespace tbdsim
