#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tbdsim {

/// Words of a name, lower case, that none of `candidates` has: with one candidate, none when the name may be a slip of it.
///
/// A candidate has a word that it holds, or that is a slip of one of its words. Words of letters may differ by a third of their
/// letters; in a code such as "rtx4080" every other letter or digit means another product, so only swapped signs, one too few or
/// too many, and a letter O for a zero are slips. A code that no candidate has is taken apart into letters and digits.
[[nodiscard]] std::vector<std::string> missing_words(std::string_view name, const std::vector<std::string>& candidates);

/// Candidates that share words with a name that means none of them: those of most shared letters first, of equals
/// the most alike; at most `most`.
[[nodiscard]] std::vector<std::string> relatives(std::string_view name, const std::vector<std::string>& candidates,
                                                 std::size_t most);

}  // namespace tbdsim
