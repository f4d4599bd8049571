#include "model/configuration/framework_arguments/shell_words.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace tbdsim {
namespace {

/// Longer ones are not put together: a variable that holds itself twice would double with every line.
constexpr std::size_t kLongestWord = 4096;

bool of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// `NAME` of "NAME=..." or "NAME+=..."; empty: no assignment.
std::string_view assigned_name(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) return {};
  std::string_view name = word.substr(0, equals);
  if (name.ends_with('+')) name.remove_suffix(1);
  const bool sound = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
                     std::all_of(name.begin(), name.end(), of_name);
  return sound ? name : std::string_view{};
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<ShellWord> read() {
    while (at_ < text_.size()) step();
    end_word();
    return std::move(words_);
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0, line_begin_ = 0;
  int line_ = 1;
  ShellWord word_;
  bool inside_ = false;
  char quote_ = '\0';
  std::size_t passed_over_ = std::string_view::npos;  ///< the end of quotes round options
  std::vector<ShellWord> words_;
  std::map<std::string, std::string, std::less<>> variables_;

  [[nodiscard]] char here() const { return text_[at_]; }
  [[nodiscard]] char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  void begin_word() {
    if (inside_) return;
    inside_ = true;
    word_ = {"", line_, static_cast<int>(at_ - line_begin_) + 1};
  }
  void take(char c) {
    begin_word();
    word_.text += c;
  }
  void new_line() {
    ++line_;
    line_begin_ = at_ + 1;
  }

  void end_word() {
    if (!inside_) return;
    inside_ = false;
    const bool value = !words_.empty() && words_.back().text.starts_with("--");
    const std::string_view name = value ? std::string_view{} : assigned_name(word_.text);
    if (name.empty()) {
      words_.push_back(std::move(word_));
      return;
    }
    variables_[std::string(name)] = word_.text.substr(word_.text.find('=') + 1);
  }

  void end_line() {
    end_word();
    if (!words_.empty() && !words_.back().ends) words_.push_back({"", line_, 1, true});
  }

  /// Blanks and brackets; the end of a line is more than that.
  static bool parts_words(char c) {
    return (std::isspace(static_cast<unsigned char>(c)) != 0 && c != '\n') || c == '(' || c == ')';
  }

  void step() {
    const char c = here();
    if (at_ == passed_over_ || (quote_ == '\0' && parts_words(c))) {
      end_word();
    } else if (c == '\\' && (next() == '\n' || next() == '\r')) {
      end_word();
      at_ += next() == '\r' ? 2 : 1;
      new_line();
    } else if (quote_ != '\0') {
      quoted(c);
    } else if (c == '\n') {
      end_line();
      new_line();
    } else if (c == '\'' || c == '"') {
      open_quote(c);
    } else if (c == '#' && !inside_) {
      while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
    } else if (c == '<' && next() == '<') {
      here_document();
    } else if (c == '$') {
      variable();
    } else if (c == '\\') {
      if (at_ + 1 < text_.size()) take(text_[++at_]);
    } else if (c == ';' || c == '|' || c == '&' || c == '>') {
      end_line();
    } else {
      take(c);
    }
    ++at_;
  }

  void quoted(char c) {
    if (c == quote_) {
      quote_ = '\0';
    } else if (c == '$' && quote_ == '"') {
      variable();
    } else {
      take(c);
      if (c == '\n') new_line();
    }
  }

  /// Quotes round options are passed over: their words are read one by one.
  void open_quote(char c) {
    const std::size_t end = text_.find(c, at_ + 1);
    const std::string_view content = text_.substr(at_ + 1, end == std::string_view::npos ? end : end - at_ - 1);
    const std::size_t first = content.find_first_not_of(" \t\r\n\\");
    const bool holds = content.find(" --") != std::string_view::npos || content.find("\t--") != std::string_view::npos ||
                       (first != std::string_view::npos && content.substr(first, 2) == "--") || first == std::string_view::npos;
    if (end == std::string_view::npos || holds) {
      if (content.empty() && end != std::string_view::npos) begin_word();
      end_word();
      passed_over_ = end;
      return;
    }
    begin_word();
    quote_ = c;
  }

  /// `$NAME`, `${NAME}`, `${NAME:-default}`; anything else stands as it is written.
  void variable() {
    const std::size_t begin = at_;
    const bool braces = next() == '{';
    if (next() == '(') return command();
    std::size_t end = begin + (braces ? 2 : 1);
    while (end < text_.size() && of_name(text_[end])) ++end;
    const std::string_view name = text_.substr(begin + (braces ? 2 : 1), end - begin - (braces ? 2 : 1));
    std::string_view fallback;
    bool has_fallback = false;
    if (braces) {
      const std::size_t close = std::min(text_.find('}', end), text_.size() - 1);
      fallback = text_.substr(end, close - end);
      has_fallback = fallback.starts_with(":-") || fallback.starts_with(":=");
      if (has_fallback) fallback.remove_prefix(2);
      if (fallback.size() > 1 && (fallback.front() == '"' || fallback.front() == '\'') && fallback.back() == fallback.front())
        fallback = fallback.substr(1, fallback.size() - 2);
      end = close + 1;
    }
    begin_word();
    const auto known = variables_.find(name);
    if (known != variables_.end() && word_.text.size() + known->second.size() <= kLongestWord)
      word_.text += known->second;
    else if (has_fallback)
      word_.text += fallback;
    else
      word_.text += text_.substr(begin, end - begin);
    at_ = end - 1;
  }

  /// `$(...)`: as written, its brackets balanced.
  void command() {
    begin_word();
    int open = 0;
    for (; at_ < text_.size(); ++at_) {
      open += here() == '(' ? 1 : here() == ')' ? -1 : 0;
      if (here() == '\n') new_line();
      word_.text += here() == '\n' ? ' ' : here();
      if (open == 0 && here() == ')') return;
    }
  }

  void here_document() {
    end_word();
    at_ += 2;
    while (at_ < text_.size() && (here() == '-' || here() == ' ' || here() == '\'' || here() == '"')) ++at_;
    const std::size_t begin = at_;
    while (at_ < text_.size() && of_name(here())) ++at_;
    const std::string mark = "\n" + std::string(text_.substr(begin, at_ - begin));
    const std::size_t end = mark.size() > 1 ? text_.find(mark, at_) : std::string_view::npos;
    const std::size_t stop = end == std::string_view::npos ? text_.size() : end + mark.size();
    for (; at_ < stop; ++at_)
      if (here() == '\n') new_line();
    --at_;
  }
};

}  // namespace

std::vector<ShellWord> shell_words(std::string_view script) { return Reader(script).read(); }

}  // namespace tbdsim
