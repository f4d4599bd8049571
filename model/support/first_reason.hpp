#pragma once
#include <string>

#include "model/support/result.hpp"

namespace tbdsim {

/// The first of `errors` in one line, for a cell of a table: with its place where that is a file, and without the line of the
/// file. Empty: there is none.
[[nodiscard]] std::string first_reason(const Errors& errors);

}  // namespace tbdsim
