// tbdsim-calibrate: fits the parameters of the kernel cost models to sample files and says how good they are. `tbdsim calibrate`
// starts it.
#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <vector>

#include "calibrate/cli/command_check.hpp"
#include "calibrate/cli/command_fit.hpp"

namespace {

constexpr const char* kUsage =
    "usage: tbdsim calibrate VERB ...\n"
    "  fit --samples FILE... [--device NAME | --hw FILE] -o OUT.toml   parameters of one board, usable as --hw OUT.toml\n"
    "  fit --shared --samples FILE... -o OUT.toml                      what boards share, and all boards\n"
    "  check --samples FILE... [--hw NAME | FILE]                      how well parameters predict samples\n"
    "  check --samples FILE... --leave-out board | architecture        the same for boards that no fit has seen\n"
    "        [--train FILE...] [--draws N] [--draw-size N] [--seed N] [--only WORD] [--format table | json | csv]\n"
    "  collect, profile                                                samples from a GPU (built without CUDA)\n"
    "  --hardware DIR                                                  the folder that holds hardware/\n";

int finish(const tbdsim::Result<int>& done) {
  if (done) return *done;
  std::fputs(tbdsim::to_text(done.error()).c_str(), stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    std::fputs(kUsage, arguments.empty() ? stderr : stdout);
    return arguments.empty() ? 2 : 0;
  }
  const std::string& verb = arguments[0];
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (verb == "fit") return finish(tbdsim::calibrate::command_fit(rest));
  if (verb == "check") return finish(tbdsim::calibrate::command_check(rest));
  if (verb == "collect" || verb == "profile") {
    fmt::print(stderr, "tbdsim calibrate {}: no usable GPU: this program was built without CUDA\n", verb);
    return 3;
  }
  fmt::print(stderr, "tbdsim calibrate: unknown verb \"{}\"; there are fit, check, collect, profile\n{}", verb, kUsage);
  return 2;
}
