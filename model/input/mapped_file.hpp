#pragma once
#include <string>
#include <string_view>

#include "model/support/result.hpp"

namespace tbdsim {

/// The bytes of a file, which the system reads where they are looked at: a file of gigabytes of which only the structure
/// is wanted costs what the structure does. The file must not shrink meanwhile.
class MappedFile {
 public:
  /// Errors: cannot open (with the system's reason), is no regular file.
  [[nodiscard]] static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}
  std::string_view bytes_;
};

}  // namespace tbdsim
