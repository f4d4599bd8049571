#include "model/memory/lifetime.hpp"

#include <algorithm>

namespace tbdsim {

std::string_view name(MemoryPart part) {
  constexpr std::array<std::string_view, kMemoryPartCount> kNames{
      "weights", "gradients", "optimizer_state", "feature_maps", "workspace", "dynamic", "input", "exchange", "context", "slack"};
  return kNames[static_cast<std::size_t>(part)];
}

Bytes MemoryParts::total() const {
  Bytes sum;
  for (const Bytes part : bytes) sum += part;
  return sum;
}

MemoryProfile memory_profile(std::span<const Lifetime> lifetimes, std::int32_t positions) {
  MemoryProfile profile;
  profile.live.assign(static_cast<std::size_t>(positions) + 1, Bytes(0.0));
  for (const Lifetime& l : lifetimes) {
    profile.live[static_cast<std::size_t>(l.birth)] += l.bytes;
    profile.live[static_cast<std::size_t>(l.death)] -= l.bytes;
  }
  Bytes running;
  for (Bytes& live : profile.live) live = running += live;
  profile.live.pop_back();
  if (profile.live.empty()) return profile;
  profile.peak = static_cast<std::int32_t>(std::max_element(profile.live.begin(), profile.live.end()) - profile.live.begin());
  for (const Lifetime& l : lifetimes)
    if (l.birth <= profile.peak && profile.peak < l.death) profile.at_peak[l.part] += l.bytes;
  return profile;
}

}  // namespace tbdsim
