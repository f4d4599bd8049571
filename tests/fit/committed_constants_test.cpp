// hardware/kernels.toml is what the program writes from the committed samples, byte for byte, by the command that
// calibrate/samples/README.md gives.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/catch.hpp"

namespace {

std::string text_of(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Sample files that the README's command names, in its order.
std::vector<std::string> fitted_files() {
  const std::string readme = text_of(TBDSIM_SOURCE_DIR "/calibrate/samples/README.md");
  std::istringstream words(readme.substr(readme.find("tbdsim calibrate fit")));
  std::vector<std::string> files;
  for (std::string word; words >> word;)
    if (word.size() > 4 && word.substr(word.size() - 4) == ".csv") files.push_back(word);
  return files;
}

std::string first_difference(const std::string& a, const std::string& b) {
  std::istringstream left(a), right(b);
  int line = 1;
  for (std::string l, r;; ++line) {
    const bool more_left = static_cast<bool>(std::getline(left, l)), more_right = static_cast<bool>(std::getline(right, r));
    if (!more_left && !more_right) return "";
    if (l != r || more_left != more_right) return "line " + std::to_string(line) + ": \"" + l + "\" against \"" + r + "\"";
  }
}

}  // namespace

TEST_CASE("the committed kernel constants are a fresh fit of the committed samples") {
  const std::vector<std::string> files = fitted_files();
  REQUIRE(files.size() >= 3);
  const std::string fresh = TBDSIM_BINARY_DIR "/fresh_kernels.toml";
  std::filesystem::remove(fresh);
  std::string command =
      "'" TBDSIM_BINARY_DIR "/tbdsim-calibrate' fit --shared --hardware '" TBDSIM_SOURCE_DIR "' -o '" + fresh + "' --samples";
  for (const std::string& file : files) command += " '" TBDSIM_SOURCE_DIR "/calibrate/samples/" + file + "'";
  INFO(command);
  REQUIRE(std::system((command + " > '" TBDSIM_BINARY_DIR "/fresh_kernels.txt'").c_str()) == 0);
  const std::string committed = text_of(TBDSIM_SOURCE_DIR "/hardware/kernels.toml");
  REQUIRE_FALSE(committed.empty());
  CHECK(first_difference(committed, text_of(fresh)) == "");
}
