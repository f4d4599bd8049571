#include "calibrate/cli/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
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
  return fail(
      near ? fmt::format("calibrate {}: unknown option {}, did you mean \"{}\"?", verb, tbdsim::quoted(word), *near)
           : fmt::format("calibrate {}: unknown option {}; there are {}", verb, tbdsim::quoted(word), fmt::join(names, ", ")));
}

/// The word that begins what CLI11 says: the option at fault.
std::string faulty(const CLI::ParseError& error) {
  const std::string said = error.what();
  return said.substr(0, said.find_first_of(": "));
}

}  // namespace

Result<Arguments> Arguments::parse(const std::string& verb, const std::vector<std::string>& words,
                                   const std::vector<Option>& options) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  Arguments result;
  for (const Option& option : options) {
    const std::string name(option.name);
    if (option.takes == Takes::nothing) {
      app.add_flag_function(name, [](std::int64_t) {})
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
          ->disable_flag_override();
      continue;
    }
    auto* const added = app.add_option(name)->type_size(1)->type_name("")->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (option.takes == Takes::many) added->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args();
  }
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    // A flag is named without its dashes.
    const std::string name = faulty(error);
    const auto flag = std::find_if(options.begin(), options.end(),
                                   [&](const Option& o) { return o.takes == Takes::nothing && o.name.ends_with(name); });
    return fail(flag != options.end() ? fmt::format("calibrate {}: {}: takes no value", verb, flag->name)
                                      : fmt::format("calibrate {}: {}: value missing", verb, name));
  }
  for (const std::string& word : app.remaining()) {
    if (word.size() > 1 && word[0] == '-') return unknown(verb, word, options);
    const bool files = std::any_of(options.begin(), options.end(),
                                   [](const Option& o) { return o.name == "--samples" && o.takes == Takes::many; });
    return fail(fmt::format("calibrate {}: {} belongs to no option{}", verb, tbdsim::quoted(word),
                            files ? "; name files after --samples" : "; there is one file"));
  }
  for (const Option& option : options) {
    const CLI::Option& given = *app.get_option(std::string(option.name));
    if (given.count() == 0) continue;
    if (option.takes != Takes::many && given.count() > 1)
      return fail(fmt::format("calibrate {}: {} appears twice", verb, option.name));
    std::vector<std::string>& values = result.values_[std::string(option.name)];
    if (option.takes != Takes::nothing) values = given.results();
  }
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
