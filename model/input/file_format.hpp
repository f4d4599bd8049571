#pragma once
#include <span>
#include <string>
#include <string_view>

namespace tbdsim {

/// Keys of one kind of file with what they mean, declared beside their readers. A test holds them against the keys that the
/// readers ask for, in both directions.
struct KeyMeaning {
  std::string_view table;  ///< "[[calibration]]"; empty: the file itself
  std::string_view keys;   ///< each in back quotes; bold where it must be there
  std::string_view meaning;
  std::string_view absent;  ///< what holds without it; empty where that is said elsewhere or it must be there
};

struct FileFormat {
  std::string_view title, where;
  std::span<const KeyMeaning> keys;
};

/// A section with a table for each format, as Markdown.
[[nodiscard]] std::string formats_markdown(std::span<const FileFormat> formats);

}  // namespace tbdsim
