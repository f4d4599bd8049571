// What profiling costs: a central value with its range.
#include "model/report/profiling_report.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;

TEST_CASE("slow-downs of profiling are told as a central value and a range") {
  ProfilingCost cost;
  cost.plan = {50, 3};
  cost.before = Seconds(12.0);
  cost.kernels = 1000;
  cost.trace_per_step = Bytes(184e3);
  cost.traced = {Seconds(0.101), Seconds(0.1), Seconds(0.102)};
  cost.replayed = {Seconds(0.4), Seconds(0.25), Seconds(0.64)};
  CHECK(profiling_text(cost, Seconds(0.1)) ==
        "\nProfiling 3 steps after 50\n"
        "  warm-up     no convolution to try algorithms on\n"
        "  before      12 s of start-up, first and skipped steps; the recorded ones are\n"
        "              alike\n"
        "  trace       1000 kernels and 184 kB a step and GPU, 552 kB in all; a step\n"
        "              1.01 times as long (1.00 to 1.02)\n"
        "  counters    each kernel alone and replayed once: a step of 400 ms, 4.00 times\n"
        "              as long (2.50 to 6.40)\n");
}
