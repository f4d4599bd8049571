#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace tbdsim {

/// A word of a shell script with its place, from 1.
struct ShellWord {
  std::string text;
  int line = 1, column = 1;
  bool ends = false;  ///< no word: here a line or a command ends, so that no value follows
};

/// The words of a script in its order. Comments and here-documents are left out; a variable that the script has set before stands
/// as its value, one with a default (`${TP:-8}`) as that, another as it is written. Quotes group words, except round a text that
/// itself holds options (`ARGS="--a 1 --b 2"`), whose words are read where they stand.
[[nodiscard]] std::vector<ShellWord> shell_words(std::string_view script);

}  // namespace tbdsim
