#include "model/cost/serial_reverse.hpp"

#include <array>

namespace tbdsim {
namespace {

// measured: see the header.
constexpr Seconds kPascal(0.61e-6), kVolta(0.305e-6), kTuring(0.21e-6);

}  // namespace

Seconds serial_reverse_time(double batch, double width, std::string_view architecture) {
  const auto is = [&](std::string_view name) { return architecture.substr(0, name.size()) == name; };
  constexpr std::array<std::string_view, 3> kEarlier{"Kepler", "Maxwell", "Pascal"};
  for (const std::string_view name : kEarlier)
    if (is(name)) return batch * width * kPascal;
  return batch * width * (is("Volta") ? kVolta : kTuring);
}

}  // namespace tbdsim
