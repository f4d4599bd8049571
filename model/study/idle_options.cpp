#include "model/study/idle_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/configuration/network_notices.hpp"

namespace tbdsim {
namespace {

/// Values of an option that one note names; a grid may have hundreds.
constexpr std::size_t kMostNamed = 5;

std::string values_text(const std::vector<std::string>& values) {
  const std::size_t named = std::min(values.size(), kMostNamed);
  const std::string text =
      fmt::format("{}", fmt::join(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(named), ", "));
  return named < values.size() ? fmt::format("{} and {} more", text, values.size() - named) : text;
}

}  // namespace

void IdleOptions::add(const std::vector<std::string>& notices) {
  ++predictions_;
  std::set<std::size_t> counted;
  for (const std::string& notice : notices) {
    const auto idle = idle_option(notice);
    if (!idle) continue;
    auto told =
        std::find_if(told_.begin(), told_.end(), [&](const Told& t) { return t.name == idle->name && t.reason == idle->reason; });
    if (told == told_.end()) told = told_.insert(told_.end(), Told{idle->name, idle->reason, {}, 0});
    if (std::find(told->values.begin(), told->values.end(), idle->value) == told->values.end())
      told->values.push_back(idle->value);
    if (counted.insert(static_cast<std::size_t>(told - told_.begin())).second) ++told->predictions;
  }
}

std::vector<std::string> IdleOptions::notices(std::string_view what) const {
  std::vector<std::string> texts;
  for (const Told& told : told_) {
    const std::string some =
        told.predictions < predictions_ ? fmt::format(" ({} of {} {})", told.predictions, predictions_, what) : "";
    texts.push_back(fmt::format("{} {}{}{}", told.name, values_text(told.values), told.reason, some));
  }
  return texts;
}

}  // namespace tbdsim
