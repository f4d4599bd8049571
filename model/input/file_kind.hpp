#pragma once
#include <string>
#include <string_view>

#include "model/support/result.hpp"

namespace tbdsim {

/// The forms of text that this program reads.
enum class TextForm { csv, toml, json };

/// The kind of a file as its first bytes give it away, such as "a SQLite database"; empty: none of those that are known.
[[nodiscard]] std::string_view file_kind(std::string_view bytes);

/// One error where `bytes` are plainly of another kind than the form expected: a reader would find fault with every line.
[[nodiscard]] Result<void> check_form(std::string_view bytes, TextForm expected, const std::string& name);

}  // namespace tbdsim
