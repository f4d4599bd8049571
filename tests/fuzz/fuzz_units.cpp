// Any bytes as a quantity; what is read must survive being written and read again.
#include <cmath>

#include "model/units/format.hpp"
#include "model/units/parse.hpp"
#include "model/units/plausible.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::bytes(data, size);
  const auto bandwidth = parse_quantity(text, Dimension::bandwidth);
  if (!bandwidth) fuzz::require_good({Error{bandwidth.error()}});
  const auto measured = parse_measured(text);
  if (!measured) {
    fuzz::require_good({Error{measured.error()}});
    return 0;
  }
  fuzz::require(std::isfinite(measured->base), "a quantity is finite");
  const double magnitude = std::abs(measured->base);
  const PlausibleMagnitudes bounds = plausible(Dimension::bandwidth);
  const bool taken = magnitude == 0.0 || (magnitude >= bounds.least && magnitude <= bounds.most);
  fuzz::require(bandwidth.has_value() == (measured->dimension == Dimension::bandwidth && taken), "both readers agree");
  // At either end of the range of double a rounded value may fall outside it.
  if (magnitude != 0.0 && (magnitude < 1e-280 || magnitude > 1e280)) return 0;
  constexpr int kDigits = 6;
  const auto again = parse_measured(format(*measured, kDigits));
  fuzz::require(again.has_value(), "what format writes can be read");
  fuzz::require(again->dimension == measured->dimension, "the dimension survives");
  fuzz::require(std::abs(again->base - measured->base) <= 1e-5 * magnitude, "the value survives but for rounding");
  return 0;
}
