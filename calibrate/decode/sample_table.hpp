#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calibrate/decode/sample_family.hpp"
#include "model/support/result.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim::calibrate {

/// One measured kernel, or one framework call with its launch.
struct Sample {
  std::string device;     ///< catalogue id
  std::string family;     ///< a name of `sample_families()`
  std::string op;         ///< what ran within the family: "matmul", "relu"
  std::string precision;  ///< "fp32", "tf32", "fp16", "bf16", "fp8"
  std::string pass;       ///< "forward", "backward_data", "backward_weights", "backward", "update", "none"
  std::vector<std::pair<std::string_view, std::int64_t>> shape;  ///< keys of the family, in the order of the file
  std::string kind;  ///< the text of a shape: a recurrent layer's cell, a pool's or copy's kind
  Seconds time;
  std::optional<Seconds> spread;
  bool call_timing = false;  ///< the time includes the launch from the host
  std::string algorithm, layout, driver, library, date, flags, source;
  std::optional<Hertz> clock, memory_clock;
  std::optional<Watts> power;
  int line = 0;  ///< in the file, from 1

  /// Value of a key that the family has and that is no text.
  [[nodiscard]] double at(std::string_view key) const;
  /// Whether `flag` is one of the words of `flags`.
  [[nodiscard]] bool flagged(std::string_view flag) const;
  /// Number behind the word `flag=` of `flags`; nullopt if there is none.
  [[nodiscard]] std::optional<double> flag_value(std::string_view flag) const;
};

/// Flag of a sample that ran while the hardware itself held its clock down (too hot, power brake): it says nothing of the board.
inline constexpr std::string_view kHardwareSlowdown = "hardware-slowdown";
/// Flag of a sample of a kernel that frameworks do not launch (cuDNN's softmax, the collector's own layer norm, where they have
/// their own): it shows what the board does, and is no measure of theirs.
inline constexpr std::string_view kStandIn = "stand-in";

/// Words of the columns `precision` and `pass`.
[[nodiscard]] std::span<const std::string_view> sample_precisions();
[[nodiscard]] std::span<const std::string_view> sample_passes();
/// Columns of a sample file, in the order in which tools write them.
[[nodiscard]] std::span<const std::string_view> sample_columns();

/// Reads a sample file (columns: calibrate/samples/README.md), in any order of columns.
/// Errors, all at once: what CsvTable finds; a missing or unknown column; no row; no device or op; an unknown family, pass,
/// precision, timing or shape key (with a suggestion); a key that is missing, repeated or of a value that it cannot
/// have; a time, clock or power that is not above zero; a negative spread.
[[nodiscard]] Result<std::vector<Sample>> read_samples(const std::string& path);
[[nodiscard]] Result<std::vector<Sample>> parse_samples(std::string text, const std::string& name);

}  // namespace tbdsim::calibrate
