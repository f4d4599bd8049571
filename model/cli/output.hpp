#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/support/progress_line.hpp"
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

/// The answer of a verb whose arguments say whom to tell how far it is: on a terminal a line, which is gone when it answers.
template <class OfVerb, class Ask>
[[nodiscard]] auto with_progress(const OfVerb& arguments, const Ask& ask) {
  ProgressLine line;
  OfVerb shown = arguments;
  shown.progress = line.progress();
  return ask(std::as_const(shown));
}

}  // namespace tbdsim
