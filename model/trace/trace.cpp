#include "model/trace/trace.hpp"

#include <limits>

namespace tbdsim::trace {

std::int32_t Names::number(std::string_view text) {
  const auto [place, made] = known_.try_emplace(std::string(text), static_cast<std::int32_t>(texts_.size()));
  if (made) texts_.emplace_back(text);
  return place->second;
}

std::optional<Nanoseconds> decimal_nanoseconds(std::string_view text, int exponent) {
  constexpr Nanoseconds kMost = std::numeric_limits<Nanoseconds>::max() / 4;  // two of them add up
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  Nanoseconds value = 0;
  int places = exponent;  // decimal places that are still to come
  bool point = false, digits = false, rounded = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if ((c == 'e' || c == 'E') && digits && i + 1 < text.size() && i + 4 >= text.size()) {
      int power = 0;
      const bool down = text[i + 1] == '-';
      for (std::size_t k = i + ((down || text[i + 1] == '+') ? 2 : 1); k < text.size(); ++k) {
        if (text[k] < '0' || text[k] > '9') return std::nullopt;
        power = 10 * power + (text[k] - '0');
      }
      places += down ? -power : power;
      break;
    }
    if (c < '0' || c > '9') return std::nullopt;
    digits = true;
    if (point && places <= 0) {
      if (!rounded && c >= '5') ++value;
      rounded = true;
      continue;
    }
    if (value > (kMost - 9) / 10) return std::nullopt;
    value = 10 * value + (c - '0');
    if (point) --places;
  }
  if (!digits) return std::nullopt;
  for (; places > 0; --places) {
    if (value > kMost / 10) return std::nullopt;
    value *= 10;
  }
  for (; places < 0 && value > 0; ++places) value = (value + (places == -1 ? 5 : 0)) / 10;
  return negative ? -value : value;
}

}  // namespace tbdsim::trace
