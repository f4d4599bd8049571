#include "model/engine/event_queue.hpp"

#include <cstdint>
#include <queue>
#include <random>
#include <tuple>
#include <vector>

#include "tests/catch.hpp"

using tbdsim::SimTime;
using tbdsim::engine::EventQueue;

namespace {

/// The textbook queue: earliest time first, then insertion sequence.
class Reference {
 public:
  void push(std::int64_t time, std::int64_t payload) { heap_.emplace(time, sequence_++, payload); }
  std::pair<std::int64_t, std::int64_t> pop() {
    const auto [time, sequence, payload] = heap_.top();
    heap_.pop();
    return {time, payload};
  }

 private:
  using Entry = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap_;
  std::int64_t sequence_ = 0;
};

/// Pushes and pops at random; increments are below 2^bits, so small `bits` means many ties.
void compare_with_reference(std::uint64_t seed, int bits, std::size_t pending, int steps) {
  INFO("seed " << seed << ", increments below 2^" << bits << ", about " << pending << " pending");
  std::mt19937_64 random(seed);
  EventQueue<std::int64_t> queue;
  Reference reference;
  for (int step = 0; step < steps; ++step) {
    const bool grow = queue.size() < pending ? random() % 4 != 0 : random() % 4 == 0;
    if (grow || queue.empty()) {
      const auto time = queue.now().picoseconds + static_cast<std::int64_t>(random() & ((std::uint64_t{1} << bits) - 1));
      queue.push({time}, step);
      reference.push(time, step);
      continue;
    }
    const auto event = queue.pop();
    const auto [time, payload] = reference.pop();
    REQUIRE(event.time.picoseconds == time);
    REQUIRE(event.payload == payload);
    REQUIRE(queue.now() == event.time);
  }
}

}  // namespace

TEST_CASE("events of equal time leave in insertion order") {
  EventQueue<int> queue;
  for (int i = 0; i < 100; ++i) queue.push({i % 2 == 0 ? 7 : 3}, i);
  for (int i = 1; i < 100; i += 2) REQUIRE(queue.pop().payload == i);
  // Pushed when the clock already stands at 3: before everything at 7, and after what came earlier at 7.
  queue.push({7}, 100);
  queue.push({3}, 101);
  REQUIRE(queue.pop().payload == 101);
  for (int i = 0; i < 100; i += 2) REQUIRE(queue.pop().payload == i);
  REQUIRE(queue.pop().payload == 100);
  REQUIRE(queue.empty());
}

TEST_CASE("an order of insertion survives the move between buckets") {
  EventQueue<int> queue;
  const std::int64_t far = (std::int64_t{1} << 40) + 5;
  queue.push({far}, 0);       // waits in a bucket of the 40th bit
  queue.push({far - 1}, 10);  // reached first: redistributes that bucket
  queue.push({far - 4096}, 20);
  REQUIRE(queue.pop().payload == 20);
  queue.push({far}, 1);  // same time, placed under another clock
  REQUIRE(queue.pop().payload == 10);
  queue.push({far}, 2);
  REQUIRE(queue.pop().payload == 0);
  REQUIRE(queue.pop().payload == 1);
  REQUIRE(queue.more_now());
  REQUIRE(queue.pop().payload == 2);
  REQUIRE_FALSE(queue.more_now());
}

TEST_CASE("more_now sees only events at the clock") {
  EventQueue<int> queue;
  queue.push({5}, 0);
  queue.push({5}, 1);
  queue.push({6}, 2);
  REQUIRE(queue.pop().payload == 0);
  REQUIRE(queue.more_now());
  REQUIRE(queue.pop().payload == 1);
  REQUIRE_FALSE(queue.more_now());
  REQUIRE(queue.size() == 1);
  REQUIRE(queue.pop().time == SimTime{6});
}

TEST_CASE("the first and the last picosecond of the clock") {
  EventQueue<int> queue;
  const std::int64_t last = INT64_MAX;
  queue.push({last}, 3);
  queue.push({0}, 0);
  queue.push({last - 1}, 2);
  queue.push({1}, 1);
  for (int i = 0; i < 4; ++i) REQUIRE(queue.pop().payload == i);
  REQUIRE(queue.now() == SimTime{last});
}

TEST_CASE("same order as a priority queue of (time, sequence)") {
  for (const int bits : {0, 1, 3, 6, 7, 12, 20, 33, 45}) {
    for (const std::size_t pending : {1U, 8U, 300U, 5000U}) compare_with_reference(11 + pending, bits, pending, 40000);
  }
}
