#include "model/schedule/divided/sharded_pass.hpp"

#include <algorithm>

namespace tbdsim {
namespace {

constexpr auto kData = static_cast<std::size_t>(Axis::data);

void expose(PassTime& total, Seconds wait) {
  total.time += wait;
  total.exposed[kData] += wait;
}

}  // namespace

PassTime sharded_pass(std::span<const ShardedLayer> layers) {
  PassTime total;
  for (const ShardedLayer& layer : layers) {
    total.exchange[kData] += layer.gather.time + layer.scatter.time;
    total.bytes[kData] += layer.gather.sent + layer.scatter.sent;
  }
  if (layers.empty()) return total;
  expose(total, layers.front().gather.time);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const ShardedLayer& layer = layers[i];
    total += *layer.pass;
    Seconds calls(0.0);
    Taken taken;
    const auto beside = [&](const GroupCall& call) {
      calls += call.time;
      taken = {std::max(taken.sms, call.taken.sms), std::max(taken.memory, call.taken.memory)};
    };
    if (i + 1 < layers.size()) beside(layers[i + 1].gather);
    if (i > 0) beside(layers[i - 1].scatter);
    const double busy = lost_of_mix(taken, memory_share(*layer.pass));
    // Kernels beside the calls run slower, as long as the calls take or until they are done.
    const Seconds own = layer.pass->time, beside_calls = std::min((1.0 - busy) * calls, own);
    const Seconds slower = busy / (1.0 - busy) * beside_calls;
    total.time += slower;
    total.kernels += slower;
    if (calls > own + slower) expose(total, calls - own - slower);
  }
  expose(total, layers.back().scatter.time);
  return total;
}

}  // namespace tbdsim
