#pragma once
#include <string>
#include <string_view>

namespace tbdsim {

/// The text of a file of model/report/web, by its path there; empty where there is none.
[[nodiscard]] std::string web_part(std::string_view file);

}  // namespace tbdsim
