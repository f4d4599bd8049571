#include "model/cli/unknown_option.hpp"

#include <fmt/format.h>

#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {

std::string suggestion(const std::string& word, const std::vector<std::string>& known) {
  const auto near = nearest(word, known);
  return near ? fmt::format(", did you mean \"{}\"?", *near) : "";
}

std::string unknown_option(std::string_view verb, const std::string& word, const std::vector<std::string>& known) {
  const std::string name = word.substr(0, word.find('='));
  // Other programs' longer names for the same: --batch-size.
  for (const std::string& option : known)
    if (name.size() > option.size() && name.compare(0, option.size() + 1, option + "-") == 0)
      return fmt::format("{}: unknown option {}, did you mean \"{}\"?", verb, tbdsim::quoted(name), option);
  std::string hint = suggestion(name, known);
  // --batchsize
  constexpr std::size_t kShortest = 5;
  for (const std::string& option : known)
    if (hint.empty() && option.size() >= kShortest && name.starts_with(option))
      hint = fmt::format(", did you mean \"{}\"?", option);
  if (hint.empty() && verb == "list") hint = "; name a kind, such as tbdsim list gpus, or nothing for the kinds";
  return fmt::format("{}: unknown option {}{}", verb, tbdsim::quoted(name), hint);
}

}  // namespace tbdsim
