// tbdsim-calibrate: fits the parameters of the kernel cost models from sample files. `tbdsim calibrate` starts it.
#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <vector>

#include "calibrate/cli/command_fit.hpp"

namespace {

constexpr const char* kUsage =
    "usage: tbdsim calibrate VERB ...\n"
    "  fit --samples FILE... --hardware DIR -o OUT.toml   shared kernel constants and board parameters from samples\n"
    "  collect, profile                                   samples from a GPU (this program was built without CUDA)\n";

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
    std::fputs(kUsage, arguments.empty() ? stderr : stdout);
    return arguments.empty() ? 2 : 0;
  }
  const std::string& verb = arguments[0];
  if (verb == "fit") return tbdsim::calibrate::command_fit({arguments.begin() + 1, arguments.end()});
  if (verb == "collect" || verb == "profile") {
    fmt::print(stderr, "tbdsim calibrate {}: no usable GPU: this program was built without CUDA\n", verb);
    return 3;
  }
  fmt::print(stderr, "tbdsim calibrate: unknown verb \"{}\"; there are fit, collect, profile\n{}", verb, kUsage);
  return 2;
}
