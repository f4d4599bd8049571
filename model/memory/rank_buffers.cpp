#include "model/memory/rank_buffers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace tbdsim {
namespace {

constexpr Bytes kPage{4096.0};
constexpr Bytes kLargePage{2097152.0};

Bytes total(const Stack& stack, std::span<const Bytes> arrays) {
  Bytes sum;
  for (const Bytes array : arrays) sum += stack.memory.plan == MemoryPlan::mxnet ? driver_rounded(array) : array;
  return sum;
}

/// Arrays of each rank's share: the largest first to the rank that has least.
std::vector<std::vector<Bytes>> homes(std::span<const Bytes> arrays, int ranks) {
  std::vector<Bytes> sorted(arrays.begin(), arrays.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](Bytes a, Bytes b) { return a > b; });
  std::vector<std::vector<Bytes>> shares(static_cast<std::size_t>(ranks));
  std::vector<Bytes> load(shares.size());
  for (const Bytes array : sorted) {
    const auto least = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    shares[least].push_back(array);
    load[least] += array;
  }
  return shares;
}

/// Buffers of every rank where the GPUs of a node merge gradients, each array on its home.
void add_homes(const Stack& stack, const ExchangeMemory& what, bool updates, std::vector<RankBuffers>& ranks) {
  const std::vector<std::vector<Bytes>> shares = homes(what.arrays, what.ranks);
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Bytes home = total(stack, shares[i]);
    ranks[i].optimizer_state = updates ? what.optimizer_states * home : Bytes(0.0);
    ranks[i].stored = {home, updates ? home : Bytes(0.0), (what.ranks - 1.0) * home};
    ranks[i].exchange = ranks[i].stored.total();
  }
}

/// Where every rank updates: its state, and what it stages.
void add_staged(const Stack& stack, const ExchangeMemory& what, Bytes all, Bytes states, std::vector<RankBuffers>& ranks) {
  if (stack.memory.plan == MemoryPlan::blobs) {
    // The first GPU sums, with an array for what comes from the others.
    std::fill(ranks.begin(), ranks.end(), RankBuffers{states, Bytes(0.0), {}});
    ranks.front().exchange = all;
    return;
  }
  const bool whole = stack.exchange.copies_all && !what.sharded;
  const Bytes staged = whole ? all : std::min(all, stack.exchange.bucket);
  std::fill(ranks.begin(), ranks.end(), RankBuffers{states, staged, {}});
}

}  // namespace

Bytes driver_rounded(Bytes bytes) {
  const Bytes unit = bytes > kLargePage ? kLargePage : kPage;
  return std::ceil(bytes / unit) * unit;
}

Bytes driver_held(std::span<const Bytes> arrays) {
  constexpr Bytes kMore{32.0};
  Bytes held;
  std::multiset<Bytes> rooms;  // what slabs have left
  for (const Bytes array : arrays) {
    const Bytes request = array + kMore;
    if (request > kLargePage) {
      held += std::ceil(request / kLargePage) * kLargePage;
      continue;
    }
    const auto slab = rooms.lower_bound(request);
    Bytes room = kLargePage;
    if (slab == rooms.end()) {
      held += kLargePage;
    } else {
      room = *slab;
      rooms.erase(slab);
    }
    rooms.insert(room - request);
  }
  return held;
}

std::vector<RankBuffers> rank_buffers(const Stack& stack, const ExchangeMemory& what) {
  const ExchangeInfo& exchange = info(what.exchange);
  std::vector<RankBuffers> ranks(static_cast<std::size_t>(what.ranks));
  const Bytes all = total(stack, what.arrays), states = what.optimizer_states * all;
  if (what.ranks == 1 && !exchange.parameter_servers) {
    ranks.front().optimizer_state = states;
    return ranks;
  }
  switch (exchange.buffers) {
    case ExchangeBuffers::first_gpu:
      ranks.front().optimizer_state = states;
      break;
    case ExchangeBuffers::root_store:
      ranks.front() = {states, 2.0 * all, {all, all, Bytes(0.0)}};
      break;
    case ExchangeBuffers::home_store:
      add_homes(stack, what, true, ranks);
      break;
    case ExchangeBuffers::home_merges: {
      const bool on_host = what.ranks == 1 || (stack.server && !stack.server->reduces_on_device);
      if (!on_host) add_homes(stack, what, false, ranks);
      break;
    }
    case ExchangeBuffers::host_store:
      if (what.workers_update) std::fill(ranks.begin(), ranks.end(), RankBuffers{states, Bytes(0.0), {}});
      break;
    case ExchangeBuffers::buckets:
      add_staged(stack, what, all, states, ranks);
      break;
  }
  return ranks;
}

}  // namespace tbdsim
