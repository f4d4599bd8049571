#include "model/support/progress.hpp"

#include <vector>

#include "model/support/progress_line.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

TEST_CASE("work tells how far it is", "[support]") {
  std::vector<std::size_t> heard;
  Progress progress([&](const Progress::State& state) { heard.push_back(state.done); });
  begin(&progress, "points", 2);
  add_one(&progress);
  add_one(&progress);
  CHECK(heard == std::vector<std::size_t>{0, 1, 2});
  progress.begin("rows", 3);
  CHECK(heard.back() == 0);
  begin(nullptr, "points", 2);
  add_one(nullptr);
}

TEST_CASE("progress is told with the time that is left", "[support]") {
  CHECK(progress_text({"points", 0, 4000, 0}, 1.0) == "0 of 4,000 points");
  CHECK(progress_text({"points", 1000, 4000, 0}, 1.0) == "1,000 of 4,000 points, 3 s left");
  // What an earlier run had took none of this time.
  CHECK(progress_text({"points", 3000, 4000, 2000}, 1.0) == "3,000 of 4,000 points, 1 s left");
  CHECK(progress_text({"points", 10, 1234567, 0}, 1.0) == "10 of 1,234,567 points, 2058 min left");
  CHECK(progress_text({"points", 4000, 4000, 0}, 1.0) == "4,000 of 4,000 points");
  CHECK(progress_text({"points", 50, 100, 50}, 1.0) == "50 of 100 points");
}
