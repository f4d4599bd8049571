#include "model/schedule/collective/collective.hpp"

#include <algorithm>
#include <cmath>

namespace tbdsim {
namespace {

/// Time of the bytes on the slowest of the method's links.
Seconds on_links(const CollectivePlan& plan, const CollectiveMethod& method, Bytes message) {
  Seconds slowest(0.0);
  if (method.limit > BytesPerSecond(0.0)) slowest = message / method.limit;
  for (const LinkWeight& use : method.weights)
    slowest = std::max(slowest, use.weight * message / plan.links[static_cast<std::size_t>(use.link)].capacity);
  return slowest;
}

/// Everything after `start`.
Seconds moving(const CollectivePlan& plan, const CollectiveMethod& method, Bytes message) {
  const Seconds links = on_links(plan, method, message);
  if (message <= Bytes(0.0)) return Seconds(0.0);
  if (method.paced) return std::max(paced_time(*method.paced, message) - method.start, links);
  Seconds bytes = links / method.efficiency;
  if (method.serial > BytesPerSecond(0.0)) bytes += message / method.serial;
  Seconds time = std::max(bytes, method.floor);
  double before = 0.0;  // share of the message in loops before the last
  if (method.loop > Bytes(0.0)) {
    const double loops = std::ceil(message / method.loop);
    time += (loops - 1.0) * method.loop_start;
    before = (loops - 1.0) * method.loop / message;
  }
  if (method.steps > 0.0) {
    const Seconds step = links / method.steps;
    time += (method.drain_last * (1.0 - before) + method.drain_before * before) * step;
  }
  if (method.depth > Seconds(0.0)) time += 2.0 * Seconds(std::sqrt(method.depth.base() * links.base()));
  return time;
}

/// Time by which the library, or failing that we, prefer a method.
Seconds expected(const CollectivePlan& plan, const CollectiveMethod& method, Bytes message) {
  if (method.protocol == Protocol::ll && plan.ll_limit > Bytes(0.0) && message >= plan.ll_limit) return Seconds(HUGE_VAL);
  if (plan.planned && method.planned) return method.planned->start + message / method.planned->rate;
  return method.start + moving(plan, method, message);
}

}  // namespace

CollectiveCall collective_call(const CollectivePlan& plan, Bytes message) {
  const CollectiveMethod* best = nullptr;
  Seconds least(HUGE_VAL);
  for (const CollectiveMethod& method : plan.methods) {
    const Seconds time = expected(plan, method, message);
    if (best != nullptr && time >= least) continue;
    best = &method;
    least = time;
  }
  if (best == nullptr) return {};
  CollectiveCall call;
  call.algorithm = best->algorithm;
  call.protocol = best->protocol;
  call.latency = best->start;
  call.channels = best->paced ? channels_in_use(*best->paced, message) : plan.channels;
  call.weights = best->weights;
  const Seconds bytes = moving(plan, *best, message);
  call.time = best->start + bytes;
  if (bytes > Seconds(0.0)) call.rate = message / bytes;
  call.least = call.time;
  call.fastest = call.protocol;
  for (const CollectiveMethod& method : plan.methods) {
    const Seconds time = method.start + moving(plan, method, message);
    if (time >= call.least) continue;
    call.least = time;
    call.fastest = method.protocol;
  }
  return call;
}

}  // namespace tbdsim
