#pragma once
#include <string>
#include <string_view>

namespace tbdsim {

/// SHA-256 of `bytes` as 64 lower-case hexadecimal digits, for tracing a result to its input files.
/// Source: FIPS 180-4, sections 4.1.2, 4.2.2, 5.1.1, 5.3.3, 6.2.2.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace tbdsim
