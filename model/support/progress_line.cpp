#include "model/support/progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tbdsim {
namespace {

constexpr double kPatience = 1.0;  ///< seconds before a line appears: shorter work needs none
constexpr double kPause = 0.1;     ///< seconds between two lines, which nobody reads faster
constexpr const char* kErase = "\r\x1b[K";

/// Whether standard error is a terminal that can erase a line.
bool can_erase() {
  const char* const terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

/// 12345 as "12,345".
std::string grouped(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, ",");
  return text;
}

}  // namespace

std::string progress_text(const Progress::State& state, double seconds) {
  std::string text = fmt::format("{} of {} {}", grouped(state.done), grouped(state.all), state.what);
  const std::size_t fresh = state.done - state.known;
  if (fresh == 0 || state.done >= state.all) return text;
  const double left = seconds / static_cast<double>(fresh) * static_cast<double>(state.all - state.done);
  return text + (left < 120.0 ? fmt::format(", {:.0f} s left", left) : fmt::format(", {:.0f} min left", left / 60.0));
}

ProgressLine::ProgressLine() : terminal_(can_erase()), progress_([this](const Progress::State& state) { show(state); }) {}

ProgressLine::~ProgressLine() { erase(); }

void ProgressLine::erase() {
  if (!drawn_) return;
  drawn_ = false;
  fmt::print(stderr, "{}", kErase);
  std::fflush(stderr);
}

void ProgressLine::show(const Progress::State& state) {
  const Clock::time_point now = Clock::now();
  const auto since = [&](Clock::time_point then) { return std::chrono::duration<double>(now - then).count(); };
  if (state.what != what_) {
    what_ = state.what;
    stretch_ = now;
  }
  if (since(begun_) < kPatience || (drawn_ && since(last_) < kPause)) return;
  last_ = now;
  drawn_ = true;
  fmt::print(stderr, "{}{}", kErase, progress_text(state, since(stretch_)));
  std::fflush(stderr);
}

}  // namespace tbdsim
