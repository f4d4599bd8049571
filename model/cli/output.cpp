#include "model/cli/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "model/report/text_table.hpp"

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

}  // namespace

int write_result(std::string_view text) {
  const std::string shown = harmless(text);
  const bool written = std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size();
  if (written && std::fflush(stdout) == 0) return kDone;
  return report({Error{fmt::format("cannot write the result: {}", std::strerror(errno))}});
}

Result<void> write_file(const std::string& path, std::string_view text) {
  // A result has another form: this is a description or a network that an option was mistaken for.
  const std::string ending = std::filesystem::path(path).extension().string();
  std::error_code ignored;
  if ((ending == ".toml" || ending == ".onnx") && std::filesystem::exists(path, ignored))
    return fail(fmt::format("cannot write \"{}\": it exists, and a {} file is an input; name another", path, ending.substr(1)));
  const auto problem = [&] { return fail(fmt::format("cannot write \"{}\": {}", path, std::strerror(errno))); };
  // A named pipe that nobody reads would keep the program waiting.
  constexpr mode_t kMode = 0666;
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK, kMode);
  if (descriptor < 0 && errno == ENXIO) return fail(fmt::format("cannot write \"{}\": a named pipe that nobody reads", path));
  if (descriptor < 0) return problem();
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
  std::FILE* file = fdopen(descriptor, "wb");
  if (file == nullptr) return problem();
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  // Closing writes what is still buffered, so it may fail as well.
  if (std::fclose(file) != 0 || !written) return problem();
  return {};
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
