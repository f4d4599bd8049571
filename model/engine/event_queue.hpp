#pragma once
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <type_traits>

#include "model/engine/event_chunks.hpp"
#include "model/units/sim_time.hpp"

namespace tbdsim::engine {

/// Pending events of a simulation, earliest first; events of equal time leave in the order they were pushed.
///
/// A radix heap with base-64 digits: an event waits in the bucket named by the highest digit in which its time
/// differs from the clock, and moves to a lower bucket only when the clock reaches its prefix. That bucket is a
/// function of time and clock alone, so equal times share a bucket and keep their order without a sequence number.
/// An event moves at most once per digit and buckets are read front to back, so the cost per event stays nearly flat
/// from 10^3 to 10^6 pending, where a binary heap suffers log2(n) cache misses.
/// Allocates only when more events are pending than ever before.
/// Source: Ahuja, Mehlhorn, Orlin & Tarjan, "Faster algorithms for the shortest path problem", J. ACM 37(2), 1990.
template <class Payload>
class EventQueue {
  static_assert(std::is_trivially_copyable_v<Payload>);

 public:
  struct Event {
    SimTime time;
    Payload payload;
  };

  /// Room for `events` pending without another allocation.
  void reserve(std::size_t events) { chunks_.reserve(events); }

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] SimTime now() const { return clock_; }  ///< time of the last event popped
  /// Whether another event waits at exactly `now()`.
  [[nodiscard]] bool more_now() const { return !present_.empty(); }

  /// Expects time >= now(): simulated time never runs backwards.
  void push(SimTime time, Payload payload) {
    assert(time >= clock_);
    ++size_;
    place({time, payload});
  }

  /// Removes the earliest event and moves the clock to its time. Expects !empty().
  Event pop() {
    assert(!empty());
    --size_;
    if (present_.empty()) {
      List bucket = take_first_bucket();
      clock_ = bucket.earliest;
      if (chunks_.holds_one(bucket)) {  // the usual case in sparse simulations: nothing to redistribute
        const Event event = chunks_.at(bucket, 0);
        chunks_.drop_first_chunk(bucket);
        return event;
      }
      chunks_.drain(bucket, [this](const Event& event) { place(event); });
    }
    return pop_present();
  }

 private:
  using List = typename EventChunks<Event>::List;
  static constexpr int kDigitBits = 6;  // 64 buckets a level: one machine word says which are in use
  static constexpr int kLevels = (64 + kDigitBits - 1) / kDigitBits;

  static std::uint64_t ticks(SimTime time) { return static_cast<std::uint64_t>(time.picoseconds); }

  void place(const Event& event) {
    const std::uint64_t difference = ticks(event.time) ^ ticks(clock_);
    if (difference == 0) return chunks_.append(present_, event);
    const auto level = static_cast<std::size_t>((63 - std::countl_zero(difference)) / kDigitBits);
    const std::size_t digit = (ticks(event.time) >> (level * kDigitBits)) & ((1U << kDigitBits) - 1U);
    in_use_[level] |= std::uint64_t{1} << digit;
    levels_in_use_ |= 1U << level;
    chunks_.append(buckets_[level][digit], event);
  }

  /// The bucket of the lowest level and digit: all its events come before those of any other bucket.
  List take_first_bucket() {
    const auto level = static_cast<std::size_t>(std::countr_zero(levels_in_use_));
    const auto digit = static_cast<std::size_t>(std::countr_zero(in_use_[level]));
    const List bucket = buckets_[level][digit];
    buckets_[level][digit] = List{};
    in_use_[level] &= in_use_[level] - 1;
    if (in_use_[level] == 0) levels_in_use_ &= levels_in_use_ - 1;
    return bucket;
  }

  Event pop_present() {
    const Event event = chunks_.at(present_, present_read_++);
    if (present_read_ == chunks_.first_count(present_)) {
      present_read_ = 0;
      chunks_.drop_first_chunk(present_);
    }
    return event;
  }

  EventChunks<Event> chunks_;
  std::array<std::array<List, 1U << kDigitBits>, kLevels> buckets_;
  std::array<std::uint64_t, kLevels> in_use_{};  // per level, which digits hold events
  std::uint32_t levels_in_use_ = 0;
  List present_;  // events at exactly the clock
  std::int32_t present_read_ = 0;
  SimTime clock_;
  std::size_t size_ = 0;
};

}  // namespace tbdsim::engine
