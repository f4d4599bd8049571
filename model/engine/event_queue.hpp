#pragma once
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "model/units/sim_time.hpp"

namespace tbdsim::engine {

/// Pending events of a simulation, earliest first; events of equal time leave in the order they were pushed.
///
/// A radix heap with base-64 digits: an event waits in the bucket named by the highest digit in which its time
/// differs from the clock, and moves to a lower bucket only when the clock reaches its prefix. That bucket is a
/// function of time and clock alone, so equal times share a bucket and keep their order without a sequence number.
/// An event moves at most once per digit and buckets are read front to back, so the cost per event stays flat from
/// 10^3 to 10^6 pending, where a binary heap suffers log2(n) cache misses.
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

  EventQueue() {
    for (auto& level : buckets_) level.fill(Bucket{});
  }
  /// Room for `events` pending without another allocation, even if each has a bucket of its own.
  void reserve(std::size_t events) { chunks_.reserve(events); }

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] SimTime now() const { return {static_cast<std::int64_t>(clock_)}; }  ///< time of the last event popped
  /// Whether another event waits at exactly `now()`.
  [[nodiscard]] bool more_now() const { return present_.head != kNone; }

  /// Expects time >= now(): simulated time never runs backwards.
  void push(SimTime time, Payload payload) {
    assert(time >= now());
    ++size_;
    place({time, payload});
  }

  /// Removes the earliest event and moves the clock to its time. Expects !empty().
  Event pop() {
    assert(!empty());
    --size_;
    if (present_.head == kNone) {
      const int level = std::countr_zero(levels_in_use_);
      const int digit = std::countr_zero(in_use_[index(level)]);
      const Bucket bucket = take(level, digit);
      const Chunk& first = chunks_[index(bucket.head)];
      if (first.count == 1 && first.next == kNone) {  // the usual case in sparse simulations: nothing to redistribute
        const Event event = first.events[0];
        release(bucket.head);
        clock_ = ticks(event);
        return event;
      }
      redistribute(bucket);
    }
    return pop_present();
  }

 private:
  static constexpr int kDigitBits = 6;  // 64 buckets a level: one machine word says which are in use
  static constexpr int kLevels = (64 + kDigitBits - 1) / kDigitBits;
  static constexpr std::int32_t kChunk = 7;  // with its links, 7 events of 16 bytes fill two cache lines
  static constexpr std::int32_t kNone = -1;

  struct Chunk {
    std::array<Event, kChunk> events;
    std::int32_t count;
    std::int32_t next;
  };
  struct Bucket {
    std::int32_t head = kNone, tail = kNone;
  };

  template <class Integer>
  static constexpr std::size_t index(Integer i) {
    return static_cast<std::size_t>(i);
  }
  static std::uint64_t ticks(const Event& event) { return static_cast<std::uint64_t>(event.time.picoseconds); }

  void place(const Event& event) {
    const std::uint64_t difference = ticks(event) ^ clock_;
    if (difference == 0) return append(present_, event);
    const int level = (63 - std::countl_zero(difference)) / kDigitBits;
    const int digit = static_cast<int>((ticks(event) >> (level * kDigitBits)) & ((1U << kDigitBits) - 1U));
    in_use_[index(level)] |= std::uint64_t{1} << digit;
    levels_in_use_ |= 1U << level;
    append(buckets_[index(level)][index(digit)], event);
  }

  void append(Bucket& bucket, const Event& event) {
    if (bucket.tail == kNone || chunks_[index(bucket.tail)].count == kChunk) {
      const std::int32_t chunk = acquire();
      (bucket.tail == kNone ? bucket.head : chunks_[index(bucket.tail)].next) = chunk;
      bucket.tail = chunk;
    }
    Chunk& tail = chunks_[index(bucket.tail)];
    tail.events[index(tail.count++)] = event;
  }

  Bucket take(int level, int digit) {
    const Bucket bucket = buckets_[index(level)][index(digit)];
    buckets_[index(level)][index(digit)] = Bucket{};
    in_use_[index(level)] &= in_use_[index(level)] - 1;
    if (in_use_[index(level)] == 0) levels_in_use_ &= levels_in_use_ - 1;
    return bucket;
  }

  /// Moves the clock to the earliest time in `bucket`, then every event of it to its bucket under that clock.
  void redistribute(Bucket bucket) {
    std::uint64_t earliest = ~std::uint64_t{0};
    for (std::int32_t c = bucket.head; c != kNone; c = chunks_[index(c)].next) {
      const Chunk& chunk = chunks_[index(c)];
      for (std::int32_t i = 0; i < chunk.count; ++i) earliest = std::min(earliest, ticks(chunk.events[index(i)]));
    }
    clock_ = earliest;
    for (std::int32_t c = bucket.head; c != kNone;) {
      const Chunk chunk = chunks_[index(c)];  // a copy: placing its events may reuse or move the original
      release(c);
      for (std::int32_t i = 0; i < chunk.count; ++i) place(chunk.events[index(i)]);
      c = chunk.next;
    }
  }

  Event pop_present() {
    const std::int32_t head = present_.head;
    const Event event = chunks_[index(head)].events[index(present_read_++)];
    if (present_read_ == chunks_[index(head)].count) {
      present_read_ = 0;
      present_.head = chunks_[index(head)].next;
      if (present_.head == kNone) present_.tail = kNone;
      release(head);
    }
    return event;
  }

  std::int32_t acquire() {
    std::int32_t chunk = free_;
    if (chunk == kNone) {
      chunk = static_cast<std::int32_t>(chunks_.size());
      chunks_.emplace_back();
    } else {
      free_ = chunks_[index(chunk)].next;
    }
    chunks_[index(chunk)].count = 0;
    chunks_[index(chunk)].next = kNone;
    return chunk;
  }
  void release(std::int32_t chunk) {
    chunks_[index(chunk)].next = free_;
    free_ = chunk;
  }

  std::array<std::array<Bucket, 1U << kDigitBits>, kLevels> buckets_;
  std::array<std::uint64_t, kLevels> in_use_{};  // per level, which digits hold events
  std::uint32_t levels_in_use_ = 0;
  Bucket present_;  // events at exactly the clock
  std::int32_t present_read_ = 0;
  std::vector<Chunk> chunks_;
  std::int32_t free_ = kNone;
  std::uint64_t clock_ = 0;
  std::size_t size_ = 0;
};

}  // namespace tbdsim::engine
