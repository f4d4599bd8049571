#include "model/configuration/option_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/configuration/read_option.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

using Count = std::optional<int> PredictOptions::*;

Error problem(const OptionChange& change, std::string message) {
  Error error = change.place;
  error.message = std::move(message);
  return error;
}

Error refused(const OptionChange& change, const std::string& expected, const std::string& value) {
  return {fmt::format("--{}: expected {}, got {}", change.option->name, expected, quoted(value))};
}

/// The number that an option has, as changes before have left it in `known`, or by default.
std::optional<int> number_of(const OptionRow& option, const PredictOptions& known) {
  const auto* const count = std::get_if<Count>(&option.landing);
  if (count == nullptr) return std::nullopt;
  return known.**count ? known.**count : whole_number(option.fallback, option.least);
}

Result<int> multiplied(const OptionChange& change, std::optional<int> base) {
  const OptionRow& option = *change.option;
  if (!base)
    return tl::make_unexpected(
        Errors{problem(change, fmt::format("{}: {} multiplies a number, and none is stated", change.key, quoted(change.value)))});
  const double product = *base * *change.factor;
  if (product != std::floor(product))
    return tl::make_unexpected(
        Errors{problem(change, fmt::format("{}: {} of {} is no whole number", change.key, change.value, *base))});
  if (product < option.least || product > option.most)
    return tl::make_unexpected(Errors{refused(change, expected_value(option), fmt::format("{:.15g}", product))});
  return static_cast<int>(product);
}

/// Nodes for more GPUs than a job has on several full nodes.
void fill_nodes(const JobNumbers& before, PredictOptions& options) {
  const int nodes = before.stated.nodes.value_or(1), room = nodes * before.gpus_per_node, gpus = options.gpus.value_or(0);
  if (nodes > 1 && before.stated.gpus == room && gpus > room && gpus % before.gpus_per_node == 0)
    options.nodes = gpus / before.gpus_per_node;
}

bool changes_option(const std::vector<OptionChange>& changes, Count member) {
  return std::any_of(changes.begin(), changes.end(), [&](const OptionChange& change) {
    const auto* const count = std::get_if<Count>(&change.option->landing);
    return count != nullptr && *count == member;
  });
}

}  // namespace

bool need_the_job(const std::vector<OptionChange>& changes) {
  return changes_option(changes, &PredictOptions::gpus) ||
         std::any_of(changes.begin(), changes.end(), [](const OptionChange& change) { return change.factor.has_value(); });
}

Result<void> change_options(const std::vector<OptionChange>& changes, const std::optional<JobNumbers>& before,
                            PredictOptions& options, std::vector<std::string>& notices) {
  PredictOptions known = before ? before->stated : options, changed = options;
  Errors errors;
  for (const OptionChange& change : changes) {
    if (!change.factor) {
      const std::string expected = read_option(*change.option, change.value, changed, Range::checked);
      if (!expected.empty()) errors.push_back(refused(change, expected, change.value));
      if (const auto* const count = std::get_if<Count>(&change.option->landing)) known.** count = changed.**count;
      notices[change.notice] = fmt::format("{} set to {}", change.key, change.value);
      continue;
    }
    const std::optional<int> base = number_of(*change.option, known);
    const auto product = multiplied(change, base);
    if (!product) {
      errors.insert(errors.end(), product.error().begin(), product.error().end());
      continue;
    }
    const Count member = std::get<Count>(change.option->landing);
    if (*product != *base) notices[change.notice] = fmt::format("{}: {} becomes {}", change.key, *base, *product);
    changed.*member = known.*member = *product;
  }
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  if (before && changes_option(changes, &PredictOptions::gpus) && !changes_option(changes, &PredictOptions::nodes))
    fill_nodes(*before, changed);
  options = std::move(changed);
  return {};
}

}  // namespace tbdsim
