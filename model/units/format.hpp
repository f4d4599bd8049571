#pragma once
#include <string>

#include "model/units/dimension.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Text for people, three significant digits by default, decimal prefixes: "10.4 ms", "25 GB/s", "1.37 GB",
/// "15.7 TFLOP/s", "1.53 GHz", "300 W", "3.06 USD/h". Zero is "0 s". Reading the text back gives the rounded value.
[[nodiscard]] std::string format(Seconds value, int digits = 3);
[[nodiscard]] std::string format(Bytes value, int digits = 3);
[[nodiscard]] std::string format(Flop value, int digits = 3);
[[nodiscard]] std::string format(BytesPerSecond value, int digits = 3);
[[nodiscard]] std::string format(FlopPerSecond value, int digits = 3);
[[nodiscard]] std::string format(Hertz value, int digits = 3);
[[nodiscard]] std::string format(Watts value, int digits = 3);
[[nodiscard]] std::string format(Joules value, int digits = 3);
[[nodiscard]] std::string format(Usd value, int digits = 3);
[[nodiscard]] std::string format(UsdPerSecond value, int digits = 3);
/// The same for a dimension known only when the program runs.
[[nodiscard]] std::string format(Measured value, int digits = 3);

}  // namespace tbdsim
