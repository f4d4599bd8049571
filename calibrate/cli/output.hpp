#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/support/result.hpp"

namespace tbdsim::calibrate {

/// Refuses to write over what this program did not write. A regular file may be replaced where it is empty or its first line
/// begins with `own`, and where it is none of `inputs`.
/// Errors: an input; a file that begins otherwise (shows the line); a folder.
[[nodiscard]] Result<int> may_replace(const std::string& path, std::string_view own, const std::vector<std::string>& inputs = {});

/// Writes all of `text`. Errors: cannot write.
[[nodiscard]] Result<int> write_text(const std::string& path, const std::string& text);

}  // namespace tbdsim::calibrate
