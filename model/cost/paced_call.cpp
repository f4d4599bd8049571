#include "model/cost/paced_call.hpp"

#include <algorithm>
#include <cmath>

namespace tbdsim {

Seconds paced_time(const PacedCall& call, Bytes message) {
  Seconds time = call.start;
  if (call.slice_rate > BytesPerSecond(0.0))
    time += call.slice_steps * (std::min(message / call.parts, call.slice) / call.slice_rate);
  if (call.rate > BytesPerSecond(0.0)) time += message / call.rate;
  if (call.loop > Bytes(0.0)) {
    const double loops = message / call.loop;
    const double whole = std::floor(loops);
    time += call.drain * (call.one_drain ? std::sqrt(std::min(1.0, loops)) : whole + std::sqrt(loops - whole));
  }
  if (call.ramp_full > Bytes(0.0)) time += call.ramp * std::sqrt(std::min<double>(1.0, message / call.ramp_full));
  return time;
}

int channels_in_use(const PacedCall& call, Bytes message) {
  if (call.channel_message <= Bytes(0.0)) return call.most_channels;
  return static_cast<int>(std::clamp(std::floor(message / call.channel_message), 1.0, static_cast<double>(call.most_channels)));
}

}  // namespace tbdsim
