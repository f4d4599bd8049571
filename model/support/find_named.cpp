#include "model/support/find_named.hpp"

#include <fmt/format.h>

namespace tbdsim {
namespace {

/// More names than this do not help to choose.
constexpr std::size_t kMostNames = 8;

}  // namespace

std::string name_hint(std::string_view name, const std::vector<std::string>& names, std::string_view browse) {
  std::vector<std::string> near = near_names(name, names);
  if (near.empty()) return browse.empty() ? "" : fmt::format("; see {}", browse);
  if (near.size() == 1) return fmt::format(", did you mean \"{}\"?", near.front());
  const bool more = near.size() > kMostNames;
  if (more) near.resize(kMostNames);
  return fmt::format(", did you mean one of \"{}\"{}?{}{}", fmt::join(near, "\", \""), more ? " or another" : "",
                     browse.empty() ? "" : " See ", browse);
}

tl::unexpected<Errors> unknown_name(std::string_view what, const std::string& name, const std::vector<std::string>& names) {
  const auto near = nearest(name, names);
  return fail(
      fmt::format("unknown {} \"{}\"{}", what, name,
                  near ? fmt::format(", did you mean \"{}\"?", *near) : fmt::format("; there are {}", fmt::join(names, ", "))));
}

}  // namespace tbdsim
