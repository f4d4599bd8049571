#include "model/cost/serial_reverse.hpp"

#include <algorithm>
#include <array>

#include "model/hardware/architecture.hpp"

namespace tbdsim {
namespace {

// measured: see the header.
constexpr Seconds kPascal(0.61e-6), kVolta(0.305e-6), kTuring(0.21e-6);

}  // namespace

Seconds serial_reverse_time(double batch, double width, std::string_view architecture) {
  constexpr std::array<std::string_view, 3> kEarlier{"Kepler", "Maxwell", "Pascal"};
  const auto is = [&](std::string_view name) { return is_architecture(architecture, name); };
  if (std::any_of(kEarlier.begin(), kEarlier.end(), is)) return batch * width * kPascal;
  return batch * width * (is("Volta") ? kVolta : kTuring);
}

}  // namespace tbdsim
