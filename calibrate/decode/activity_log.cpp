#include "calibrate/decode/activity_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "model/input/file_text.hpp"
#include "model/support/quote.hpp"

namespace tbdsim::calibrate {
namespace {

/// Blank-separated words of one line.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view word() {
    const std::string_view result = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(std::min(result.size() + 1, rest_.size()));
    return result;
  }
  std::string_view rest() const { return rest_; }

  template <class T>
  Words& number(T& value) {
    const std::string_view text = word();
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    good_ = good_ && status == std::errc() && end == text.data() + text.size() && value >= 0;
    return *this;
  }
  bool good() const { return good_; }

 private:
  std::string_view rest_;
  bool good_ = true;
};

std::optional<ActivityKind> kind_of(std::string_view word) {
  if (word == "kernel") return ActivityKind::kernel;
  if (word == "copy") return ActivityKind::copy;
  if (word == "fill") return ActivityKind::fill;
  return std::nullopt;
}

/// Reads one line into `log`; false if it is broken.
bool take_line(std::string_view line, ActivityLog& log) {
  Words words(line);
  const std::string_view first = words.word();
  if (first == "device" || first == "driver" || first == "library" || first == "date") {
    (first == "device"    ? log.device
     : first == "driver"  ? log.driver
     : first == "library" ? log.library
                          : log.date) = words.rest();
    return true;
  }
  if (first == "dropped") {  // since the line before that said so
    std::int64_t more = 0;
    if (!words.number(more).good()) return false;
    log.dropped += more;
    return true;
  }
  const auto kind = kind_of(first);
  if (!kind) return false;
  Activity a;
  a.kind = *kind;
  words.number(a.correlation).number(a.stream).number(a.start_ns).number(a.end_ns);
  if (a.kind == ActivityKind::kernel) {
    for (auto* extent : {&a.grid, &a.block}) {
      for (std::int32_t& value : *extent) words.number(value);
    }
    words.number(a.registers).number(a.shared_bytes);
    a.name = words.rest();
  } else {
    words.number(a.bytes);
    a.name = words.rest();
  }
  if (!words.good() || a.end_ns < a.start_ns || (a.kind != ActivityKind::fill && a.name.empty())) return false;
  log.activities.push_back(std::move(a));
  return true;
}

}  // namespace

Result<ActivityLog> parse_activity_log(std::string_view text, const std::string& name) {
  if (text.substr(0, text.find('\n')) != kActivityMagic)
    return tl::make_unexpected(
        Errors{{fmt::format("expected a recording that starts with \"{}\"", kActivityMagic), {name, 1, 1}}});
  ActivityLog log;
  Errors errors;
  int number = 1;
  text.remove_prefix(std::min(kActivityMagic.size() + 1, text.size()));
  constexpr std::size_t kMostErrors = 20;
  while (!text.empty() && errors.size() < kMostErrors) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const bool cut = end == std::string_view::npos;  // the program was killed while writing it
    if (!line.empty() && !cut && !take_line(line, log))
      errors.push_back(
          {fmt::format("expected a kernel, copy or fill with its numbers, got {}", quoted(line)), {name, number, 1}});
    text.remove_prefix(cut ? text.size() : end + 1);
  }
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  std::stable_sort(log.activities.begin(), log.activities.end(),
                   [](const Activity& a, const Activity& b) { return a.start_ns < b.start_ns; });
  return log;
}

Result<ActivityLog> read_activity_log(const std::string& path) {
  return read_file(path).and_then([&](const std::string& text) { return parse_activity_log(text, path); });
}

}  // namespace tbdsim::calibrate
