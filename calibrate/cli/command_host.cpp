#include "calibrate/cli/command_host.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <memory>

#include "calibrate/cli/inputs.hpp"
#include "calibrate/collect/host_loops.hpp"
#include "calibrate/fit/host_speed.hpp"
#include "model/input/output_file.hpp"
#include "model/support/quote.hpp"

namespace tbdsim::calibrate {
namespace {

const std::vector<Option> kOptions{{"-o"},        {"--samples"}, {"--python"}, {"--rounds"}, {"--cpu-only", Takes::nothing},
                                   {"--hardware"}};
constexpr int kMostRounds = 10000;

struct Output {
  std::string text;
  int status = 0;
};

/// What a command prints, errors too.
Result<Output> run(const std::string& command) {
  const auto close = [](FILE* pipe) { pclose(pipe); };
  std::unique_ptr<FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
  if (!pipe) return fail("calibrate host: cannot start a shell");
  Output output;
  std::array<char, 4096> part{};
  for (std::size_t n = 0; (n = fread(part.data(), 1, part.size(), pipe.get())) > 0;) output.text.append(part.data(), n);
  const int status = pclose(pipe.release());
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  return output;
}

/// One word of a shell's command.
std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

Result<void> measure_framework(const std::string& python, int rounds, const Catalogue& catalogue, HostSamples& host) {
  const std::string script = catalogue.root + "/calibrate/collect/pytorch_host.py";
  const auto done = run(fmt::format("{} {} --rounds {} 2>&1", shell_word(python), shell_word(script), rounds));
  if (!done) return tl::make_unexpected(done.error());
  if (done->status == 0) return add_pytorch_output(done->text, host);
  const std::string last = done->text.substr(0, done->text.find_last_not_of('\n') + 1);
  const std::string line = last.substr(last.rfind('\n') + 1);
  if (done->status == 127)
    return fail(fmt::format("calibrate host: no program {}; --python names a Python with PyTorch, --cpu-only leaves it out",
                            quoted(python)));
  if (line == "no torch")
    return fail(
        fmt::format("calibrate host: {} has no PyTorch (Debian: python3-torch); --python names another, --cpu-only leaves it out",
                    quoted(python)));
  if (line.rfind("no meta", 0) == 0)
    return fail(
        fmt::format("calibrate host: {}: that PyTorch cannot compute on the device \"meta\" (it came with 1.9); --python "
                    "names another, --cpu-only leaves it out",
                    line.substr(line.find("torch"))));
  return fail(fmt::format("calibrate host: {} failed with status {}: {}", script, done->status, line));
}

Result<HostSamples> measure(const Arguments& arguments, const Catalogue& catalogue) {
  const std::string word = arguments.one("--rounds", "40");
  const int rounds = word.size() > 5 || word.find_first_not_of("0123456789") != std::string::npos ? 0 : std::atoi(word.c_str());
  if (rounds < 2 || rounds > kMostRounds)
    return fail(fmt::format("calibrate host: --rounds {}: expected a number from 2 to {}", word, kMostRounds));
  HostSamples host{cpu_name(), "", today(), "", {}};
  if (!arguments.has("--cpu-only"))
    if (const auto done = measure_framework(arguments.one("--python", "python3"), rounds, catalogue, host); !done)
      return tl::make_unexpected(done.error());
  const auto loops = host_loops(rounds);
  host.samples.insert(host.samples.end(), loops.begin(), loops.end());
  host.source = fmt::format("measured: calibrate host, {} rounds", rounds);
  return host;
}

void tell(const HostSamples& host, const HostSpeed& speed) {
  fmt::print("{}{}{}\n", host.cpu, host.framework.empty() ? "" : ", ", host.framework);
  fmt::print("one thread runs at {:.3f} of the reference host's speed ({} {}, spread {:.0f} %)\n", speed.single_thread,
             speed.samples, speed.framework ? "costs of operators" : "loops; operators of a framework would tell more",
             100.0 * speed.spread);
  for (const HostSample& s : host.samples)
    if (s.op.rfind("cpu_pointer_chase", 0) == 0)
      fmt::print("a read from a buffer of {}: {:.1f} ns\n", s.op.substr(18), s.time.base() * 1e9);
  for (const HostSample& s : host.samples)
    if (s.op == "cpu_copy_64MB") fmt::print("copies within memory: {:.1f} GB/s\n", 64e6 / s.time.base() / 1e9);
  fmt::print("in a host file:\n  single_thread = {:.3f}\n  single_thread_source = \"measured: {}, {}, calibrate host\"\n",
             speed.single_thread, host.cpu, host.date);
}

}  // namespace

Result<int> command_host(const std::vector<std::string>& words) {
  const auto arguments = Arguments::parse("host", words, kOptions);
  if (!arguments) return tl::make_unexpected(arguments.error());
  const auto catalogue = catalogue_of(*arguments);
  if (!catalogue) return tl::make_unexpected(catalogue.error());
  const std::string output = arguments->one("-o"), earlier = arguments->one("--samples");
  if (output.empty() == earlier.empty())
    return fail("calibrate host: use -o FILE.csv for what is measured, or --samples FILE.csv for what was");
  for (const char* const option : {"--python", "--rounds", "--cpu-only"})
    if (!earlier.empty() && arguments->has(option))
      return fail(fmt::format("calibrate host: {} has no effect on earlier samples; leave it or --samples out", option));
  const OutputFile file{output, std::string(kHostHeader)};
  if (!output.empty())
    if (const auto free = file.check(); !free) return tl::make_unexpected(free.error());
  const auto reference = read_host_samples(catalogue->root + "/calibrate/samples/host/reference.csv");
  if (!reference) return tl::make_unexpected(reference.error());
  const auto host = earlier.empty() ? measure(*arguments, *catalogue) : read_host_samples(earlier);
  if (!host) return tl::make_unexpected(host.error());
  // What was measured is kept, whatever it can be compared with.
  if (!output.empty())
    if (const auto written = file.write(to_csv(*host)); !written) return tl::make_unexpected(written.error());
  const auto speed = host_speed(*host, *reference);
  if (!speed) return tl::make_unexpected(speed.error());
  tell(*host, *speed);
  return 0;
}

}  // namespace tbdsim::calibrate
