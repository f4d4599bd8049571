#include "model/memory/event_profile.hpp"

#include <algorithm>

namespace tbdsim {

EventProfile event_profile(std::span<const Lifetime> arrays, std::span<const AllocationEvent> events, std::int32_t positions) {
  const auto at = [](std::int32_t i) { return static_cast<std::size_t>(i); };
  std::vector<bool> exists(arrays.size(), true);
  for (const AllocationEvent& event : events) exists[at(event.array)] = false;
  Bytes now;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    if (exists[i]) now += arrays[i].bytes;
  EventProfile result;
  MemoryProfile& profile = result.profile;
  profile.live.assign(at(positions), now);
  Bytes most = now;
  std::size_t node = 0, peak = 0;  // events up to the peak
  for (std::size_t i = 0; i < events.size(); ++i) {
    while (node < at(events[i].node)) profile.live[++node] = now;
    const Bytes bytes = arrays[at(events[i].array)].bytes;
    now = events[i].frees ? now - bytes : now + bytes;
    profile.live[node] = std::max(profile.live[node], now);
    if (now <= most) continue;
    most = now;
    peak = i + 1;
    profile.peak = events[i].node;
  }
  while (node + 1 < profile.live.size()) profile.live[++node] = now;
  for (std::size_t i = 0; i < peak; ++i) exists[at(events[i].array)] = !events[i].frees;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (!exists[i]) continue;
    profile.at_peak[arrays[i].part] += arrays[i].bytes;
    result.held.push_back(static_cast<std::int32_t>(i));
  }
  return result;
}

}  // namespace tbdsim
