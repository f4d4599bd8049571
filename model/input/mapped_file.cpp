#include "model/input/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace tbdsim {
namespace {

tl::unexpected<Errors> refuse(const std::string& path, std::string message) {
  return tl::make_unexpected(Errors{Error{std::move(message), SourceRef{path, 0, 0}}});
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return refuse(path, fmt::format("cannot open: {}", std::strerror(errno)));
  struct stat status {};
  const bool regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  if (!regular) {
    ::close(file);
    return refuse(path, S_ISDIR(status.st_mode) ? "expected a file, got a directory" : "expected a regular file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const start = size > 0 ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0) : nullptr;
  ::close(file);
  if (start == MAP_FAILED) return refuse(path, fmt::format("cannot read: {}", std::strerror(errno)));
  return MappedFile(std::string_view(static_cast<const char*>(start), size));
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace tbdsim
