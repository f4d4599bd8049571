#pragma once
#include <string_view>

namespace tbdsim {

/// The program's version as CMakeLists.txt names it: "0.3.0". One source holds it, so a new version compiles one file.
std::string_view version();

}  // namespace tbdsim
