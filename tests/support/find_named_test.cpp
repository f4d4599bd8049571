// Looking names up in a table: folded, with a suggestion for a slip and the list for anything else.
#include "model/support/find_named.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;

TEST_CASE("a name is found whatever its case and signs; a miss says which was meant, or what there is") {
  struct Entry {
    std::string_view name;
    int value;
  };
  const std::vector<Entry> entries{{"sgd-momentum", 1}, {"adam", 2}};
  CHECK(find_named(entries, "optimizer", "SGD_Momentum")->value == 1);
  CHECK(find_named(entries, "optimizer", "adm").error().front().message == "unknown optimizer \"adm\", did you mean \"adam\"?");
  CHECK(find_named(entries, "optimizer", "lion", {"none"}).error().front().message ==
        "unknown optimizer \"lion\"; there are none, sgd-momentum, adam");
}

TEST_CASE("what follows a name that is not known") {
  CHECK(name_hint("adm", {"sgd", "adam"}, "`list`") == ", did you mean \"adam\"?");
  CHECK(name_hint("rmsprop", {"sgd", "adam"}, "`list`") == "; see `list`");
  CHECK(name_hint("rmsprop", {"sgd", "adam"}).empty());
  std::vector<std::string> many;
  for (int i = 1; i <= 8; ++i) many.push_back("gpu" + std::to_string(i));
  const std::string eight =
      ", did you mean one of \"gpu1\", \"gpu2\", \"gpu3\", \"gpu4\", \"gpu5\", \"gpu6\", \"gpu7\", \"gpu8\"";
  CHECK(name_hint("gpu", many, "`list`") == eight + "? See `list`");
  many.emplace_back("gpu9");
  CHECK(name_hint("gpu", many) == eight + " or another?");
}
