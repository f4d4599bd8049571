#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace tbdsim {

/// An option of a function, as `gpus=8` gives it: the command-line option of the same name.
using ClaimOption = std::pair<std::string, std::string>;

/// One node of a claim's expression; `children` index into the expression's nodes.
struct ClaimNode {
  enum class Kind { number, text, leaf, maximum, minimum, mean, negate, add, subtract, multiply, divide };
  Kind kind = Kind::number;
  double number = 0.0;
  std::string text;                  ///< of a text, or the name of a leaf
  std::vector<ClaimOption> options;  ///< of a leaf
  std::vector<std::size_t> children;
};

/// `left < right`, perhaps with slack.
struct ClaimComparison {
  enum class Kind { less, at_most, more, at_least, equal };
  Kind kind = Kind::equal;
  std::size_t left = 0, right = 0;
};

/// How far a comparison may be missed: a share of its right side, or an amount.
struct ClaimTolerance {
  double amount = 0.0;
  bool relative = false;
};

/// A claim: comparisons that must all hold.
struct ClaimExpression {
  std::vector<ClaimNode> nodes;
  std::vector<ClaimComparison> comparisons;
  ClaimTolerance tolerance;
  bool has_tolerance = false;  ///< the expression states one itself, `within 10 %`
};

/// What is wrong with an expression, and where in it.
struct ClaimSlip {
  std::string message;
  std::size_t offset = 0, width = 1;
};

/// Reads a claim.
///
///     claim      = comparison { "and" comparison } [ "within" number [ "%" | unit ] ]
///     comparison = sum ( "<" | "<=" | ">" | ">=" | "==" ) sum { the same again }
///     sum        = product { ( "+" | "-" ) product }
///     product    = factor { ( "*" | "/" ) factor }
///     factor     = "-" factor | number [ unit ] | "text" | "(" sum ")" | function
///     function   = ( "max" | "min" | "mean" ) "(" sum { "," sum } ")"
///                | leaf [ "(" [ option "=" value { "," option "=" value } ] ")" ]
///
/// A leaf is a key of a verb's JSON output, `throughput`, or the end of its path, `limit.share`. `within` allows a
/// share of the right side or an amount. Values with a comma or a bracket stand in quotes.
[[nodiscard]] tl::expected<ClaimExpression, ClaimSlip> parse_claim(std::string_view text);

/// Reads `10 %`, `0.05` or `0.04 GB`.
[[nodiscard]] tl::expected<ClaimTolerance, std::string> parse_tolerance(std::string_view text);

}  // namespace tbdsim
