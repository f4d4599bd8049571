// What copies between GPUs reach, alone and all at once.
#include "model/survey/topology_survey.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;

TEST_CASE("copies on a DGX-1: linked pairs keep their links, the others share the link between the sockets") {
  const System dgx1 = load_system({TBDSIM_SOURCE_DIR}, "dgx1").value();
  const TopologySurvey s = survey(dgx1, {0, 1, 2, 3, 4, 5, 6, 7}, {}).value();
  int staged = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < 8; ++j) {
      if (i == j) continue;
      INFO(i << " to " << j);
      const TransferShare& copy = s.copies[i][j];
      if (s.pairs[i][j].nvlinks > 0) {
        CHECK_FALSE(copy.staged);
        CHECK_THAT(copy.alone.base(), WithinRel(s.pairs[i][j].nvlinks * 23.94e9, 1e-9));
        CHECK_THAT(copy.contended.base(), WithinRel(copy.alone.base(), 1e-9));
      } else {
        ++staged;
        CHECK(copy.staged);
        CHECK_THAT(copy.alone.base(), WithinRel(10e9, 1e-9));  // through host memory
        // Twelve of these copies cross from socket to socket each way, over 10 GB/s.
        CHECK_THAT(copy.contended.base(), WithinRel(10e9 / 12, 1e-9));
      }
    }
  }
  CHECK(staged == 24);
}
