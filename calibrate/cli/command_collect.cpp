#include "calibrate/cli/command_collect.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>

#include "calibrate/cli/inputs.hpp"
#include "calibrate/collect/device_name.hpp"
#include "calibrate/collect/open_gpu.hpp"
#include "calibrate/decode/sample_writer.hpp"
#include "model/input/file_text.hpp"
#include "model/input/output_file.hpp"

namespace tbdsim::calibrate {
namespace {

volatile std::sig_atomic_t interrupted = 0;
/// Once: what was measured is kept. Twice: ends the program, should the device hang.
void on_interrupt(int number) {
  interrupted = 1;
  std::signal(number, SIG_DFL);
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

Result<std::string> plan_path(const std::string& name, const Catalogue& catalogue) {
  if (name.find('/') != std::string::npos || name.find('.') != std::string::npos) return name;
  const std::string folder = catalogue.root + "/calibrate/plans";
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  if (std::find(names.begin(), names.end(), name) != names.end()) return fmt::format("{}/{}.toml", folder, name);
  if (names.empty()) return fail(fmt::format("unknown plan \"{}\": {} holds none; name a file", name, folder));
  return fail(fmt::format("unknown plan \"{}\"; there are {}, or name a file", name, fmt::join(names, ", ")));
}

/// What an earlier run wrote to the file; an interrupted one may have cut its last line.
struct Earlier {
  std::vector<Sample> samples;
  std::uintmax_t whole = 0;  ///< bytes of its complete lines
};

/// Reads it, and changes nothing yet. Errors: a file that `collect` did not write; what is wrong with its rows.
Result<Earlier> read_earlier(const std::string& path) {
  Earlier earlier;
  if (!std::filesystem::exists(path)) return earlier;
  const std::string header = sample_header();
  if (const auto free = OutputFile{path, header}.check(); !free) {
    // The header itself may be what was cut.
    const auto text = read_file(path);
    if (!text || text->empty() || header.rfind(*text, 0) != 0) return tl::make_unexpected(free.error());
    return earlier;
  }
  if (!std::filesystem::is_regular_file(path)) return earlier;
  auto text = read_file(path);
  if (!text) return tl::make_unexpected(text.error());
  text->resize(text->rfind('\n') + 1);
  earlier.whole = text->size();
  if (text->empty() || *text == header) return earlier;
  auto samples = parse_samples(std::move(*text), path);
  if (!samples) return tl::make_unexpected(samples.error());
  earlier.samples = std::move(*samples);
  return earlier;
}

/// Keys of the samples. Errors: one is of another device.
Result<std::set<std::string>> keys_done(const std::vector<Sample>& samples, const std::string& path, const std::string& device) {
  std::set<std::string> done;
  for (const Sample& s : samples) {
    if (s.device != device)
      return fail(fmt::format("{}:{}: holds samples of {}, this is {}; write to another file", path, s.line, s.device, device));
    done.insert(key(s));
  }
  return done;
}

void show_progress(const CollectProgress& p) {
  if (isatty(STDERR_FILENO) == 0) return;
  const double done = static_cast<double>(p.done), all = static_cast<double>(p.all);
  const double left = p.done > 0 ? p.elapsed.base() * (all - done) / done : p.budget.base();
  fmt::print(stderr, "\r\033[K{}/{}  {:.0f} s of {:.0f} s, about {:.0f} s left  {}", p.done, p.all, p.elapsed.base(),
             p.budget.base(), left, key(*p.now).substr(0, 60));
  std::fflush(stderr);
}

int tell(const CollectSummary& s, const std::string& path) {
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\033[K");
  // One line a reason: a machine with one GPU leaves out many collectives.
  std::map<std::string, std::pair<std::string, int>> reasons;
  for (const LeftOut& l : s.left_out) {
    auto& [example, count] = reasons[l.reason];
    if (count++ == 0) example = l.measurement;
  }
  for (const auto& [reason, what] : reasons)
    fmt::print(stderr, "left out: {} ({}{})\n", reason, what.first,
               what.second > 1 ? fmt::format(" and {} more", what.second - 1) : "");
  fmt::print("{}: {} measured, {} already there, {} noisy, {} under a throttled clock, {} left out\n", path, s.measured,
             s.already, s.noisy, s.throttled, s.left_out.size());
  if (s.not_started > 0)
    fmt::print("{} not started ({}); the same command goes on where this one stopped\n", s.not_started,
               !s.lost.empty() ? "the GPU failed: " + s.lost
               : s.interrupted ? "interrupted"
                               : "the plan's time is spent");
  return s.not_started > 0 || s.measured + s.already == 0 ? 1 : 0;
}

}  // namespace

Result<int> command_collect(const std::vector<std::string>& words) {
  const auto arguments = Arguments::parse("collect", words, {{"--plan"}, {"-o"}, {"--device"}, {"--gpu"}, {"--hardware"}});
  if (!arguments) return tl::make_unexpected(arguments.error());
  const auto catalogue = catalogue_of(*arguments);
  if (!catalogue) return tl::make_unexpected(catalogue.error());
  const auto path = plan_path(arguments->one("--plan", "quick"), *catalogue);
  if (!path) return tl::make_unexpected(path.error());
  const auto plan = read_plan(*path);
  if (!plan) return tl::make_unexpected(plan.error());
  const std::string output = arguments->one("-o");
  if (output.empty()) return fail("calibrate collect: no output; use -o FILE.csv");
  const auto earlier = read_earlier(output);
  if (!earlier) return tl::make_unexpected(earlier.error());
  const std::string number = arguments->one("--gpu", "0");
  if (number.empty() || number.size() > 3 || number.find_first_not_of("0123456789") != std::string::npos)
    return fail(fmt::format("calibrate collect: --gpu {}: expected the number of a GPU, from 0", number));

  std::vector<std::string> notes;
  auto gpu = open_gpu(std::stoi(number), notes);
  if (!gpu) {
    fmt::print(stderr, "{}\n", gpu.error());
    return 3;
  }
  for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", note);
  CollectOptions options;
  options.device = arguments->one("--device");
  if (options.device.empty()) {
    auto id = catalogue_id((*gpu)->identity().name, catalogue_ids(*catalogue, "gpus"));
    if (!id) return tl::make_unexpected(id.error());
    options.device = *id;
  }
  auto done = keys_done(earlier->samples, output, options.device);
  if (!done) return tl::make_unexpected(done.error());
  std::error_code failed;
  if (std::filesystem::is_regular_file(output)) std::filesystem::resize_file(output, earlier->whole, failed);
  if (failed) return fail(fmt::format("cannot write {}: {}", output, failed.message()));
  std::ofstream file(output, std::ios::binary | std::ios::app);
  if (earlier->whole == 0) file << sample_header() << std::flush;
  if (!file) return fail(fmt::format("cannot write {}", output));

  options.date = today();
  options.done = std::move(*done);
  const auto start = std::chrono::steady_clock::now();
  options.clock = [start] { return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()); };
  options.interrupted = [] { return interrupted != 0; };
  options.progress = show_progress;
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  fmt::print(stderr, "{} as {}, plan {} ({} measurements, at most {:.0f} s)\n", (*gpu)->identity().name, options.device,
             plan->name, plan->measurements.size(), plan->budget.base());
  const CollectSummary summary = collect(**gpu, *plan, options, [&](const Sample& s) { file << sample_row(s) << std::flush; });
  if (!file) return fail(fmt::format("cannot write {}; what it holds is complete up to its last line", output));
  return tell(summary, output);
}

}  // namespace tbdsim::calibrate
