#include "model/validation/claim_expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "model/support/quote.hpp"
#include "model/units/parse.hpp"

namespace tbdsim {
namespace {

/// Deeper nesting than any sane claim; the parser descends on the call stack.
constexpr int kDeepest = 64;
/// A claim that allows more than its whole right side hardly says anything.
constexpr double kMostTolerance = 1.0;
constexpr std::string_view kBlanks = " \t\r\n";

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

using Kind = ClaimNode::Kind;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  tl::expected<ClaimExpression, ClaimSlip> parse() {
    comparison();
    while (!slip_ && take_word("and")) comparison();
    if (!slip_ && take_word("within")) tolerance();
    skip();
    if (!slip_ && at_ < text_.size()) fail("expected \"and\", \"within\" or the end", 1);
    if (slip_) return tl::make_unexpected(*slip_);
    return std::move(expression_);
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  ClaimExpression expression_;
  std::optional<ClaimSlip> slip_;

  void skip() {
    while (at_ < text_.size() && kBlanks.find(text_[at_]) != std::string_view::npos) ++at_;
  }

  /// Notes the first problem; `found` characters from here are shown as what was found.
  void fail(const std::string& expected, std::size_t found) {
    if (slip_) return;
    const std::string_view rest = text_.substr(std::min(at_, text_.size()), found);
    slip_ = ClaimSlip{fmt::format("{}, got {}", expected, rest.empty() ? "the end" : tbdsim::quoted(rest)), at_,
                      std::max<std::size_t>(rest.size(), 1)};
  }

  bool take(std::string_view sign) {
    skip();
    if (text_.substr(at_, sign.size()) != sign) return false;
    at_ += sign.size();
    return true;
  }

  [[nodiscard]] std::string_view word() const {
    std::size_t end = at_;
    while (end < text_.size() && (letter(text_[end]) || digit(text_[end]) || text_[end] == '.')) ++end;
    return text_.substr(at_, end - at_);
  }

  bool take_word(std::string_view wanted) {
    skip();
    if (word() != wanted) return false;
    at_ += wanted.size();
    return true;
  }

  std::size_t add(ClaimNode node) {
    expression_.nodes.push_back(std::move(node));
    return expression_.nodes.size() - 1;
  }
  std::size_t add(Kind kind, std::vector<std::size_t> children) {
    ClaimNode node;
    node.kind = kind;
    node.children = std::move(children);
    return add(std::move(node));
  }

  std::optional<ClaimComparison::Kind> take_comparison() {
    using Sign = std::pair<std::string_view, ClaimComparison::Kind>;
    static constexpr std::array<Sign, 5> kSigns{{{"<=", ClaimComparison::Kind::at_most},
                                                 {">=", ClaimComparison::Kind::at_least},
                                                 {"==", ClaimComparison::Kind::equal},
                                                 {"<", ClaimComparison::Kind::less},
                                                 {">", ClaimComparison::Kind::more}}};
    for (const auto& [sign, kind] : kSigns) {
      if (take(sign)) return kind;
    }
    return std::nullopt;
  }

  void comparison() {
    std::size_t left = sum();
    auto kind = take_comparison();
    if (!kind) return fail("expected a comparison: <, <=, >, >= or ==", 1);
    for (; kind && !slip_; kind = take_comparison()) {
      const std::size_t right = sum();
      expression_.comparisons.push_back({*kind, left, right});
      left = right;
    }
  }

  void tolerance() {
    skip();
    const auto read = parse_tolerance(text_.substr(at_));
    if (!read) return fail(read.error().substr(0, read.error().find(", got")), text_.size() - at_);
    expression_.tolerance = *read;
    expression_.has_tolerance = true;
    at_ = text_.size();
  }

  std::size_t sum() {
    std::size_t left = product();
    while (!slip_) {
      if (take("+")) {
        left = add(Kind::add, {left, product()});
      } else if (take("-")) {
        left = add(Kind::subtract, {left, product()});
      } else {
        break;
      }
    }
    return left;
  }

  std::size_t product() {
    std::size_t left = factor();
    while (!slip_) {
      if (take("*")) {
        left = add(Kind::multiply, {left, factor()});
      } else if (take("/")) {
        left = add(Kind::divide, {left, factor()});
      } else {
        break;
      }
    }
    return left;
  }

  std::size_t factor() {
    if (depth_ >= kDeepest) {
      fail("expected fewer brackets", 1);
      return 0;
    }
    ++depth_;
    const std::size_t node = factor_here();
    --depth_;
    return node;
  }

  std::size_t factor_here() {
    if (take("-")) return add(Kind::negate, {factor()});
    if (take("(")) {
      const std::size_t inner = sum();
      if (!take(")")) fail("expected \")\"", 1);
      return inner;
    }
    skip();
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (digit(c) || c == '.') return number();
    if (c == '"' || c == '\'') return text_node();
    if (letter(c)) return function();
    fail("expected a number or a function", 1);
    return 0;
  }

  std::size_t number() {
    ClaimNode node;
    const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), node.number);
    const auto length = static_cast<std::size_t>(end - (text_.data() + at_));
    if (status != std::errc{}) {
      const bool beyond = status == std::errc::result_out_of_range;
      fail(beyond ? "expected a number within the range of a double" : "expected a number", beyond ? length : 1);
      return 0;
    }
    const std::size_t begin = at_;
    at_ += length;
    unit(begin, node.number);
    return add(std::move(node));
  }

  /// A unit behind the number that begins at `begin`; words of the grammar are none.
  void unit(std::size_t begin, double& value) {
    std::size_t from = at_;
    while (from < text_.size() && text_[from] == ' ') ++from;
    std::size_t end = from;
    while (end < text_.size() && (letter(text_[end]) || text_[end] == '%')) ++end;
    // A slash may belong to the unit (GB/s) or divide: the longer reading that is a unit wins.
    std::size_t with_slash = end;
    if (end > from && end < text_.size() && text_[end] == '/') {
      for (++with_slash; with_slash < text_.size() && letter(text_[with_slash]);) ++with_slash;
    }
    for (const std::size_t stop : {with_slash, end}) {
      if (stop == from) continue;
      const auto measured = parse_measured(text_.substr(begin, stop - begin));
      if (!measured) continue;
      value = measured->base;
      at_ = stop;
      return;
    }
    const std::string_view found = text_.substr(from, end - from);
    if (found.empty() || found == "and" || found == "within") return;
    at_ = from;
    fail("expected a unit such as \"GB\" or an operator", found.size());
  }

  std::string quoted_text() {
    const char quote = text_[at_];
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) {
      fail("expected a closing quote", text_.size() - at_);
      return "";
    }
    std::string found(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return found;
  }

  std::size_t text_node() {
    ClaimNode node;
    node.kind = Kind::text;
    node.text = quoted_text();
    return add(std::move(node));
  }

  std::size_t function() {
    const std::string name(word());
    at_ += name.size();
    const auto reduction = name == "max"    ? Kind::maximum
                           : name == "min"  ? Kind::minimum
                           : name == "mean" ? Kind::mean
                                            : Kind::leaf;
    if (reduction != Kind::leaf) return reduced(reduction, name);
    ClaimNode node;
    node.kind = Kind::leaf;
    node.text = name;
    if (take("(") && !take(")")) options(node);
    return add(std::move(node));
  }

  std::size_t reduced(Kind kind, const std::string& name) {
    std::vector<std::size_t> children;
    if (!take("(")) fail(fmt::format("expected \"(\" after {}", name), 1);
    do { children.push_back(sum()); } while (!slip_ && take(","));
    if (!take(")")) fail("expected \",\" or \")\"", 1);
    return add(kind, std::move(children));
  }

  void options(ClaimNode& node) {
    do {
      skip();
      const std::string name(word());
      if (name.empty()) return fail("expected an option such as gpus=8", 1);
      at_ += name.size();
      if (!take("=")) return fail(fmt::format("expected \"=\" after {}", name), 1);
      node.options.emplace_back(name, option_value());
      if (slip_) return;
    } while (take(","));
    if (!take(")")) fail("expected \",\" or \")\"", 1);
  }

  std::string option_value() {
    skip();
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) return quoted_text();
    const std::size_t end = std::min(text_.find_first_of(",()", at_), text_.size());
    std::string_view found = text_.substr(at_, end - at_);
    while (!found.empty() && kBlanks.find(found.back()) != std::string_view::npos) found.remove_suffix(1);
    if (found.empty()) fail("expected a value", 1);
    at_ += found.size();
    return std::string(found);
  }
};

}  // namespace

tl::expected<ClaimTolerance, std::string> parse_tolerance(std::string_view text) {
  double number = 0.0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  const bool bare = rest.find_first_not_of(kBlanks) == std::string_view::npos;
  const auto measured = parse_measured(text);
  const bool sound = status == std::errc{} && std::isfinite(number) && number >= 0.0 && (bare || measured);
  if (!sound) return tl::make_unexpected(fmt::format("expected a tolerance such as \"10 %\", got {}", tbdsim::quoted(text)));
  if (bare) return ClaimTolerance{number, false};
  const bool relative = measured->dimension == Dimension::ratio;
  if (relative && measured->base > kMostTolerance)
    return tl::make_unexpected(fmt::format("expected a tolerance of at most 100 %, got {}", tbdsim::quoted(text)));
  return ClaimTolerance{measured->base, relative};
}

tl::expected<ClaimExpression, ClaimSlip> parse_claim(std::string_view text) { return Parser(text).parse(); }

}  // namespace tbdsim
