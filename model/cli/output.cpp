#include "model/cli/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "model/report/text_table.hpp"
#include "model/report/verdict_colours.hpp"

namespace tbdsim {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kIndent = 2;  ///< of what goes on below

/// Bytes that would steer a terminal are shown as \\xNN: names come from command lines and files of others.
std::string harmless(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    const bool control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    const bool wide_control = byte == 0xc2 && next >= 0x80 && next < 0xa0;  // U+0080 to U+009F
    if (control || wide_control)
      shown += fmt::format("\\x{:02x}", wide_control ? next : byte);
    else
      shown += text[i];
    if (wide_control) ++i;
  }
  return shown;
}

/// One remark or problem. A terminal breaks its first line at words; a log keeps one line each. What follows the first line
/// are lines of a file with a mark below, which stay as they are.
void tell(const std::string& text) {
  std::string shown = harmless(text);
  if (isatty(STDERR_FILENO) != 0) {
    const std::size_t end = std::min(shown.find('\n'), shown.size());
    shown = wrapped(shown.substr(0, end), kWidth, kIndent) + shown.substr(end);
  }
  fmt::print(stderr, "{}\n", shown);
}

/// Whether standard output is a terminal whose reader has not asked for plain text (no-color.org).
bool shows_colours() {
  const char* const plain = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (plain == nullptr || *plain == '\0') && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

}  // namespace

int write_result(std::string_view text) {
  std::string shown = harmless(text);
  if (shows_colours()) shown = with_verdict_colours(shown);
  const bool written = std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size();
  if (written && std::fflush(stdout) == 0) return kDone;
  return report({Error{fmt::format("cannot write the result: {}", std::strerror(errno))}});
}

int report(const Errors& errors) {
  for (const Error& error : errors) {
    const bool placed = !error.where.file.empty() || error.where.line > 0;
    tell((placed ? "" : "tbdsim: ") + error.text());
  }
  return kBadInput;
}

void report_notices(const std::vector<std::string>& notices) {
  for (std::size_t i = 0; i < notices.size(); ++i) {
    const bool told = std::find(notices.begin(), notices.begin() + static_cast<std::ptrdiff_t>(i), notices[i]) !=
                      notices.begin() + static_cast<std::ptrdiff_t>(i);
    if (!told) tell("tbdsim: note: " + notices[i]);
  }
}

int deliver(const Result<Answer>& answer) {
  if (!answer) return report(answer.error());
  report_notices(answer->notices);
  return write_result(answer->text);
}

}  // namespace tbdsim
