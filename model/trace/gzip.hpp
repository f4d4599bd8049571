#pragma once
#include <string>
#include <string_view>

#include "model/support/result.hpp"

namespace tbdsim::trace {

/// Whether bytes begin as those of a gzip file do.
[[nodiscard]] bool is_gzip(std::string_view bytes);

/// What a gzip file holds. Errors: damaged or cut short, larger than `most` bytes once it is unpacked.
[[nodiscard]] Result<std::string> unpack_gzip(std::string_view bytes, const std::string& name, std::size_t most);

}  // namespace tbdsim::trace
