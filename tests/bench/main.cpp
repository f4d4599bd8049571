#include <fmt/core.h>

#include <fstream>
#include <string>
#include <thread>

#include "benches.hpp"  // generated: TBDSIM_FOR_EACH_BENCH, one entry per bench_*.cpp
#include "tests/bench/bench.hpp"

namespace tbdsim::bench {
#define TBDSIM_DECLARE(name) void name(Report& report);
TBDSIM_FOR_EACH_BENCH(TBDSIM_DECLARE)
#undef TBDSIM_DECLARE
}  // namespace tbdsim::bench

namespace {

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

}  // namespace

/// bench [part of a name]: exit code 1 if a goal was missed.
int main(int argc, char** argv) {
  fmt::print("machine: {}, {} hardware threads; compiler {}\n", processor(), std::thread::hardware_concurrency(), __VERSION__);
  tbdsim::bench::Report report(argc > 1 ? argv[1] : "");
#define TBDSIM_RUN(name) tbdsim::bench::name(report);
  TBDSIM_FOR_EACH_BENCH(TBDSIM_RUN)
#undef TBDSIM_RUN
  return report.all_met() ? 0 : 1;
}
