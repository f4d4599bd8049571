#include "model/report/explain_report.hpp"

#include "tests/catch.hpp"
#include "tests/report/example_prediction.hpp"

using namespace tbdsim;

TEST_CASE("an explanation says whether the job fits, as a prediction does") {
  Explanation explanation;
  explanation.base = example_prediction();
  CHECK(explain_table(explanation).find("Memory: 4 GB of 17 GB per GPU (80 % range 3.5 GB to 4.5 GB): fits,") !=
        std::string::npos);
  explanation.base.memory.capacity = Bytes(3e9);
  explanation.base.memory.fits = false;
  CHECK(explain_table(explanation).find("DOES NOT FIT,") != std::string::npos);
}

TEST_CASE("an explanation says why mixed precision may be slower") {
  Explanation explanation;
  explanation.base = example_prediction();
  explanation.base.stages.host_exposed = 0.25 * explanation.base.step_time.value;
  CHECK(explain_table(explanation).find("overflowed") == std::string::npos);
  explanation.base.reads_overflow = true;
  CHECK(explain_table(explanation).find("a gradient overflowed") != std::string::npos);
}
