// No allocation per event: the number of allocations of a run must not depend on how many events it handles.
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "model/engine/timeline.hpp"
#include "tests/catch.hpp"

namespace {
std::atomic<long> allocations{0};
}

// Not inlined: GCC warns of new without delete where it sees through only one of a pair.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace tbdsim;
using namespace tbdsim::engine;

namespace {

/// `rounds` times: four tasks, then four flows that start at different times and share two links.
TaskGraph rounds_of_flows(int rounds) {
  TaskGraph graph;
  std::vector<StreamId> streams;
  for (int s = 0; s < 4; ++s) streams.push_back(graph.add_stream("s"));
  const LinkId a = graph.add_link("a", BytesPerSecond(1e9));
  const LinkId b = graph.add_link("b", BytesPerSecond(2e9));
  const std::vector<LinkUse> route{{a}, {b}};
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t s = 0; s < 4; ++s) {
      const TaskId task = graph.add_task(streams[s], {static_cast<std::int64_t>(1000 + 10 * s)}, {});
      graph.add_flow(streams[s], Bytes(1000.0 + static_cast<double>(s)), {100}, route, std::vector{task});
    }
  }
  return graph;
}

long allocations_of_run(int rounds) {
  const TaskGraph graph = rounds_of_flows(rounds);
  const long before = allocations;
  (void)simulate(graph);
  return allocations - before;
}

}  // namespace

TEST_CASE("a run allocates the same number of times however many events it handles") {
  const long small = allocations_of_run(4);
  REQUIRE(small > 0);
  REQUIRE(allocations_of_run(400) == small);
  REQUIRE(allocations_of_run(4000) == small);
}
