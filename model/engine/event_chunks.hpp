#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "model/units/sim_time.hpp"

namespace tbdsim::engine {

/// First-in first-out lists of events, in chunks taken from one pool: lists are read front to back along whole cache
/// lines, and no list allocates once the pool has grown to the most events ever pending.
template <class Event>
class EventChunks {
 public:
  static constexpr std::int32_t kNone = -1;

  struct List {
    std::int32_t head = kNone, tail = kNone;
    SimTime earliest{std::numeric_limits<std::int64_t>::max()};
    [[nodiscard]] bool empty() const { return head == kNone; }
  };

  /// Room for `events` without another allocation, even if each is on a list of its own.
  void reserve(std::size_t events) { chunks_.reserve(events); }

  void append(List& list, const Event& event) {
    if (list.tail == kNone || chunk(list.tail).count == kChunk) {
      const std::int32_t added = acquire();
      (list.tail == kNone ? list.head : chunk(list.tail).next) = added;
      list.tail = added;
    }
    Chunk& tail = chunk(list.tail);
    tail.events[static_cast<std::size_t>(tail.count++)] = event;
    list.earliest = std::min(list.earliest, event.time);
  }

  [[nodiscard]] bool holds_one(const List& list) const { return chunk(list.head).count == 1 && chunk(list.head).next == kNone; }
  [[nodiscard]] const Event& at(const List& list, std::int32_t i) const {
    return chunk(list.head).events[static_cast<std::size_t>(i)];
  }
  /// Events in the first chunk of the list.
  [[nodiscard]] std::int32_t first_count(const List& list) const { return chunk(list.head).count; }

  void drop_first_chunk(List& list) {
    const std::int32_t dropped = list.head;
    list.head = chunk(dropped).next;
    if (list.head == kNone) list = List{};
    release(dropped);
  }

  /// Empties `list` and hands its events to place(event) in order; `place` may append to any other list.
  template <class Place>
  void drain(List list, Place place) {
    for (std::int32_t c = list.head; c != kNone;) {
      const Chunk copy = chunk(c);  // placing its events may reuse or move the original
      // The chunks of a long list lie scattered; without this, 10^6 pending events cost a cache miss for each chunk.
      if (copy.next != kNone) __builtin_prefetch(&chunk(copy.next));
      release(c);
      for (std::int32_t i = 0; i < copy.count; ++i) place(copy.events[static_cast<std::size_t>(i)]);
      c = copy.next;
    }
  }

 private:
  static constexpr std::int32_t kChunk = 7;  // 7 events of 16 bytes and the two fields below fill two cache lines

  struct Chunk {
    std::array<Event, kChunk> events;
    std::int32_t count;
    std::int32_t next;
  };

  [[nodiscard]] Chunk& chunk(std::int32_t i) { return chunks_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Chunk& chunk(std::int32_t i) const { return chunks_[static_cast<std::size_t>(i)]; }

  std::int32_t acquire() {
    std::int32_t taken = free_;
    if (taken == kNone) {
      taken = static_cast<std::int32_t>(chunks_.size());
      chunks_.emplace_back();
    } else {
      free_ = chunk(taken).next;
    }
    chunk(taken).count = 0;
    chunk(taken).next = kNone;
    return taken;
  }
  void release(std::int32_t i) {
    chunk(i).next = free_;
    free_ = i;
  }

  std::vector<Chunk> chunks_;
  std::int32_t free_ = kNone;
};

}  // namespace tbdsim::engine
