#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/support/result.hpp"

namespace tbdsim {

enum ExitCode : int { kDone = 0, kCheckFailed = 1, kBadInput = 2 };

/// Writes a result to stdout, without control characters but line ends and tabs. Returns `kDone`, or reports on stderr that it
/// could not be written (a full disk).
[[nodiscard]] int write_result(std::string_view text);

/// Reports problems on stderr; those without a place in a file begin with the program's name. Returns `kBadInput`.
int report(const Errors& errors);
/// Reports remarks on stderr, each once.
void report_notices(const std::vector<std::string>& notices);

/// What a verb says: a result for stdout and remarks for stderr.
struct Answer {
  std::string text;
  std::vector<std::string> notices;
};
/// Writes an answer, or reports why there is none. Returns the exit code.
[[nodiscard]] int deliver(const Result<Answer>& answer);

}  // namespace tbdsim
