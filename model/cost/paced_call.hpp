#pragma once
#include "model/units/quantity.hpp"

namespace tbdsim {

/// How the time of one call grows with its message S, for one algorithm with one protocol:
///
///   t(S) = start + slice_steps min(S / parts, slice) / slice_rate + S / rate
///          + drain (k + sqrt(f - k)) + ramp sqrt(min(1, S / ramp_full)),   f = S / loop, k = floor(f)
///
/// A zero rate, loop or ramp_full leaves its term out.
struct PacedCall {
  Seconds start;           ///< of an empty message
  double slice_steps = 0;  ///< steps that hand a slice over before the next one starts
  double parts = 1;        ///< of the message; a slice is at most one of them
  Bytes slice;             ///< at most
  BytesPerSecond slice_rate;
  BytesPerSecond rate;     ///< of the message
  Seconds drain;           ///< at the end of a whole loop: bytes that nothing overlaps
  Bytes loop;              ///< of the message
  bool one_drain = false;  ///< slices follow each other through all loops: only the last one drains
  Seconds ramp;
  Bytes ramp_full;
  int most_channels = 1;  ///< thread blocks on every GPU
  Bytes channel_message;  ///< for each of them; 0: all channels for any message
};

[[nodiscard]] Seconds paced_time(const PacedCall& call, Bytes message);
/// Thread blocks, one to a multiprocessor, that the call keeps busy on every GPU.
[[nodiscard]] int channels_in_use(const PacedCall& call, Bytes message);

}  // namespace tbdsim
