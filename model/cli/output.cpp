#include "model/cli/output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tbdsim {

int write_result(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return kDone;
  return report({Error{fmt::format("cannot write the result: {}", std::strerror(errno))}});
}

Result<void> write_file(const std::string& path, std::string_view text) {
  const auto problem = [&] { return fail(fmt::format("cannot write \"{}\": {}", path, std::strerror(errno))); };
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return problem();
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  // Closing writes what is still buffered, so it may fail as well.
  if (std::fclose(file) != 0 || !written) return problem();
  return {};
}

int report(const Errors& errors) {
  for (const Error& error : errors) {
    const bool placed = !error.where.file.empty() || error.where.line > 0;
    fmt::print(stderr, "{}{}\n", placed ? "" : "tbdsim: ", error.text());
  }
  return kBadInput;
}

void report_notices(const std::vector<std::string>& notices) {
  for (const std::string& notice : notices) fmt::print(stderr, "tbdsim: note: {}\n", notice);
}

int deliver(const Result<Answer>& answer) {
  if (!answer) return report(answer.error());
  report_notices(answer->notices);
  return write_result(answer->text);
}

}  // namespace tbdsim
