#include "model/support/edit_distance.hpp"

#include <random>
#include <string>

#include "tests/catch.hpp"

using namespace tbdsim;

TEST_CASE("edit distance: insertion, deletion, substitution, swap of neighbours") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("latency", "latency") == 0);
  CHECK(edit_distance("latancy", "latency") == 1);
  CHECK(edit_distance("latecny", "latency") == 1);
  CHECK(edit_distance("latncy", "latency") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  // Optimal string alignment edits no substring twice: the true Damerau distance would be 2.
  CHECK(edit_distance("ca", "abc") == 3);
}

TEST_CASE("edit distance is symmetric and obeys its bounds") {
  std::mt19937 random(7);
  const auto word = [&] {
    std::string letters(random() % 8, 'a');
    for (char& c : letters) c = static_cast<char>('a' + random() % 3);
    return letters;
  };
  for (int i = 0; i < 500; ++i) {
    const std::string a = word(), b = word();
    CAPTURE(a, b);
    const int distance = edit_distance(a, b);
    CHECK(distance == edit_distance(b, a));
    CHECK((distance == 0) == (a == b));
    CHECK(distance <= static_cast<int>(std::max(a.size(), b.size())));
    CHECK(distance >= std::abs(static_cast<int>(a.size()) - static_cast<int>(b.size())));
  }
}

TEST_CASE("names fold to letters and digits") {
  CHECK(fold_name("ResNet-50 v1.5_b") == "resnet50v15b");
  CHECK(fold_name("") == "");
}

TEST_CASE("the nearest candidate, if a slip could lead to it") {
  const std::vector<std::string> keys{"bandwidth", "latency", "source", "to"};
  CHECK(nearest("latancy", keys) == "latency");
  CHECK(nearest("Band_Width", keys) == "bandwidth");
  CHECK(nearest("ot", keys) == "to");
  // Nine letters allow three slips, not four.
  CHECK(nearest("bandwxyzh", keys) == "bandwidth");
  CHECK(nearest("banwxyzqh", keys) == std::nullopt);
  CHECK(nearest("zz", keys) == std::nullopt);
  CHECK(nearest("", keys) == std::nullopt);
  CHECK(nearest("x", {}) == std::nullopt);
  CHECK(nearest("x", {"y"}) == std::nullopt);
  CHECK(nearest("aba", {"abc", "abb"}) == "abc");
}

TEST_CASE("catalogue names that a word may stand for") {
  using Names = std::vector<std::string>;
  const Names boards{"k80", "gtx-1080", "gtx-1080-ti", "b100", "v100-pcie", "v100-sxm2", "dgx1-v100"};
  // The whole family, not the one slip from another: those that begin with the word, then those that hold it.
  CHECK(near_names("V100", boards) == Names{"v100-pcie", "v100-sxm2", "dgx1-v100"});
  CHECK(near_names("1080ti", boards) == Names{"gtx-1080-ti"});
  CHECK(near_names("gtx1080it", boards) == Names{"gtx-1080-ti"});
  // Three letters of five are more than half; three of six are not, four always are enough.
  CHECK(near_names("k80x8", boards) == Names{"k80"});
  CHECK(near_names("k80xab", boards).empty());
  CHECK(near_names("teslavolta-v100", boards) == Names{"v100-pcie", "v100-sxm2", "dgx1-v100"});
  // Two letters are held by too much; a word longer than any name is none.
  CHECK(near_names("10", boards).empty());
  CHECK(near_names("efficientnet_b0", {"bigscience-104b", "resnet50"}).empty());
  CHECK(near_names("v100" + std::string(61, 'x'), boards).empty());
  CHECK(near_names("", boards).empty());
}
