#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What follows from a value that the user changes, where it is not changed as well.
namespace tbdsim {

/// Figures that a file states beside one which they are in proportion to: achieved beside nominal, rates beside their clock.
struct ProportionalValues {
  std::string_view key;
  std::vector<std::string_view> followers;
};
[[nodiscard]] const std::vector<ProportionalValues>& proportional_values();

/// Figures beside a switch that hold for its old position alone, and what they then are, as `--set` takes it.
struct ImpliedValues {
  std::string_view key, position;
  /// A transport under which some values go on to hold for it: they are kept under names of their own, unless those are stated.
  std::string_view kept_of;
  std::vector<std::pair<std::string_view, std::string_view>> kept;
  std::vector<std::pair<std::string_view, std::string>> values;
};
[[nodiscard]] const std::vector<ImpliedValues>& implied_values();

}  // namespace tbdsim
