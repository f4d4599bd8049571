#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/result.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim::calibrate {

/// One kind of kernel of a sample file and the keys its `shape` must have.
struct SampleFamily {
  std::string_view name;               ///< "conv"
  std::vector<std::string_view> keys;  ///< integers, but for `cell` and `kind`
};
[[nodiscard]] const std::vector<SampleFamily>& sample_families();

/// One measured kernel.
struct Sample {
  std::string device, family, op, precision, pass;
  std::map<std::string, std::int64_t, std::less<>> shape;
  std::string kind;  ///< text value of a shape: an RNN's cell, a pool's or copy's kind
  Seconds time;
  std::optional<Seconds> spread;
  bool call_timing = false;  ///< the time includes the launch from the host
  std::string algorithm, layout, library, date, flags, source;
  std::optional<Hertz> clock;
  int line = 0;

  /// Value of a key that the family is known to have.
  [[nodiscard]] double at(std::string_view key) const { return static_cast<double>(shape.find(key)->second); }
  [[nodiscard]] bool flagged(std::string_view flag) const { return flags.find(flag) != std::string::npos; }
};

/// Reads a sample file (columns and shape keys: calibrate/samples/README.md). Errors, all at once: unknown family, pass,
/// precision, timing or shape key (with a suggestion), a missing or repeated key, a value that is no integer, a time
/// that is not a positive number, no rows.
[[nodiscard]] Result<std::vector<Sample>> read_samples(const std::string& path);
[[nodiscard]] Result<std::vector<Sample>> parse_samples(std::string text, const std::string& name);

}  // namespace tbdsim::calibrate
