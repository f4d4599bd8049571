#include "model/support/find_named.hpp"

#include <fmt/format.h>

namespace tbdsim {

tl::unexpected<Errors> unknown_name(std::string_view what, const std::string& name, const std::vector<std::string>& names) {
  const auto near = nearest(name, names);
  return fail(
      fmt::format("unknown {} \"{}\"{}", what, name,
                  near ? fmt::format(", did you mean \"{}\"?", *near) : fmt::format("; there are {}", fmt::join(names, ", "))));
}

}  // namespace tbdsim
