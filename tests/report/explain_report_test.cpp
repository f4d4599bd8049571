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
