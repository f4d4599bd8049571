#pragma once
#include <fstream>
#include <sstream>
#include <string>

#include "tests/catch.hpp"

namespace tbdsim::golden {

inline std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// "line 3:\n- old\n+ new" for the first line in which the texts differ.
inline std::string first_difference(const std::string& expected, const std::string& found) {
  std::istringstream old_lines(expected), new_lines(found);
  for (int line = 1;; ++line) {
    std::string before = "(end)", after = "(end)";
    const bool more_old = static_cast<bool>(std::getline(old_lines, before));
    const bool more_new = static_cast<bool>(std::getline(new_lines, after));
    if (!more_old) before = "(end)";
    if (!more_new) after = "(end)";
    if (before != after) return "line " + std::to_string(line) + ":\n- " + before + "\n+ " + after;
    if (!more_old && !more_new) return "only line ends differ";
  }
}

/// Compares `text` with tests/golden/<name>, byte for byte. A mismatch, or a golden that is not there yet, writes
/// tests/golden/<name>.new and fails: look at it, and rename it over the golden if the change is meant.
inline void check(const std::string& name, const std::string& text) {
  const std::string path = std::string(TBDSIM_SOURCE_DIR) + "/tests/golden/" + name;
  const std::string expected = read(path);
  if (expected == text) {
    SUCCEED();
    return;
  }
  std::ofstream(path + ".new", std::ios::binary) << text;
  FAIL(path << " differs at " << first_difference(expected, text) << "\nwhole text in " << path << ".new");
}

}  // namespace tbdsim::golden
