#include "model/input/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

constexpr mode_t kMode = 0666;             // what the mask of the process leaves of it
constexpr mode_t kPermissions = 07777;     // the part of a mode that is no type
constexpr std::size_t kMarkWithin = 4096;  // bytes
constexpr std::size_t kShown = 40;         // bytes of a file of another kind

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

bool same(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

/// Where results and remarks of this process go: `--report /dev/stdout > FILE` adds to that file.
bool is_own_stream(const struct stat& file) {
  struct stat status {};
  return (::fstat(STDOUT_FILENO, &status) == 0 && same(file, status)) ||
         (::fstat(STDERR_FILENO, &status) == 0 && same(file, status));
}

tl::unexpected<Errors> cannot(const std::string& path, const char* why) {
  return fail(fmt::format("cannot write \"{}\": {}", path, why));
}

/// Writes all, and returns 0 or the system's error.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// Into what has no text of its own to lose: a device, a pipe, this process's own stream.
Result<void> write_into(const std::string& path, std::string_view text) {
  // A named pipe that nobody reads would keep the program waiting.
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return cannot(path, errno == ENXIO ? "a named pipe that nobody reads" : std::strerror(errno));
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
  int error = write_all(descriptor, text);
  if (::close(descriptor) != 0 && error == 0) error = errno;
  return error == 0 ? Result<void>() : cannot(path, std::strerror(error));
}

/// A new file in a folder, under a name that no other process takes.
int open_fresh(const std::filesystem::path& folder, std::string& name) {
  for (int attempt = 0;; ++attempt) {
    name = (folder / fmt::format(".tbdsim-{}-{}", ::getpid(), attempt)).string();
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
}

/// Fills a fresh file, down to the disk.
int fill(int descriptor, std::string_view text, const std::optional<struct stat>& old) {
  int error = write_all(descriptor, text);
  if (error == 0 && old && ::fchmod(descriptor, old->st_mode & kPermissions) != 0) error = errno;
  if (error == 0 && ::fsync(descriptor) != 0 && errno != EINVAL && errno != ENOSYS) error = errno;
  if (::close(descriptor) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace

Result<void> OutputFile::check() const {
  if (path == "-") return cannot(path, "expected the name of a file; /dev/stdout is what this program prints");
  const auto status = status_of(path);
  if (!status) return {};
  if (S_ISDIR(status->st_mode)) return cannot(path, "it is a folder");
  if (!S_ISREG(status->st_mode) || is_own_stream(*status)) return {};
  const bool read = std::any_of(inputs.begin(), inputs.end(), [&](const std::string& input) {
    const auto other = status_of(input);
    return other && same(*status, *other);
  });
  if (read) return fail(fmt::format("{}: is read by the same command; write to another file", path));
  if (::access(path.c_str(), W_OK) != 0) return cannot(path, std::strerror(errno));
  std::string text(kMarkWithin, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  if (status->st_size == 0 || text.find(mark) != std::string::npos) return {};
  text.resize(std::min({text.size(), kShown, text.find('\n')}));
  return fail(fmt::format("{}: holds what this command did not write ({}...); write to another file, or remove it", path,
                          tbdsim::quoted(text)));
}

Result<void> OutputFile::write(std::string_view text) const {
  if (auto allowed = check(); !allowed) return allowed;
  const auto old = status_of(path);
  if (old && (!S_ISREG(old->st_mode) || is_own_stream(*old))) return write_into(path, text);
  std::error_code failed;
  std::filesystem::path target = std::filesystem::canonical(path, failed);
  if (failed) target = path;
  std::string fresh;
  const int descriptor = open_fresh(target.has_parent_path() ? target.parent_path() : ".", fresh);
  if (descriptor < 0) return cannot(path, std::strerror(errno));
  int error = fill(descriptor, text, old);
  if (error == 0 && ::rename(fresh.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(fresh.c_str());
  return cannot(path, std::strerror(error));
}

void report_file_size_limit() { std::signal(SIGXFSZ, SIG_IGN); }

}  // namespace tbdsim
