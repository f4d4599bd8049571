// tbdsim-calibrate: measures kernels on a GPU, fits the parameters of the kernel cost models to samples and says how good they
// are. `tbdsim calibrate` starts it.
#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/cli/command_anchor.hpp"
#include "calibrate/cli/command_check.hpp"
#include "calibrate/cli/command_collect.hpp"
#include "calibrate/cli/command_fit.hpp"
#include "calibrate/cli/command_host.hpp"
#include "calibrate/cli/command_import.hpp"
#include "calibrate/cli/command_profile.hpp"
#include "calibrate/collect/sample_formats.hpp"
#include "model/input/output_file.hpp"
#include "model/support/out_of_memory.hpp"
#include "model/support/quote.hpp"

namespace {

/// What a verb takes, as its help prints it, and what it runs with the words after it.
struct Verb {
  std::string_view name, usage;
  tbdsim::Result<int> (*run)(const std::vector<std::string>& words);
};

tbdsim::Result<int> print_formats(const std::vector<std::string>& words) {
  if (!words.empty()) return tbdsim::fail(fmt::format("calibrate formats: unexpected word {}", tbdsim::quoted(words.front())));
  fmt::print("{}", tbdsim::calibrate::sample_formats_page());
  return 0;
}

constexpr Verb kVerbs[] = {{"fit",
                            "  fit --samples FILE... [--device NAME | --hw FILE] -o OUT.toml\n"
                            "        parameters of one board, usable as --hw OUT.toml\n"
                            "  fit --shared --samples FILE... -o OUT.toml\n"
                            "        what boards share, and all boards\n",
                            tbdsim::calibrate::command_fit},
                           {"check",
                            "  check --samples FILE... [--hw NAME | FILE]\n"
                            "        how well parameters predict samples\n"
                            "  check --samples FILE... --leave-out board | architecture\n"
                            "        [--train FILE...] [--draws N] [--draw-size N] [--seed N] [--only WORD]\n"
                            "        [--format table | json | csv]\n"
                            "        the same for boards that no fit has seen\n",
                            tbdsim::calibrate::command_check},
                           {"anchor",
                            "  anchor RUNS.csv -o FILE.toml\n"
                            "        multipliers of products, attention, memory, exchange and host from steps\n"
                            "        of your own; any verb applies them: --calibration FILE.toml\n",
                            tbdsim::calibrate::command_anchor},
                           {"import",
                            "  import FILE -o OUT.csv [--device NAME] [--precision NAME] [--library TEXT]\n"
                            "        [--op NAME] [--timing kernel | call] [--transposed]\n"
                            "        samples from a table m,n,k,ms or from nccl-tests; kernels by what they\n"
                            "        do from a summary of Nsight Systems or PyTorch's profiler\n"
                            "  import TRACE [-o OUT.csv] [--hw NAME --model NAME [--stack NAME] [--batch N]\n"
                            "        [--gpus N] [--precision NAME]]\n"
                            "        where the time of a step goes: kernels by family and layer, idle time by\n"
                            "        cause, beside the predicted. PyTorch's JSON (.gz too), Nsight's SQLite,\n"
                            "        the CSV of nvprof --print-gpu-trace, Chakra\n",
                            tbdsim::calibrate::command_import},
                           {"collect",
                            "  collect [--plan quick | standard | full | FILE] -o FILE.csv\n"
                            "        [--gpu N] [--device NAME]\n"
                            "        samples from the GPU of this machine\n",
                            tbdsim::calibrate::command_collect},
                           {"profile",
                            "  profile [--skip N] [--iterations K] [--passes N] [-o FILE] -- PROGRAM ...\n"
                            "        [--limit KERNELS] steady iterations of a training program\n"
                            "  profile [--skip N] [--iterations K] [--passes N] --recording FILE\n"
                            "        [--device NAME] [--model NAME] [--batch N] [--kernels FILE.csv]\n"
                            "        the same from an earlier recording: occupancy, arithmetic against the\n"
                            "        peak, rate; one row a kernel\n",
                            tbdsim::calibrate::command_profile},
                           {"host",
                            "  host -o FILE.csv [--python PROGRAM] [--rounds N] [--cpu-only]\n"
                            "        what PyTorch spends on this CPU to issue operators, without a GPU, and how\n"
                            "        fast one thread is: single_thread of a host file\n"
                            "  host --samples FILE.csv\n"
                            "        the same from earlier samples\n",
                            tbdsim::calibrate::command_host},
                           {"formats",
                            "  formats\n"
                            "        columns of samples, keys of plans, as Markdown\n",
                            print_formats}};

/// The help of one verb; nullptr: of all.
std::string usage(const Verb* verb) {
  std::string text = fmt::format("usage: tbdsim calibrate {} ...\n", verb == nullptr ? "VERB" : verb->name);
  for (const Verb& each : kVerbs)
    if (verb == nullptr || verb == &each) text += each.usage;
  return text +
         "  --hardware DIR\n"
         "        the folder that holds hardware/\n";
}

int finish(const tbdsim::Result<int>& done) {
  if (done) return *done;
  std::fputs(tbdsim::to_text(done.error()).c_str(), stderr);
  return 2;
}

/// Runs the verb that is named first.
int dispatch(const std::vector<std::string>& arguments) {
  const auto asks = [&](std::size_t i) { return i < arguments.size() && (arguments[i] == "--help" || arguments[i] == "-h"); };
  if (arguments.empty() || asks(0)) {
    std::fputs(usage(nullptr).c_str(), arguments.empty() ? stderr : stdout);
    return arguments.empty() ? 2 : 0;
  }
  const std::string& name = arguments[0];
  for (const Verb& known : kVerbs) {
    if (known.name != name) continue;
    if (!asks(1)) return finish(known.run({arguments.begin() + 1, arguments.end()}));
    std::fputs(usage(&known).c_str(), stdout);
    return 0;
  }
  std::string names;
  for (const Verb& known : kVerbs) names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
  fmt::print(stderr, "tbdsim calibrate: unknown verb \"{}\"; there are {}\n{}", name, names, usage(nullptr));
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  tbdsim::report_file_size_limit();
  tbdsim::report_exhausted_threads();
  try {
    return dispatch({argv + 1, argv + argc});
  } catch (const std::exception& exception) {
    // What no user causes, such as memory that is exhausted: still a message and an exit code, not an abort.
    fmt::print(stderr, "tbdsim: {}\n", tbdsim::words_of(exception));
    return 2;
  }
}
