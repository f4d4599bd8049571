#include "model/validation/claim_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "model/configuration/option_table.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

std::vector<std::string> known_options() {
  std::vector<std::string> names;
  for (const OptionRow& option : option_table())
    if (option.stands(kInClaim)) names.emplace_back(option.name);
  return names;
}

}  // namespace

std::string claim_option_name(std::string_view option) {
  std::string name(option);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string claim_option_problem(std::string_view option, std::string_view value) {
  const std::string name = claim_option_name(option);
  if (find_option(name, kInClaim) != nullptr) {
    const bool dash = value.substr(0, 1) == "-" || value.find(" -") != std::string_view::npos;
    return dash ? fmt::format("expected a value, got {}", quoted(value)) : std::string();
  }
  const auto near = nearest(name, known_options());
  return fmt::format("claims and grids take only options that change a prediction{}",
                     near ? fmt::format(", did you mean \"{}\"?", *near) : "");
}

bool adds_part(std::string_view option) {
  const OptionRow* const row = find_option(option, kInClaim);
  return row != nullptr && row->flag() && std::holds_alternative<std::monostate>(row->landing) && row->verbs.has(Verb::predict);
}

std::string unread_part_problem(std::string_view option, const std::vector<std::string>& leaves) {
  const std::string part = claim_option_name(option);
  if (!adds_part(part)) return "";
  const auto names = [&](const std::string& leaf) {
    return fmt::format(".{}.", leaf).find(fmt::format(".{}.", part)) != std::string::npos;
  };
  if (std::any_of(leaves.begin(), leaves.end(), names)) return "";
  return fmt::format("changes no prediction: it asks for {}.*, which no claim here names; leave it out", part);
}

bool may_name_file(std::string_view option) {
  const OptionRow* const row = find_option(option, kInClaim);
  return row != nullptr && row->file;
}

}  // namespace tbdsim
