#pragma once
#include <compare>

namespace tbdsim {

/// A number with a physical dimension: exponents of time, bytes, floating-point operations, energy and money.
/// Held in base units (s, B, FLOP, J, USD). The compiler does the dimensional analysis; a quantity whose
/// exponents are all zero converts to double. A multiply-add is 2 FLOP.
template <int T, int B, int F, int E = 0, int M = 0>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double base) : value_(base) {}
  /// The number of base units. For printing, files and numerics inside one function only.
  [[nodiscard]] constexpr double base() const { return value_; }
  constexpr operator double() const requires(T == 0 && B == 0 && F == 0 && E == 0 && M == 0) { return value_; }
  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity o) {
    value_ += o.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity o) {
    value_ -= o.value_;
    return *this;
  }
  constexpr Quantity& operator*=(double s) {
    value_ *= s;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value_ + b.value_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value_ - b.value_); }
  friend constexpr Quantity operator-(Quantity a) { return Quantity(-a.value_); }
  friend constexpr Quantity operator*(Quantity a, double s) { return Quantity(a.value_ * s); }
  friend constexpr Quantity operator*(double s, Quantity a) { return Quantity(s * a.value_); }
  friend constexpr Quantity operator/(Quantity a, double s) { return Quantity(a.value_ / s); }

 private:
  double value_ = 0.0;
};

template <int T, int B, int F, int E, int M, int T2, int B2, int F2, int E2, int M2>
constexpr auto operator*(Quantity<T, B, F, E, M> a, Quantity<T2, B2, F2, E2, M2> b) {
  return Quantity<T + T2, B + B2, F + F2, E + E2, M + M2>(a.base() * b.base());
}
template <int T, int B, int F, int E, int M, int T2, int B2, int F2, int E2, int M2>
constexpr auto operator/(Quantity<T, B, F, E, M> a, Quantity<T2, B2, F2, E2, M2> b) {
  return Quantity<T - T2, B - B2, F - F2, E - E2, M - M2>(a.base() / b.base());
}
template <int T, int B, int F, int E, int M>
constexpr auto operator/(double s, Quantity<T, B, F, E, M> b) {
  return Quantity<-T, -B, -F, -E, -M>(s / b.base());
}

using Seconds = Quantity<1, 0, 0>;
using Bytes = Quantity<0, 1, 0>;
using Flop = Quantity<0, 0, 1>;
using BytesPerSecond = Quantity<-1, 1, 0>;
using FlopPerSecond = Quantity<-1, 0, 1>;
using Hertz = Quantity<-1, 0, 0>;
using FlopPerByte = Quantity<0, -1, 1>;
using Joules = Quantity<0, 0, 0, 1>;
using Watts = Quantity<-1, 0, 0, 1>;
using Usd = Quantity<0, 0, 0, 0, 1>;
using UsdPerSecond = Quantity<-1, 0, 0, 0, 1>;

inline namespace literals {
constexpr Seconds operator""_s(long double v) { return Seconds(static_cast<double>(v)); }
constexpr Seconds operator""_ms(long double v) { return Seconds(static_cast<double>(v) * 1e-3); }
constexpr Seconds operator""_us(long double v) { return Seconds(static_cast<double>(v) * 1e-6); }
constexpr Bytes operator""_B(unsigned long long v) { return Bytes(static_cast<double>(v)); }
constexpr Bytes operator""_MiB(unsigned long long v) { return Bytes(static_cast<double>(v) * 1048576.0); }
constexpr Bytes operator""_GB(long double v) { return Bytes(static_cast<double>(v) * 1e9); }
constexpr Bytes operator""_GiB(long double v) { return Bytes(static_cast<double>(v) * 1073741824.0); }
constexpr BytesPerSecond operator""_GBps(long double v) { return BytesPerSecond(static_cast<double>(v) * 1e9); }
constexpr FlopPerSecond operator""_TFLOPps(long double v) { return FlopPerSecond(static_cast<double>(v) * 1e12); }
}  // namespace literals

}  // namespace tbdsim
