// Allocators against their published rules and, over random sequences, against a plain ledger of what lives where.
#include <map>
#include <random>

#include "model/memory/allocator_bfc.hpp"
#include "model/memory/allocator_pytorch.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;

namespace {

constexpr double kMiB = 1048576.0;

/// Requests and frees at random, keeping a ledger; returns false where the allocator and the ledger disagree.
template <class Allocator, class Request>
void check_random(std::uint32_t seed, const Request& request) {
  CAPTURE(seed);
  std::mt19937 random(seed);
  Allocator allocator;
  std::map<std::int32_t, double> ledger;  // handle -> bytes asked for
  std::vector<std::int32_t> handles;
  for (int i = 0; i < 3000; ++i) {
    if (!handles.empty() && random() % 5 < 2) {
      const std::size_t which = random() % handles.size();
      allocator.free(handles[which]);
      ledger.erase(handles[which]);
      handles[which] = handles.back();
      handles.pop_back();
    } else {
      const double scale = std::pow(2.0, random() % 27);
      const double bytes = 1.0 + std::floor(scale * (1.0 + static_cast<double>(random() % 1000) / 1000.0));
      const auto handle = request(allocator, bytes, random);
      REQUIRE(handle);
      REQUIRE(ledger.count(*handle) == 0);  // a block that is in use is never given out again
      ledger[*handle] = bytes;
      handles.push_back(*handle);
    }
    if (i % 25 != 0) continue;
    // Bytes in use are the ledger's, rounded: nothing lost, nothing double.
    double asked = 0, given = 0;
    std::map<std::int64_t, std::int64_t> ranges;
    for (const auto& [handle, bytes] : ledger) {
      const BlockHeap::Block& block = allocator.heap().at(handle);
      REQUIRE(block.used);
      REQUIRE(static_cast<double>(block.bytes) >= bytes);
      asked += bytes;
      given += static_cast<double>(block.bytes);
      ranges[block.address] = block.address + block.bytes;
    }
    std::int64_t end = -1;
    for (const auto& [from, to] : ranges) {
      REQUIRE(from >= end);
      end = to;
    }
    REQUIRE(allocator.allocated() == Bytes(given));
    REQUIRE(allocator.reserved() >= Bytes(given));
    REQUIRE(given >= asked);
  }
  for (const std::int32_t handle : handles) allocator.free(handle);
  CHECK(allocator.allocated() == Bytes(0));
}

}  // namespace

TEST_CASE("PyTorch: random sequences never lose or double a byte") {
  for (std::uint32_t seed = 1; seed <= 6; ++seed)
    check_random<PytorchAllocator>(seed, [](PytorchAllocator& a, double bytes, std::mt19937& random) {
      return a.allocate(Bytes(bytes), static_cast<int>(random() % 3));
    });
}

TEST_CASE("BFC: random sequences never lose or double a byte") {
  for (std::uint32_t seed = 1; seed <= 6; ++seed)
    check_random<BfcAllocator>(seed, [](BfcAllocator& a, double bytes, std::mt19937&) { return a.allocate(Bytes(bytes)); });
}

TEST_CASE("PyTorch: size classes") {
  const auto reserved = [](double bytes) {
    PytorchAllocator a;
    (void)a.allocate(Bytes(bytes));
    return a.reserved().base() / kMiB;
  };
  CHECK(reserved(1) == 2.0);
  CHECK(reserved(kMiB) == 2.0);
  CHECK(reserved(kMiB + 1) == 20.0);
  CHECK(reserved(10 * kMiB - 512) == 20.0);
  CHECK(reserved(10 * kMiB) == 10.0);
  CHECK(reserved(10 * kMiB + 1) == 12.0);
  PytorchAllocator a;
  (void)a.allocate(Bytes(513));
  CHECK(a.allocated() == Bytes(1024));
}

TEST_CASE("PyTorch: a large block is split only where more than 1 MiB remains") {
  PytorchAllocator a;
  const auto big = a.allocate(Bytes(20 * kMiB));
  a.free(*big);
  const auto most = a.allocate(Bytes(19 * kMiB));  // 1 MiB left: not split
  CHECK(a.allocated() == Bytes(20 * kMiB));
  a.free(*most);
  (void)a.allocate(Bytes(19 * kMiB - 512));
  CHECK(a.allocated() == Bytes(19 * kMiB - 512));
  CHECK(a.reserved() == Bytes(20 * kMiB));
}

TEST_CASE("PyTorch: streams do not share blocks") {
  PytorchAllocator a;
  a.free(*a.allocate(Bytes(16 * kMiB), 0));
  (void)a.allocate(Bytes(16 * kMiB), 1);
  CHECK(a.reserved() == Bytes(32 * kMiB));
  (void)a.allocate(Bytes(16 * kMiB), 0);
  CHECK(a.reserved() == Bytes(32 * kMiB));
}

TEST_CASE("PyTorch: a full device gives back what is cached, then gives up") {
  PytorchAllocator a(Bytes(64 * kMiB));
  const auto first = a.allocate(Bytes(40 * kMiB));
  a.free(*first);
  CHECK(a.allocate(Bytes(60 * kMiB)));  // only once the 40 MiB segment has gone
  CHECK(a.reserved() == Bytes(60 * kMiB));
  CHECK_FALSE(a.allocate(Bytes(12 * kMiB)));
}

TEST_CASE("BFC: regions double, chunks are split when twice as large") {
  BfcAllocator a;
  const auto small = a.allocate(Bytes(100));
  CHECK(a.allocated() == Bytes(256));
  CHECK(a.reserved() == Bytes(kMiB));
  (void)a.allocate(Bytes(5 * kMiB));
  CHECK(a.reserved() == Bytes(9 * kMiB));  // the next region is 2 MiB, doubled until it holds 5
  a.free(*small);
  (void)a.allocate(Bytes(0.6 * kMiB));
  CHECK(a.allocated() > Bytes(5.9 * kMiB));  // 1 MiB is less than twice 0.6: the whole chunk goes
}

TEST_CASE("TensorFlow leaves a twentieth of the free memory, at least 300 MiB, to the system") {
  CHECK(bfc_limit(Bytes(10240 * kMiB)) == Bytes(9728 * kMiB));
  CHECK(bfc_limit(Bytes(6000 * kMiB)) == Bytes(5700 * kMiB));  // both are the same
  CHECK(bfc_limit(Bytes(3000 * kMiB)) == Bytes(2700 * kMiB));
  CHECK(bfc_limit(Bytes(200 * kMiB)) == Bytes(0.0));
  for (const double mib : {2700.0, 5700.0, 9728.0})
    CHECK_THAT(bfc_limit(bfc_free_memory(Bytes(mib * kMiB))).base(), WithinRel(mib * kMiB, 1e-12));
}

TEST_CASE("BFC: memory ends") {
  BfcAllocator a(Bytes(10 * kMiB));
  CHECK(a.allocate(Bytes(6 * kMiB)));
  CHECK_FALSE(a.allocate(Bytes(6 * kMiB)));
}
