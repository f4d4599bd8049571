#include "model/schedule/collective/collective.hpp"

#include <algorithm>
#include <array>

namespace tbdsim {
namespace {

constexpr std::array<std::string_view, 6> kKinds{"all-reduce", "reduce-scatter", "all-gather",
                                                 "reduce",     "broadcast",      "all-to-all"};
constexpr std::array<std::string_view, 6> kAlgorithms{"none", "ring", "tree", "nvls", "nvls-tree", "pairwise"};
constexpr std::array<std::string_view, 3> kProtocols{"ll", "ll128", "simple"};

/// Time of the bytes on the slowest of the method's links.
Seconds on_links(const CollectivePlan& plan, const CollectiveMethod& method, Bytes message) {
  Seconds slowest(0.0);
  for (const LinkWeight& use : method.weights)
    slowest = std::max(slowest, use.weight * message / plan.links[static_cast<std::size_t>(use.link)].capacity);
  return slowest;
}

}  // namespace

std::string_view name(CollectiveKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
std::string_view name(CollectiveAlgorithm algorithm) { return kAlgorithms[static_cast<std::size_t>(algorithm)]; }
std::string_view name(Protocol protocol) { return kProtocols[static_cast<std::size_t>(protocol)]; }

CollectiveCall collective_call(const CollectivePlan& plan, Bytes message) {
  if (plan.methods.empty()) return {};
  const CollectiveMethod& method = plan.methods.front();
  CollectiveCall call;
  call.algorithm = method.algorithm;
  call.protocol = method.protocol;
  call.latency = method.start;
  call.weights = method.weights;
  call.time = method.start + on_links(plan, method, message);
  return call;
}

}  // namespace tbdsim
