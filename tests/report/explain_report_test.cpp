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
  explanation.base.phases.host_exposed = 0.25 * explanation.base.step_time.value;
  CHECK(explain_table(explanation).find("overflowed") == std::string::npos);
  explanation.base.job.reads_overflow = true;
  CHECK(explain_table(explanation).find("a gradient overflowed") != std::string::npos);
}

TEST_CASE("settings stand apart from other hardware, and hardware that changes next to nothing is only named") {
  Explanation explanation;
  explanation.base = example_prediction();
  const auto outcome = [](const char* name, bool hardware, double gain, const char* problem, bool cannot_help) {
    WhatIfOutcome o;
    o.name = name;
    o.hardware = hardware;
    o.gain = gain;
    o.step_time.value = Seconds(0.1 / (1.0 + gain));
    o.limit = {Resource::input, 0.9, ""};
    o.problem = problem;
    o.cannot_help = cannot_help;
    return o;
  };
  explanation.what_ifs = {outcome("cpu-2x", true, 1.0, "", false), outcome("workers-2x", false, 0.25, "", false),
                          outcome("--stack pytorch-2.11", false, 0.05, "", false),
                          outcome("gpus-2x", true, 0.0,
                                  "changes throughput by less than 0.5 %; relieves gpu_compute, 5 % of the critical path", true),
                          outcome("p3", false, 0.0, "changes nothing here", false)};
  const std::string text = explain_table(explanation);
  CHECK(text.substr(text.find("Throughput after")) ==
        "Throughput after each change of settings and software (--what-if NAME, or the\n"
        "option as it stands, with any verb)\n"
        "  what if                  gain  step time  then limited by\n"
        "  workers-2x            +25.0 %      80 ms  input 90 %\n"
        "  --stack pytorch-2.11   +5.0 %    95.2 ms  input 90 %\n"
        "\nThroughput on other hardware (--what-if NAME)\n"
        "  what if      gain  step time  then limited by\n"
        "  cpu-2x   +100.0 %      50 ms  input 90 %\n"
        "  change throughput by less than 0.5 %: gpus-2x\n"
        "\nNo effect or not applicable: p3\n");
}
