#include "calibrate/cli/command_profile.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "calibrate/cli/inputs.hpp"
#include "calibrate/cli/profile_report.hpp"
#include "calibrate/collect/open_gpu.hpp"
#include "model/input/output_file.hpp"
#include "model/workload/op_counts.hpp"
#include "model/workload/zoo/zoo.hpp"

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

/// Runs the program with the recorder in its environment, which writes a file for each process to `folder`; returns its exit
/// status.
Result<int> record(const std::vector<std::string>& program, const std::string& library, const std::string& folder,
                   std::int64_t limit) {
  std::vector<char*> argv;
  argv.reserve(program.size() + 1);
  for (const std::string& word : program) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) return fail("cannot start another process");
  if (child == 0) {
    setenv("CUDA_INJECTION64_PATH", library.c_str(), 1);
    setenv("TBDSIM_RECORDING", folder.c_str(), 1);
    setenv("TBDSIM_RECORDING_LIMIT", std::to_string(limit).c_str(), 1);
    execvp(argv[0], argv.data());
    fmt::print(stderr, "cannot start \"{}\"\n", program.front());
    _exit(127);
  }
  int status = 0;
  if (waitpid(child, &status, 0) < 0) return fail("lost the program");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Keeps the recording of the process that ran most kernels, in place of an earlier one; none leaves the earlier one as it is.
/// Removes the folder. How many ran kernels.
Result<int> keep_largest(const std::string& folder, const std::string& recording) {
  namespace fs = std::filesystem;
  std::error_code failed;
  std::string largest;
  std::int64_t most = 0;
  int processes = 0;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    std::ifstream file(entry.path());
    std::int64_t kernels = 0;
    for (std::string line; std::getline(file, line);) kernels += line.rfind("kernel ", 0) == 0 ? 1 : 0;
    if (kernels == 0) continue;
    if (kernels > most) largest = entry.path().string();
    most = std::max(most, kernels);
    ++processes;
  }
  if (processes > 0) fs::rename(largest, recording, failed);
  if (failed) return fail(fmt::format("{}: cannot write: {}; the recording is {}", recording, failed.message(), largest));
  fs::remove_all(folder, failed);
  if (processes > 1) fmt::print(stderr, "{} processes ran kernels; the recording is of the one with most, {}\n", processes, most);
  return processes;
}

/// Of the recording that stood there before a program that recorded nothing; nothing where there was none.
std::string earlier_recording(const std::string& recording) {
  std::error_code failed;
  return std::filesystem::exists(recording, failed) ? fmt::format("; {} is an earlier recording", recording) : "";
}

/// What the user tells about the program: its device, and what an iteration trains.
Result<ProfileSubject> subject_of(const Arguments& arguments) {
  ProfileSubject subject;
  const auto batch = count_of(arguments, "--batch", 0, 1);
  if (!batch) return tl::make_unexpected(batch.error());
  subject.batch = *batch;
  if (arguments.has("--device")) {
    const auto catalogue = catalogue_of(arguments);
    if (!catalogue) return tl::make_unexpected(catalogue.error());
    auto device = load_device(*catalogue, arguments.one("--device"));
    if (!device) return tl::make_unexpected(device.error());
    subject.device = std::move(*device);
  }
  if (!arguments.has("--model")) return subject;
  if (subject.batch == 0) return fail("calibrate profile: --model needs --batch, the samples of one iteration");
  if (!subject.device) return fail("calibrate profile: --model needs --device, whose peak the arithmetic is compared with");
  const auto entry = find_network(arguments.one("--model"), "torchvision");
  if (!entry) return tl::make_unexpected(entry.error());
  const auto graph = build_network(**entry, {});
  if (!graph) return tl::make_unexpected(graph.error());
  const MacCounts macs = macs_per_sample(*graph);
  subject.step_flop = Flop(2.0 * static_cast<double>(macs.forward + macs.backward) * subject.batch);
  return subject;
}

std::string program_folder() {
  char path[PATH_MAX] = {};
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  return length > 0 ? std::filesystem::path(std::string(path, static_cast<std::size_t>(length))).parent_path().string() : ".";
}

/// Runs the program and leaves the recording of its largest process at `recording`, made absolute: the program may change its
/// folder. Returns the exit status of `calibrate profile` where there is nothing to read, else 0.
Result<int> record_to(std::string& recording, const std::vector<std::string>& program, int limit) {
  if (const auto free = OutputFile{recording, std::string(kActivityMagic)}.check(); !free)
    return tl::make_unexpected(free.error());
  const auto library = recorder_library(program_folder());
  if (!library) {
    fmt::print(stderr, "{}\n", library.error());
    return 3;
  }
  std::error_code failed;
  recording = std::filesystem::absolute(recording, failed).string();
  std::string folder = recording + ".XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return fail(fmt::format("{}: cannot make a folder for the recording", folder));
  auto status = record(program, *library, folder, limit);
  if (!status) return status;
  auto processes = keep_largest(folder, recording);
  if (!processes) return processes;
  if (*processes == 0 && *status == 0)
    return fail("no kernel was recorded: the program ran none on a GPU, or the recorder said above why it cannot" +
                earlier_recording(recording));
  if (*status != 0)
    fmt::print(stderr, "the program ended with status {}; {}\n", *status,
               *processes > 0 ? "its recording is " + recording : "it recorded nothing" + earlier_recording(recording));
  return *status;
}

}  // namespace

Result<int> command_profile(const std::vector<std::string>& words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  const std::vector<std::string> own(words.begin(), dashes), program(dashes == words.end() ? dashes : dashes + 1, words.end());
  const auto arguments = Arguments::parse("profile", own,
                                          {{"--skip"},
                                           {"--iterations"},
                                           {"--passes"},
                                           {"--limit"},
                                           {"-o"},
                                           {"--recording"},
                                           {"--device"},
                                           {"--model"},
                                           {"--batch"},
                                           {"--kernels"},
                                           {"--hardware"}});
  if (!arguments) return tl::make_unexpected(arguments.error());
  const auto skip = count_of(*arguments, "--skip", 50, 0), iterations = count_of(*arguments, "--iterations", 5, 1);
  if (!skip) return tl::make_unexpected(skip.error());
  if (!iterations) return tl::make_unexpected(iterations.error());
  const auto passes = count_of(*arguments, "--passes", 1, 1);
  if (!passes) return tl::make_unexpected(passes.error());
  // Twice as many iterations as are asked for, of 10,000 kernels: more than large models launch.
  const std::int64_t enough = 20'000 * (std::int64_t{*skip} + *iterations);
  const auto limit = count_of(*arguments, "--limit", static_cast<int>(std::min<std::int64_t>(enough, INT_MAX)), 1);
  if (!limit) return tl::make_unexpected(limit.error());
  const auto subject = subject_of(*arguments);
  if (!subject) return tl::make_unexpected(subject.error());
  std::string recording = arguments->one("--recording");
  if (recording.empty() == program.empty())
    return fail("calibrate profile: name a program after --, or an earlier recording with --recording FILE");
  const std::string table = arguments->one("--kernels");
  if (!table.empty()) {
    if (const auto free = OutputFile{table, std::string(kernel_table_header()), {recording}}.check(); !free)
      return tl::make_unexpected(free.error());
  }
  if (!program.empty()) {
    recording = arguments->one("-o", "tbdsim-recording.txt");
    auto status = record_to(recording, program, *limit);
    if (!status || *status != 0) return status;
  }
  const auto log = read_activity_log(recording);
  if (!log) return tl::make_unexpected(log.error());
  const auto steady = find_iterations(*log, {*skip, *iterations, *passes});
  if (!steady) return tl::make_unexpected(steady.error());
  const ProfileSummary summary = summarize(*log, *steady, occupancy_on(*subject));
  fmt::print("{}", profile_text(*log, *steady, summary, *subject));
  if (table.empty()) return 0;
  return OutputFile{table, std::string(kernel_table_header()), {recording}}.write(kernel_table(summary)).map([] { return 0; });
}

}  // namespace tbdsim::calibrate
