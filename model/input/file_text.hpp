#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "model/support/result.hpp"

namespace tbdsim {

/// The bytes of a file. Errors: cannot open (with the system's reason), is a directory, larger than 64 MiB.
[[nodiscard]] Result<std::string> read_file(const std::string& path);

/// The first byte that no text file holds: malformed UTF-8 or a control character other than tab and line ends.
/// `name` is what the message calls the file.
[[nodiscard]] std::optional<Error> binary_problem(std::string_view text, const std::string& name);

}  // namespace tbdsim
