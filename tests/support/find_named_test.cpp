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
