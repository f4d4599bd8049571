#pragma once
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace tbdsim {

/// A place in a user's file. `line` and `column` count from 1; 0 means "the file as a whole".
struct SourceRef {
  std::string file;
  int line = 0;
  int column = 0;
};

/// One problem that a user caused. `message` reads `key: expected ..., got ...`.
struct Error {
  std::string message;
  SourceRef where = {};
  std::string line_text = {};  ///< the offending line; empty when there is none to show
  int caret_width = 0;         ///< characters to underline from `where.column`; 0: no caret

  /// `file:line:column: message`, then the line and a caret when known. No trailing newline.
  [[nodiscard]] std::string text() const;
};

/// Every problem found, in file order.
using Errors = std::vector<Error>;

/// A value, or every reason why there is none. What only a programmer can cause is an assert instead.
template <class T>
using Result = tl::expected<T, Errors>;

/// One problem without a place in a file (a bad option, a missing file).
[[nodiscard]] inline tl::unexpected<Errors> fail(std::string message) {
  return tl::make_unexpected(Errors{Error{std::move(message)}});
}

/// All `errors` as text, one after the other, each ending in a newline.
[[nodiscard]] std::string to_text(const Errors& errors);

}  // namespace tbdsim
