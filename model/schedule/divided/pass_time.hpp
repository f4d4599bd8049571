#pragma once
#include <array>
#include <span>

#include "model/units/quantity.hpp"
#include "model/workload/layout.hpp"

namespace tbdsim {

inline constexpr std::size_t kAxes = 5;

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
  Bytes bytes;          ///< that the rank sends
  double busy_sms = 0;  ///< of a hidden call: share of the multiprocessors that kernels beside it lack
};

/// One pass, as it goes when the same pass ran before it.
struct PassTime {
  Seconds time;
  Seconds kernels;                                   ///< that the compute stream is busy
  Seconds host;                                      ///< for which it waits for the host
  Seconds issue;                                     ///< host time of all items
  std::array<Bytes, kAxes> bytes{};                  ///< that the rank sends along each axis
  std::array<Seconds, kAxes> exchange{}, exposed{};  ///< of each axis: all calls; for which it waits
  [[nodiscard]] Seconds exposed_sum() const;
  PassTime& operator+=(const PassTime& more);
};

[[nodiscard]] PassTime operator*(double times, PassTime pass);  ///< one after the other

/// Host, compute stream and communication stream run their items in order; a kernel starts when it has been issued and what it
/// needs is there. The host runs ahead, so a pass that it cannot keep up with takes as long as its issue. A kernel beside a
/// hidden call takes 1 / (1 - busy_sms) times as long while both run. Two passes are run, the second counts. Neglects: launch
/// latency of a first kernel; a call's bytes in the memory that kernels use.
[[nodiscard]] PassTime pass_time(std::span<const PassItem> items);

}  // namespace tbdsim
