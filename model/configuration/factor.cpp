#include "model/configuration/factor.hpp"

#include <charconv>
#include <cmath>

namespace tbdsim {

std::optional<double> factor_of(const std::string& value) {
  if (value.size() < 2 || value.back() != 'x') return std::nullopt;
  double factor = 0.0;
  const char* const last = value.data() + value.size() - 1;
  const auto [end, status] = std::from_chars(value.data(), last, factor);
  if (status != std::errc{} || end != last || !std::isfinite(factor)) return std::nullopt;
  return factor;
}

}  // namespace tbdsim
