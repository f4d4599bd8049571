#pragma once
#include <string>
#include <tl/expected.hpp>

#include "model/cli/arguments.hpp"

namespace tbdsim {

/// Why there is nothing to run: help or the version (exit code 0, for stdout), or bad usage (2, for stderr).
struct Stop {
  int exit_code = 0;
  std::string text;
};

/// Reads the command line of every verb. Errors: no verb, unknown verb or option (each with a suggestion), missing or
/// malformed value, option given twice. Whether names exist and sizes make sense is the analyses' to say.
[[nodiscard]] tl::expected<Arguments, Stop> parse_arguments(int argc, char** argv);

}  // namespace tbdsim
