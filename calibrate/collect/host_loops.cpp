#include "calibrate/collect/host_loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

namespace tbdsim::calibrate {
namespace {

/// Kept out of the optimiser's sight.
template <class T>
void keep(T& value) {
  asm volatile("" : "+r"(value) : : "memory");
}

constexpr int kIterations = 20000;

void dependent_add() {
  std::uint64_t sum = 1;
  for (int i = 0; i < kIterations; ++i) {
    sum += 3;
    keep(sum);
  }
}

struct Base {
  virtual ~Base() = default;
  [[nodiscard]] virtual int step(int value) const = 0;
};
struct Up final : Base {
  [[nodiscard]] int step(int value) const override { return value + 1; }
};

void virtual_call() {
  const Up up;
  const Base* object = &up;
  asm volatile("" : "+r"(object));  // its type is hidden, here and after every call
  int value = 0;
  for (int i = 0; i < kIterations; ++i) {
    value = object->step(value);
    asm volatile("" : "+r"(object), "+r"(value));
  }
}

void malloc_free() {
  for (int i = 0; i < kIterations; ++i) {
    void* block = std::malloc(64);
    keep(block);
    std::free(block);
  }
}

/// Places of a ring through a buffer, a cache line apart, in an order that no prefetcher knows.
std::vector<std::uint32_t> ring(std::size_t bytes) {
  constexpr std::size_t kLine = 64 / sizeof(std::uint32_t);
  const std::size_t lines = bytes / sizeof(std::uint32_t) / kLine;
  std::vector<std::uint32_t> order(lines), next(lines * kLine);
  std::iota(order.begin(), order.end(), 0U);
  std::mt19937 random(1);
  std::shuffle(order.begin(), order.end(), random);
  for (std::size_t i = 0; i < lines; ++i) next[order[i] * kLine] = static_cast<std::uint32_t>(order[(i + 1) % lines] * kLine);
  return next;
}

/// Goes on where it stopped, so that in time it passes through all of the buffer.
class Chase {
 public:
  explicit Chase(std::size_t bytes) : next_(ring(bytes)) {}
  void run() {
    for (int i = 0; i < kIterations; ++i) at_ = next_[at_];
    keep(at_);
  }

 private:
  std::vector<std::uint32_t> next_;
  std::uint32_t at_ = 0;
};

struct Loop {
  std::string name;
  int iterations;
  std::function<void()> run;
  std::array<double, 2> least{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
};

double clocked(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::vector<HostSample> host_loops(int rounds) {
  constexpr std::size_t kKilobyte = 1024, kCopied = 64'000'000;
  const std::array<std::size_t, 3> sizes{512, 8192, 65536};
  std::array<Chase, 3> chases{Chase(sizes[0] * kKilobyte), Chase(sizes[1] * kKilobyte), Chase(sizes[2] * kKilobyte)};
  std::vector<Loop> loops{{"cpu_dependent_add", kIterations, dependent_add},
                          {"cpu_virtual_call", kIterations, virtual_call},
                          {"cpu_malloc_free", kIterations, malloc_free}};
  for (std::size_t i = 0; i < sizes.size(); ++i)
    loops.push_back({fmt::format("cpu_pointer_chase_{}KB", sizes[i]), kIterations, [&chase = chases[i]] { chase.run(); }});
  std::vector<char> from(kCopied, 1), to(kCopied, 2);
  loops.push_back({"cpu_copy_64MB", 1, [&] {
                     std::memcpy(to.data(), from.data(), kCopied);
                     const char* written = to.data();
                     keep(written);
                   }});
  for (int round = 0; round < rounds; ++round) {
    for (Loop& loop : loops) {
      loop.run();  // into the caches
      double& least = loop.least[static_cast<std::size_t>(round % 2)];
      for (int i = 0; i < 3; ++i) least = std::min(least, clocked(loop.run));
    }
  }
  std::vector<HostSample> samples;
  for (const Loop& loop : loops) {
    const auto [low, high] = std::minmax(loop.least[0], loop.least[1]);
    samples.push_back({loop.name, "speed", "", Seconds(low / loop.iterations), Seconds((high - low) / loop.iterations)});
  }
  return samples;
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line, name = "unknown", family, model;
  const auto value = [&] { return line.substr(std::min(line.size(), line.find(':') + 2)); };
  while (std::getline(file, line) && !line.empty()) {
    if (line.rfind("model name", 0) == 0)
      name = value();
    else if (line.rfind("cpu family", 0) == 0)
      family = value();
    else if (line.rfind("model\t", 0) == 0)
      model = value();
  }
  return family.empty() ? name : fmt::format("{} (family {} model {})", name, family, model);
}

}  // namespace tbdsim::calibrate
