// The table of passes: names are unique, and gradients are computed in the backward phase alone.
#include "model/workload/pass.hpp"

#include <set>

#include "tests/catch.hpp"

using namespace tbdsim;

TEST_CASE("every pass has a name of its own, and only the backward phase computes gradients") {
  std::set<std::string_view> names;
  for (const PassInfo& row : passes()) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(&info(row.kind) == &row);
    if (row.phase != Phase::backward) CHECK_FALSE((row.input_gradients || row.parameter_gradients));
  }
  CHECK(name(Phase::forward) == "forward");
  CHECK(name(Phase::backward) == "backward");
  CHECK(name(Phase::update) == "update");
}
