#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/support/result.hpp"

namespace tbdsim {

/// A file that a command writes as a whole. What stands there already is replaced only where a result of the same kind stands
/// there, and only once all of the new one is written.
struct OutputFile {
  std::string path;
  std::string mark;                      ///< what every result of this kind holds among its first 4096 bytes
  std::vector<std::string> inputs = {};  ///< files that the same command reads; empty names are passed over

  /// Whether it may be written, without writing. Errors: a folder; one of `inputs`, under whatever name or link; a file that
  /// holds what has no such mark (shows how it begins); one that may not be written.
  [[nodiscard]] Result<void> check() const;

  /// Writes all of `text`: to a new file in the same folder, which then takes the place and the permissions of the old one, so
  /// that a full disk or an end in between leaves the old one whole. A symbolic link stays and its target is replaced; other
  /// names of the same file (hard links) keep the old text. A device or a pipe is written to as it is.
  /// Errors: those of `check`; the system's reason; a named pipe that nobody reads.
  [[nodiscard]] Result<void> write(std::string_view text) const;
};

/// Lets a write beyond the limit of file sizes (`ulimit -f`) fail with a reason instead of ending the program.
void report_file_size_limit();

}  // namespace tbdsim
