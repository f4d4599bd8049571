#include "model/input/file_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

tl::unexpected<Errors> refuse(const std::string& path, std::string message) {
  return tl::make_unexpected(Errors{Error{std::move(message), SourceRef{path, 0, 0}}});
}

/// A pipe with a name waits for a writer who may never come. One without (a shell's `<(...)`, standard input) has a writer
/// already and leads to no path.
bool is_named_pipe(const std::string& path) {
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::canonical(path, failed);
  return !failed && std::filesystem::is_fifo(real, failed);
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t largest_mebibytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return refuse(path, "expected a file, got a directory");
  if (is_named_pipe(path)) return refuse(path, "expected a regular file, got a named pipe");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return refuse(path, fmt::format("cannot open: {}", errno != 0 ? std::strerror(errno) : "unknown reason"));
  std::string text;
  // In pieces, not by the size that the system reports: a pipe has none.
  std::array<char, std::size_t{1} << 16> piece;  // not cleared: most files are smaller
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())), file.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > largest_mebibytes << 20)
      return refuse(path, fmt::format("larger than {} MiB, which no input file is", largest_mebibytes));
  }
  if (file.bad()) return refuse(path, "cannot read");
  return text;
}

std::optional<Error> binary_problem(std::string_view text, const std::string& name) {
  int line = 1, column = 1;
  for (std::size_t i = 0; i < text.size(); ++column) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = utf8_length(text.substr(i));
    const bool control = (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F;
    if (length == 0 || control) {
      const char* what = control ? "is a control character" : "is not UTF-8";
      return Error{fmt::format("not a text file: byte 0x{:02x} {}", byte, what), SourceRef{name, line, column}};
    }
    i += length;
    if (byte == '\n') {
      ++line;
      column = 0;
    }
  }
  return std::nullopt;
}

}  // namespace tbdsim
