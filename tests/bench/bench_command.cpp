// Goals set on: AMD EPYC (family 26), 2 cores of a shared virtual machine, GCC 12, Release.
#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "tests/bench/bench.hpp"

namespace tbdsim::bench {

namespace {

/// Runs `tbdsim predict --hw dgx1.toml --model resnet50` as a process of its own, its output thrown away, and returns
/// its peak resident size. Ends the benchmark when the command fails.
Bytes run_predict() {
  char program[] = TBDSIM_PROGRAM;
  char verb[] = "predict", hw[] = "--hw", dgx1[] = "dgx1.toml", model[] = "--model", resnet[] = "resnet50";
  char catalogue[] = "TBDSIM_CATALOGUE=" TBDSIM_SOURCE_DIR;
  std::array<char*, 7> arguments{program, verb, hw, dgx1, model, resnet, nullptr};
  std::array<char*, 2> environment{catalogue, nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  int status = -1;
  rusage usage{};
  const bool started = posix_spawn(&child, program, &actions, nullptr, arguments.data(), environment.data()) == 0;
  posix_spawn_file_actions_destroy(&actions);
  if (!started || wait4(child, &status, 0, &usage) != child || status != 0) {
    fmt::print(stderr, "{} predict failed\n", program);
    std::exit(2);
  }
  constexpr double kBytesPerUnit = 1024.0;  // Linux counts ru_maxrss in KiB
  return Bytes(kBytesPerUnit * static_cast<double>(usage.ru_maxrss));
}

}  // namespace

/// The whole command, start to exit. Runs before the other benchmarks: a child's peak also counts what its parent had
/// resident when it was started, which is little only then.
void bench_command(Report& report) {
  constexpr int kRuns = 20;
  Bytes peak(0.0);
  report.time("command: predict resnet50 on dgx1", Seconds(10e-3), kRuns, [&] { peak = std::max(peak, run_predict()); });
  if (peak > Bytes(0.0)) report.size("command: predict resnet50 on dgx1, peak memory", peak, Bytes(25e6));
}

}  // namespace tbdsim::bench
