#pragma once
#include <array>
#include <span>

#include "model/units/quantity.hpp"
#include "model/workload/layout.hpp"

namespace tbdsim {

inline constexpr std::size_t kAxes = 5;

/// What a collective takes of a GPU while it runs: shares of its multiprocessors, and of the bandwidth of its memory.
struct Taken {
  double sms = 0, memory = 0;
};

/// What one rank does in a pass over a layer, in the order in which its host issues it.
struct PassItem {
  enum class Kind {
    kernel,      ///< on the compute stream
    collective,  ///< of which the next kernel needs the result
    hidden,      ///< a collective beside the kernels that follow, up to the next `join`
    join,        ///< the next kernel needs what was hidden
  };
  Kind kind = Kind::kernel;
  Seconds device, host;  ///< time of kernel or call; of its issue
  Axis axis = Axis::tensor;
  Bytes bytes;                ///< that the rank sends
  Taken taken = {};           ///< by a hidden call, from kernels beside it
  bool memory_bound = false;  ///< a kernel
  Seconds alone{0.0};         ///< a call in pieces: its time without the products beside it, of which `device` is what they leave
};

/// One pass, as it goes when the same pass ran before it.
struct PassTime {
  Seconds time;
  Seconds kernels;                        ///< that the compute stream is busy
  Seconds memory;                         ///< of it, with kernels that memory bounds
  Seconds host;                           ///< for which it waits for the host
  Seconds offload;                        ///< for which it waits for copies to and from the host
  Seconds issue;                          ///< host time of all items
  std::array<Bytes, kAxes> bytes{};       ///< that the rank sends along each axis
  Bytes of_experts;                       ///< of those along the data axis, for experts' arrays over ranks of their own
  std::array<Seconds, kAxes> exchange{};  ///< of each axis: all calls, as if nothing ran beside them
  std::array<Seconds, kAxes> exposed{};   ///< of each axis: for which it waits
  [[nodiscard]] Seconds exposed_sum() const;
  PassTime& operator+=(const PassTime& more);
};

/// The share of its rate that a kernel loses beside a call: arithmetic lacks multiprocessors, memory-bound kernels what is
/// scarcer.
[[nodiscard]] double lost(Taken taken, bool memory_bound);
/// Part of the time of a pass's kernels that memory bounds.
[[nodiscard]] double memory_share(const PassTime& pass);
/// What kernels lose of which memory bounds such a share.
[[nodiscard]] double lost_of_mix(Taken taken, double memory_share);

[[nodiscard]] PassTime operator*(double times, PassTime pass);  ///< one after the other

/// Host, compute stream and communication stream run their items in order; a kernel starts when it has been issued and what it
/// needs is there. The host runs ahead, so a pass that it cannot keep up with takes as long as its issue. A kernel beside a
/// hidden call takes 1 / (1 - lost) times as long while both run. Two passes are run, the second counts. Neglects: launch latency
/// of a first kernel.
[[nodiscard]] PassTime pass_time(std::span<const PassItem> items);

}  // namespace tbdsim
