#pragma once
#include <string>

namespace tbdsim {

/// What a name in a file means to a program that runs elsewhere. A path is one from the file's own folder; "dgx1.toml" is a file
/// there or, where there is none, the entry of the catalogue. Other names, and paths from the root, stay as they are.
[[nodiscard]] std::string named_from(const std::string& file, const std::string& name);

}  // namespace tbdsim
