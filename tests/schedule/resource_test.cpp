// The table of resources: names are unique, and only what takes time is occupied by tasks.
#include "model/schedule/resource.hpp"

#include <set>

#include "tests/catch.hpp"

using namespace tbdsim;

TEST_CASE("every resource has a name of its own, tasks occupy the first, and only what takes time") {
  std::set<std::string_view> names;
  std::size_t of_tasks = 0;
  for (const ResourceInfo& row : resources()) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(&info(row.kind) == &row);
    CHECK(name(row.kind) == row.name);
    if (row.of_tasks) CHECK(row.takes_time);
    of_tasks += row.of_tasks ? 1 : 0;
  }
  CHECK(of_tasks == kTaskResources);
}
