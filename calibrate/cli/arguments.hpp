#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/result.hpp"

namespace tbdsim::calibrate {

/// What an option takes.
enum class Takes { nothing, one, many };

struct Option {
  std::string_view name;  ///< "--samples"
  Takes takes = Takes::one;
};

/// The options of one verb, as given.
class Arguments {
 public:
  /// Errors: an unknown option (with a suggestion), a value without an option, an option without or with a second value.
  [[nodiscard]] static Result<Arguments> parse(const std::string& verb, const std::vector<std::string>& words,
                                               const std::vector<Option>& options);
  [[nodiscard]] bool has(std::string_view option) const { return values_.find(option) != values_.end(); }
  [[nodiscard]] std::vector<std::string> all(std::string_view option) const;
  /// The value of an option, or `fallback`.
  [[nodiscard]] std::string one(std::string_view option, std::string_view fallback = "") const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

}  // namespace tbdsim::calibrate
