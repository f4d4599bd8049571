#include "calibrate/cli/command_profile.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <filesystem>

#include "calibrate/cli/arguments.hpp"
#include "calibrate/collect/open_gpu.hpp"
#include "calibrate/decode/steady_state.hpp"
#include "model/units/format.hpp"

namespace tbdsim::calibrate {
namespace {

Result<int> count_of(const Arguments& arguments, std::string_view option, int fallback, int least) {
  if (!arguments.has(option)) return fallback;
  const std::string text = arguments.one(option);
  int value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || value < least)
    return fail(fmt::format("calibrate profile: {} {}: expected a whole number of at least {}", option, text, least));
  return value;
}

/// Runs the program with the recorder in its environment; returns its exit status.
Result<int> record(const std::vector<std::string>& program, const std::string& library, const std::string& recording) {
  std::vector<char*> argv;
  for (const std::string& word : program) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) return fail("cannot start another process");
  if (child == 0) {
    setenv("CUDA_INJECTION64_PATH", library.c_str(), 1);
    setenv("TBDSIM_RECORDING", recording.c_str(), 1);
    execvp(argv[0], argv.data());
    fmt::print(stderr, "cannot start \"{}\"\n", program.front());
    _exit(127);
  }
  int status = 0;
  if (waitpid(child, &status, 0) < 0) return fail("lost the program");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void print_summary(const ActivityLog& log, const ProfileSummary& s) {
  fmt::print("{} steady iterations, {} each (standard deviation {})\n", s.iterations, format(s.step), format(s.step_spread));
  fmt::print("GPU busy {:.1f} %, copying alone {:.1f} %, {:.0f} kernels per iteration\n", 100 * s.busy, 100 * s.copying,
             s.launches);
  fmt::print("tensor-core kernels, by name: {:.1f} % of kernel time\n", 100 * s.tensor_core);
  if (log.dropped > 0) fmt::print("{} records were dropped: times and shares are too low\n", log.dropped);
  constexpr std::size_t kLongest = 15, kNameWidth = 44;
  fmt::print("\n{:>7} {:>9} {:>12}  kernel\n", "share", "calls", "mean");
  for (std::size_t i = 0; i < std::min(kLongest, s.kernels.size()); ++i) {
    const KernelShare& k = s.kernels[i];
    fmt::print("{:>6.1f}% {:>9.1f} {:>12}  {}\n", 100 * k.share, k.calls, format(k.mean), k.name.substr(0, kNameWidth));
  }
  if (s.kernels.size() > kLongest) fmt::print("and {} more\n", s.kernels.size() - kLongest);
}

std::string program_folder() {
  char path[PATH_MAX] = {};
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  return length > 0 ? std::filesystem::path(std::string(path, static_cast<std::size_t>(length))).parent_path().string() : ".";
}

}  // namespace

Result<int> command_profile(const std::vector<std::string>& words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  const std::vector<std::string> own(words.begin(), dashes), program(dashes == words.end() ? dashes : dashes + 1, words.end());
  const auto arguments = Arguments::parse("profile", own, {{"--skip"}, {"--iterations"}, {"-o"}, {"--recording"}});
  if (!arguments) return tl::make_unexpected(arguments.error());
  const auto skip = count_of(*arguments, "--skip", 50, 0), iterations = count_of(*arguments, "--iterations", 5, 1);
  if (!skip) return tl::make_unexpected(skip.error());
  if (!iterations) return tl::make_unexpected(iterations.error());
  std::string recording = arguments->one("--recording");
  if (recording.empty() == program.empty())
    return fail("calibrate profile: name a program after --, or an earlier recording with --recording FILE");
  if (!program.empty()) {
    recording = arguments->one("-o", "tbdsim-recording.txt");
    const auto library = recorder_library(program_folder());
    if (!library) {
      fmt::print(stderr, "{}\n", library.error());
      return 3;
    }
    const auto status = record(program, *library, recording);
    if (!status) return tl::make_unexpected(status.error());
    if (*status != 0) fmt::print(stderr, "the program ended with status {}; its recording is {}\n", *status, recording);
    if (*status != 0) return *status;
  }
  const auto log = read_activity_log(recording);
  if (!log) return tl::make_unexpected(log.error());
  const auto steady = find_iterations(*log, *skip, *iterations);
  if (!steady) return tl::make_unexpected(steady.error());
  print_summary(*log, summarize(*log, *steady));
  return 0;
}

}  // namespace tbdsim::calibrate
