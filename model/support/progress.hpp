#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace tbdsim {

/// Counts what is done of long work and tells a listener. Work that gets none reports nothing; all functions of `Progress*`
/// take a null pointer for that.
class Progress {
 public:
  /// How far a stretch of work has come.
  struct State {
    std::string what;       ///< its pieces in the plural: "points"
    std::size_t done = 0;   ///< pieces that are finished
    std::size_t all = 0;    ///< pieces in all
    std::size_t known = 0;  ///< of `done`, those that took no time since an earlier run had them
  };
  using Listener = std::function<void(const State&)>;

  explicit Progress(Listener listener) : listener_(std::move(listener)) {}

  /// How far one thread's work is.
  void set(std::string what, std::size_t done, std::size_t all, std::size_t known) {
    state_ = {std::move(what), done, all, known};
    done_ = done;
    tell();
  }
  /// A stretch of so many pieces begins. Not while threads work on one.
  void begin(std::string what, std::size_t all) { set(std::move(what), 0, all, 0); }
  /// More pieces are finished. From any thread; the listener hears one thread at a time, and not of every piece.
  void add(std::size_t pieces = 1) {
    done_ += pieces;
    tell();
  }

 private:
  void tell() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    state_.done = done_;
    listener_(state_);
  }

  Listener listener_;
  State state_;
  std::atomic<std::size_t> done_{0};
  std::mutex mutex_;
};

/// A stretch of work begins, where somebody listens.
inline void begin(Progress* progress, std::string what, std::size_t all) {
  if (progress != nullptr) progress->begin(std::move(what), all);
}
/// A piece is finished, where somebody listens.
inline void add_one(Progress* progress) {
  if (progress != nullptr) progress->add();
}

}  // namespace tbdsim
