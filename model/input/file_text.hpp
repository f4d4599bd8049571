#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "model/support/result.hpp"

namespace tbdsim {

/// The largest table imaginable is far smaller; what is larger was given by mistake.
inline constexpr std::size_t kLargestTable = 64;  // MiB
/// TOML is written by hand, and takes some 100 times its size once it is parsed.
inline constexpr std::size_t kLargestToml = 8;  // MiB

/// The bytes of a file. Errors: cannot open (with the system's reason), is a directory, larger than it may be.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t largest_mebibytes = kLargestTable);

/// The first byte that no text file holds: malformed UTF-8 or a control character other than tab and line ends.
/// `name` is what the message calls the file.
[[nodiscard]] std::optional<Error> binary_problem(std::string_view text, const std::string& name);

}  // namespace tbdsim
