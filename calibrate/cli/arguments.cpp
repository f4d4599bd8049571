#include "calibrate/cli/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim::calibrate {
namespace {

tl::unexpected<Errors> unknown(const std::string& verb, const std::string& word, const std::vector<Option>& options) {
  std::vector<std::string> names;
  names.reserve(options.size());
  for (const Option& option : options) names.emplace_back(option.name);
  const auto near = nearest(word, names);
  return fail(near ? fmt::format("calibrate {}: unknown option {}, did you mean \"{}\"?", verb, quoted(word), *near)
                   : fmt::format("calibrate {}: unknown option {}; there are {}", verb, quoted(word), fmt::join(names, ", ")));
}

/// "-8" and "-.5" are values, whatever an option makes of them.
bool names_option(const std::string& word) { return word.size() > 1 && word[0] == '-' && word.find_first_of("0123456789.") != 1; }

}  // namespace

Result<Arguments> Arguments::parse(const std::string& verb, const std::vector<std::string>& words,
                                   const std::vector<Option>& options) {
  Arguments result;
  const Option* current = nullptr;
  const auto missing = [&] {
    return current != nullptr && current->takes != Takes::nothing && result.values_[std::string(current->name)].empty();
  };
  for (const std::string& word : words) {
    if (names_option(word)) {
      if (missing()) return fail(fmt::format("calibrate {}: {}: value missing", verb, current->name));
      const auto found = std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.name == word; });
      if (found == options.end()) return unknown(verb, word, options);
      if (found->takes != Takes::many && result.has(word)) return fail(fmt::format("calibrate {}: {} appears twice", verb, word));
      current = &*found;
      result.values_[word];
      continue;
    }
    const bool room =
        current != nullptr &&
        (current->takes == Takes::many || (current->takes == Takes::one && result.values_[std::string(current->name)].empty()));
    if (!room) return fail(fmt::format("calibrate {}: {} belongs to no option; name files after --samples", verb, quoted(word)));
    result.values_[std::string(current->name)].push_back(word);
  }
  if (missing()) return fail(fmt::format("calibrate {}: {}: value missing", verb, current->name));
  return result;
}

std::vector<std::string> Arguments::all(std::string_view option) const {
  const auto found = values_.find(option);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

std::string Arguments::one(std::string_view option, std::string_view fallback) const {
  const auto found = values_.find(option);
  return found == values_.end() || found->second.empty() ? std::string(fallback) : found->second.front();
}

}  // namespace tbdsim::calibrate
