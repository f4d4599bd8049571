#include "model/support/find_named.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "model/support/name_words.hpp"

namespace tbdsim {
namespace {

/// More names than this do not help to choose.
constexpr std::size_t kMostNames = 8;
/// A name longer than any of the catalogue shares its words by chance.
constexpr std::size_t kLongestName = 64;

std::string relatives_hint(std::string_view name, const std::vector<std::string>& names, std::string_view browse,
                           std::string_view own) {
  const std::vector<std::string> near =
      name.size() > kLongestName ? std::vector<std::string>{} : relatives(name, names, kMostNames);
  if (near.empty()) return browse.empty() ? "" : fmt::format("; see {}", browse);
  const std::vector<std::string> unheard = missing_words(name, names);
  std::string text =
      fmt::format("; {} \"{}\", the nearest relative{} \"{}\"", unheard.empty() ? "none has all words of" : "none has",
                  unheard.empty() ? std::string(name) : fmt::format("{}", fmt::join(unheard, "\" or \"")),
                  near.size() == 1 ? " is" : "s are", fmt::join(near, "\", \""));
  if (!own.empty()) text += fmt::format(". Describe it in {}", own);
  return browse.empty() ? text : fmt::format("{}{} see {}", text, own.empty() ? ";" : ", or", browse);
}

/// Adds the names that hold every word of `name`, in any order, where it has several.
void add_holding_all(std::string_view name, const std::vector<std::string>& names, std::vector<std::string>& near) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  if (words.size() < 2) return;
  for (const std::string& candidate : names) {
    const std::string folded = fold_name(candidate);
    const bool all = std::all_of(words.begin(), words.end(),
                                 [&](const std::string& word) { return folded.find(fold_name(word)) != std::string::npos; });
    if (all && std::find(near.begin(), near.end(), candidate) == near.end()) near.push_back(candidate);
  }
}

/// First letters of a name's words, and its numbers: "ds2" of "deep_speech_2".
std::string initials(const std::string& name) {
  std::string short_name;
  bool begins = true;
  for (const char c : name) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0,
               letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
    if (digit || (letter && begins)) short_name += fold_name(std::string(1, c));
    begins = !digit && !letter;
  }
  return short_name;
}

/// Adds the names that `name` abbreviates, where nothing is nearer.
void add_abbreviated(std::string_view name, const std::vector<std::string>& names, std::vector<std::string>& near) {
  constexpr std::size_t kLeast = 3;  // two letters abbreviate too many
  const std::string folded = fold_name(name);
  if (!near.empty() || folded.size() < kLeast) return;
  std::copy_if(names.begin(), names.end(), std::back_inserter(near),
               [&](const std::string& candidate) { return initials(candidate) == folded; });
}

}  // namespace

std::string name_hint(std::string_view name, const std::vector<std::string>& names, std::string_view browse,
                      std::string_view own) {
  std::vector<std::string> near = near_names(name, names);
  near.erase(std::remove_if(near.begin(), near.end(), [&](const auto& n) { return !missing_words(name, {n}).empty(); }),
             near.end());
  if (name.size() <= kLongestName) add_holding_all(name, names, near);
  add_abbreviated(name, names, near);
  if (near.empty()) return relatives_hint(name, names, browse, own);
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
