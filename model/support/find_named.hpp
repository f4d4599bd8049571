#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/support/edit_distance.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

/// What to append to "no GPU called x": the few names that were probably meant, and where several fit or none, `browse`, where
/// to see all of them ("`tbdsim list gpus`"; empty: nothing). A name with a word that none of these has is another thing, for
/// which nothing is guessed: then the names that share most with it, and `own`, how a user describes what is not there.
[[nodiscard]] std::string name_hint(std::string_view name, const std::vector<std::string>& names, std::string_view browse = "",
                                    std::string_view own = "");

/// `unknown input "x"` with the name that was probably meant, or with all there are.
[[nodiscard]] tl::unexpected<Errors> unknown_name(std::string_view what, const std::string& name,
                                                  const std::vector<std::string>& names);

/// The one of `items` whose `name`, folded, is `name`. Errors: none is; `others` are names beside the items'.
template <class Items>
[[nodiscard]] auto find_named(const Items& items, std::string_view what, const std::string& name,
                              std::vector<std::string> others = {}) -> Result<typename Items::value_type> {
  for (const auto& item : items) {
    if (fold_name(item.name) == fold_name(name)) return item;
    others.emplace_back(item.name);
  }
  return unknown_name(what, name, others);
}

}  // namespace tbdsim
