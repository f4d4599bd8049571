#include "model/support/name_words.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

#include "model/support/edit_distance.hpp"

namespace tbdsim {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Between separators, lower case.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (std::string_view("-_. @/").find(c) != std::string_view::npos)
      words.emplace_back();
    else
      words.back() += fold_name(std::string_view(&c, 1));
  }
  words.erase(std::remove(words.begin(), words.end(), std::string()), words.end());
  return words;
}

/// The runs of letters and of digits of a word.
std::vector<std::string> runs_of(const std::string& word) {
  std::vector<std::string> runs;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (i == 0 || is_digit(word[i]) != is_digit(word[i - 1])) runs.emplace_back();
    runs.back() += word[i];
  }
  return runs;
}

std::string digits_of(const std::string& word) {
  std::string digits;
  std::copy_if(word.begin(), word.end(), std::back_inserter(digits), is_digit);
  return digits;
}

std::string letters_of(std::string word) {
  word.erase(std::remove_if(word.begin(), word.end(), is_digit), word.end());
  return word;
}

bool is_word(const std::string& text) { return std::none_of(text.begin(), text.end(), is_digit); }

/// Whether `a` is `b` without one of its digits or one of two equal letters.
bool one_left_out(const std::string& a, const std::string& b) {
  for (std::size_t i = 0; i < b.size(); ++i) {
    const bool may = is_digit(b[i]) || (i > 0 && b[i] == b[i - 1]);
    if (may && a == b.substr(0, i) + b.substr(i + 1)) return true;
  }
  return false;
}

/// Whether fingers may have made `word` of `target`. Of a code every other letter or digit is another product, so only its order,
/// a letter O for a zero, and a sign too few or too many count. With letters enough for a word one of them may be, too.
bool slip(std::string word, const std::string& target) {
  const int most = std::max(1, static_cast<int>(word.size()) / 3);
  if (word.size() < 3 || edit_distance(word, target) > most) return false;
  if (is_word(word) && is_word(target)) return true;
  if (is_word(word) != is_word(target)) return false;
  for (std::size_t i = 1; i < word.size(); ++i)
    if (word[i] == 'o' && is_digit(word[i - 1])) word[i] = '0';
  if (one_left_out(word, target) || one_left_out(target, word)) return true;
  constexpr std::size_t kLettersOfWord = 5;  // "gtx" and "rtx" are two products
  const std::string letters = letters_of(word), others = letters_of(target);
  const bool too_few_or_many = letters.size() != others.size() && edit_distance(letters, others) == 1;
  if (letters.size() >= kLettersOfWord && digits_of(word) == digits_of(target) && too_few_or_many) return true;
  std::string sorted = word, other = target;
  std::sort(sorted.begin(), sorted.end());
  std::sort(other.begin(), other.end());
  return sorted == other && digits_of(word) == digits_of(target);
}

/// A candidate's name in all the forms that a word may be found in.
struct Forms {
  explicit Forms(const std::string& name) : folded(fold_name(name)), words(words_of(name)) {
    for (const std::string& word : words) {
      for (std::string& run : runs_of(word)) runs.push_back(std::move(run));
    }
  }
  std::string folded;
  std::vector<std::string> words, runs;
};

/// Two letters are held by too many names: a short word must begin a word or a run of the candidate.
bool holds(const Forms& forms, const std::string& word) {
  constexpr std::size_t kShort = 3;
  if (word.size() >= kShort) return forms.folded.find(word) != std::string::npos;
  const auto begins = [&](const std::string& part) { return part.compare(0, word.size(), word) == 0; };
  return std::any_of(forms.words.begin(), forms.words.end(), begins) || std::any_of(forms.runs.begin(), forms.runs.end(), begins);
}

bool has(const Forms& forms, const std::string& word) {
  return holds(forms, word) || slip(word, forms.folded) ||
         std::any_of(forms.words.begin(), forms.words.end(), [&](const std::string& other) { return slip(word, other); });
}

std::vector<std::string> parts_of(std::string_view name, const std::vector<Forms>& candidates) {
  std::vector<std::string> parts;
  for (std::string& word : words_of(name)) {
    const bool known = std::any_of(candidates.begin(), candidates.end(), [&](const Forms& forms) { return has(forms, word); });
    if (known)
      parts.push_back(std::move(word));
    else
      for (std::string& run : runs_of(word)) parts.push_back(std::move(run));
  }
  return parts;
}

std::vector<Forms> forms_of(const std::vector<std::string>& candidates) { return {candidates.begin(), candidates.end()}; }

}  // namespace

std::vector<std::string> missing_words(std::string_view name, const std::vector<std::string>& candidates) {
  const std::vector<Forms> forms = forms_of(candidates);
  std::vector<std::string> missing = parts_of(name, forms);
  const auto known = [&](const std::string& part) {
    return std::any_of(forms.begin(), forms.end(), [&](const Forms& f) { return has(f, part); });
  };
  missing.erase(std::remove_if(missing.begin(), missing.end(), known), missing.end());
  return missing;
}

std::vector<std::string> relatives(std::string_view name, const std::vector<std::string>& candidates, std::size_t most) {
  constexpr std::size_t kLeast = 3;  // letters and digits; fewer are shared by chance
  const std::vector<Forms> forms = forms_of(candidates);
  const std::vector<std::string> parts = parts_of(name, forms);
  struct Relative {
    std::size_t shared = 0;
    int apart = 0;
    std::string name;
  };
  std::vector<Relative> found;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    std::size_t shared = 0;
    bool akin = false;  // single letters, or a short word that is nearly there, make no relative: "tpu" is no "gpu"
    for (const std::string& part : parts) {
      const bool held = holds(forms[i], part), slipped = !held && has(forms[i], part);
      shared += held ? part.size() : slipped ? part.size() - 1 : 0;
      akin = akin || (held && part.size() > 1) || (slipped && part.size() > kLeast);
    }
    if (akin && shared >= kLeast) found.push_back({shared, edit_distance(fold_name(name), forms[i].folded), candidates[i]});
  }
  std::stable_sort(found.begin(), found.end(), [](const Relative& a, const Relative& b) {
    return a.shared != b.shared ? a.shared > b.shared : a.apart < b.apart;
  });
  std::vector<std::string> names;
  for (const Relative& relative : found) {
    // Half of what the nearest shares is another family.
    if (names.size() < most && 2 * relative.shared > found.front().shared) names.push_back(relative.name);
  }
  return names;
}

}  // namespace tbdsim
