#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tbdsim {

/// Options and changed values that are without effect in a study, each told once for all of its predictions.
class IdleOptions {
 public:
  /// Takes in what one more prediction says.
  void add(const std::vector<std::string>& notices);

  /// As `predict` says it, with all values of an option together. Where only some predictions say it, how many do: "(2 of 4
  /// rows)" if `what` is "rows".
  [[nodiscard]] std::vector<std::string> notices(std::string_view what) const;

 private:
  struct Told {
    std::string name, reason;
    std::vector<std::string> values;
    std::size_t predictions = 0;
  };
  std::vector<Told> told_;
  std::size_t predictions_ = 0;
};

}  // namespace tbdsim
