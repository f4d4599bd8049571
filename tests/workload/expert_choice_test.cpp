// Nodes that a token's experts lie on.
#include "model/workload/expert_choice.hpp"

#include <cmath>

#include "tests/catch.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

namespace {

double choose(double n, double k) { return std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)); }

}  // namespace

// Of n nodes each holds E/n experts, and none of a token's k with probability C(E - E/n, k) / C(E, k).
TEST_CASE("a token reaches as many nodes as its experts lie on, its groups at most") {
  for (const int n : {2, 4, 8, 16}) {
    INFO(n);
    const double reached = n * (1.0 - choose(256.0 - 256.0 / n, 8.0) / choose(256.0, 8.0));
    CHECK_THAT(nodes_reached({256, 8, 0, 0}, n), WithinRel(reached, 1e-9));
    // A group of 32 lies on n/8 nodes, or several on one: at most 4 groups.
    CHECK_THAT(nodes_reached({256, 8, 8, 4}, n), WithinRel(std::min(reached, n > 8 ? 4.0 * n / 8.0 : 4.0), 1e-9));
  }
  CHECK_THAT(nodes_reached({8, 2, 0, 0}, 8), WithinRel(2.0, 1e-12));  // every expert on a node of its own
  CHECK_THAT(nodes_reached({8, 2, 0, 0}, 1), WithinRel(1.0, 1e-12));
  CHECK_THAT(nodes_reached({4, 4, 0, 0}, 2), WithinRel(2.0, 1e-12));  // all experts
  // Two of four experts, two on each node: both on one with probability 2 C(2,2)/C(4,2) = 1/3.
  CHECK_THAT(nodes_reached({4, 2, 0, 0}, 2), WithinRel(1.0 / 3.0 + 2.0 * 2.0 / 3.0, 1e-12));
}
