#include "model/schedule/divided/sharded_pass.hpp"

#include <algorithm>

namespace tbdsim {
namespace {

constexpr auto kData = static_cast<std::size_t>(Axis::data);

void expose(PassTime& total, Seconds wait) {
  total.time += wait;
  total.exposed[kData] += wait;
}

void expose_copy(PassTime& total, Seconds wait) {
  total.time += wait;
  total.offload += wait;
}

}  // namespace

PassTime sharded_pass(std::span<const ShardedLayer> layers) {
  PassTime total;
  for (const ShardedLayer& layer : layers) {
    total.exchange[kData] += layer.gather.time + layer.scatter.time;
    total.bytes[kData] += layer.gather.sent + layer.scatter.sent;
    total.of_experts += layer.gather.of_experts + layer.scatter.of_experts;
  }
  if (layers.empty()) return total;
  expose_copy(total, layers.front().copy_in);
  expose(total, layers.front().gather.time);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const ShardedLayer& layer = layers[i];
    total += *layer.pass;
    total.time += layer.moves;
    total.kernels += layer.moves;
    total.memory += layer.moves;
    Seconds calls(0.0), copies(0.0);
    Taken taken;
    const auto beside = [&](const GroupCall& call) {
      calls += call.time;
      taken = {std::max(taken.sms, call.taken.sms), std::max(taken.memory, call.taken.memory)};
    };
    if (i + 1 < layers.size()) {
      beside(layers[i + 1].gather);
      copies += layers[i + 1].copy_in;
    }
    if (i > 0) {
      beside(layers[i - 1].scatter);
      copies += layers[i - 1].copy_out;
    }
    const double busy = lost_of_mix(taken, memory_share(*layer.pass));
    // Kernels beside the calls run slower, as long as the calls take or until they are done.
    const Seconds own = layer.pass->time + layer.moves, beside_calls = std::min((1.0 - busy) * calls, own);
    const Seconds slower = busy / (1.0 - busy) * beside_calls;
    total.time += slower;
    total.kernels += slower;
    const Seconds left = std::max(Seconds(0.0), own + slower - calls);
    if (calls > own + slower) expose(total, calls - own - slower);
    if (copies > left) expose_copy(total, copies - left);
  }
  expose(total, layers.back().scatter.time);
  expose_copy(total, layers.back().copy_out);
  return total;
}

}  // namespace tbdsim
