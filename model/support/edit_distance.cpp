#include "model/support/edit_distance.hpp"

#include <algorithm>
#include <cstddef>

namespace tbdsim {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

int length_difference(std::string_view a, std::string_view b) {
  return static_cast<int>(std::max(a.size(), b.size()) - std::min(a.size(), b.size()));
}

/// Longest run of letters that both hold, as a part of `a`.
std::string_view shared_run(std::string_view a, std::string_view b) {
  std::vector<std::size_t> previous(b.size() + 1), current(b.size() + 1);
  std::string_view longest;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      current[j] = b[j - 1] == a[i] ? previous[j - 1] + 1 : 0;
      if (current[j] > longest.size()) longest = a.substr(i + 1 - current[j], current[j]);
    }
    previous.swap(current);
  }
  return longest;
}

/// More than half of the word, or the four characters of a model number, must be shared.
std::vector<std::string> of_longest_run(const std::string& folded, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLeast = 3, kNumber = 4;
  std::size_t most = kLeast;
  std::vector<std::string> found;
  for (const std::string& candidate : candidates) {
    const std::string name = fold_name(candidate);
    const std::string_view run = shared_run(folded, name);
    const bool number = run.size() >= kNumber && run.find_first_of("0123456789") != std::string_view::npos;
    if (run.size() < most || (2 * run.size() <= folded.size() && !number)) continue;
    if (run.size() > most) found.clear();
    found.push_back(candidate);
    most = run.size();
  }
  return found;
}

/// A catalogue name is shorter; what is longer is no slip, and comparing it would only take time.
constexpr std::size_t kLongestName = 64;

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the alignment matrix; a swap of neighbours looks two rows back.
  std::vector<int> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) current[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(previous);
    previous.swap(current);
    current[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int substitution = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({substitution, previous[j] + 1, current[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
  }
  return current[b.size()];
}

std::string fold_name(std::string_view name) {
  std::string folded;
  for (const char c : name) {
    if (c != '-' && c != '_' && c != '.' && c != ' ') folded += lower(c);
  }
  return folded;
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string folded = fold_name(word);
  int best = std::max(1, static_cast<int>(folded.size() / 3)) + 1;
  std::optional<std::string> found;
  for (const std::string& candidate : candidates) {
    const std::string other = fold_name(candidate);
    if (length_difference(folded, other) >= best) continue;
    // Replacing every letter is no slip: a one-letter word is near only to itself and to its neighbours in length.
    const int distance = edit_distance(folded, other);
    if (distance < best && distance < static_cast<int>(std::max<std::size_t>(other.size(), 1))) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

std::vector<std::string> near_names(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string folded = fold_name(word);
  if (folded.empty() || folded.size() > kLongestName) return {};
  std::vector<std::string> found, holding;
  for (const std::string& candidate : candidates) {
    const std::size_t at = fold_name(candidate).find(folded);
    if (at == 0) found.push_back(candidate);
    if (at != 0 && at != std::string::npos && folded.size() > 2) holding.push_back(candidate);
  }
  found.insert(found.end(), holding.begin(), holding.end());
  if (!found.empty()) return found;
  const auto near = nearest(word, candidates);
  return near ? std::vector<std::string>{*near} : of_longest_run(folded, candidates);
}

}  // namespace tbdsim
