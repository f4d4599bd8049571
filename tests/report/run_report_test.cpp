// A run as it is printed.
#include "model/report/run_report.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

RunEstimate example() {
  RunEstimate run;
  run.tokens = 15e12;
  run.steps = 1000000;
  run.training = {Seconds(8.64e6), Seconds(7.0e6), Seconds(1.0e7)};
  run.elapsed = {Seconds(9.6e6), Seconds(7.8e6), Seconds(1.11e7)};
  run.goodput.between_interruptions = Seconds(11200.0);
  run.goodput.checkpoint = Bytes(4.86e12);
  run.goodput.write = run.goodput.wait = Seconds(2.43);
  run.goodput.interval = Seconds(233.0);
  run.goodput.restart = Seconds(602.4);
  run.goodput.lost_to_checkpoints = run.goodput.lost_to_rework = 0.01;
  run.goodput.lost_to_restarts = 0.08;
  run.goodput.share = 0.9;
  run.interruptions = 857.0;
  run.spares = 8;
  run.power = Watts(15.7e6);
  run.energy = Joules(1.5e14);
  run.carbon_grams = 1.97e10;
  run.cost = Usd(6.59e7);
  run.assumptions = {{"failures.gpu", "79230 h", "paper: arXiv:2407.21783 (July 2024), table 5: counted"},
                     {"repair.time", "24 h", "assumed: a day, until a node is back"}};
  return run;
}

}  // namespace

TEST_CASE("a run is printed with what it loses, draws and costs, and with all that is assumed") {
  CHECK(run_text(example()) == R"(Run           15T tokens in 1000000 steps take 111 days (80 % range 90.3 days to
              128 days), 100 days of them training
Goodput       90.0 % of the time trains; checkpoints take 1.0 %, work done again
              1.0 %, restarts 8.0 %. Failures interrupt it every 3.11 h,
              857 times; a restart takes 10 min
Checkpoints   4.86 TB in 2.43 s, one every 3.88 min (the best interval); 8 spare
              nodes while failed ones are repaired
Outlay        41.7 GWh and 19700 t of CO2, 15.7 MW on average; 65.9 million USD,
              spare nodes included

Assumed of the run; --set operations.KEY=VALUE changes it
  operations.            source
  failures.gpu  79230 h  paper: arXiv:2407.21783
  repair.time      24 h  assumed: a day

)");
}

TEST_CASE("what is not known of a run is left out") {
  RunEstimate run = example();
  run.power.reset();
  run.energy.reset();
  run.carbon_grams.reset();
  run.cost.reset();
  run.spares = 0;
  run.interruptions = 0.25;
  run.goodput.best_interval = false;
  const std::string text = run_text(run);
  CHECK(text.find("Outlay") == std::string::npos);
  CHECK(text.find("spare") == std::string::npos);
  CHECK(text.find("0.25 times; a restart") != std::string::npos);
  CHECK(text.find("(as asked)\n") != std::string::npos);
}
