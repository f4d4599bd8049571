#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "calibrate/collect/plan.hpp"

namespace tbdsim::calibrate {

/// Which GPU and software measures.
struct GpuIdentity {
  std::string name;               ///< as the driver calls it: "NVIDIA H200"
  std::string driver;             ///< "580.159"
  std::string libraries;          ///< "cuda 13.0; cublas 13.0; cudnn 9.13; nccl 2.27"
  bool activity_records = false;  ///< device times come from CUPTI; otherwise from events, launch gaps included
};

/// Clocks and load at one moment while kernels ran; absent where the management library does not tell.
struct GpuState {
  std::optional<Hertz> clock, memory_clock;
  std::optional<Watts> power;
  bool throttled = false;  ///< the clock is held down by power, heat or the operator
  bool slowed = false;     ///< by the hardware itself, to a half or less: too hot, or the power supply asks for it
};

/// Flag of times between events on the device, launch gaps included.
inline constexpr std::string_view kEventTiming = "event-timing";

/// One kernel, set up with its operands on the device.
class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;
  /// Device times of `count` runs, one after the other. Error: what the driver says.
  [[nodiscard]] virtual tl::expected<std::vector<Seconds>, std::string> repeat(int count) = 0;
  [[nodiscard]] virtual std::string algorithm() const { return {}; }
  [[nodiscard]] virtual std::string layout() const { return {}; }
  /// What a sample says of how it was run, as words: "skip-input".
  [[nodiscard]] virtual std::string flags() const { return {}; }
  /// The L2 cache is overwritten before each run where the measurement asks for it; otherwise nothing is known of it.
  [[nodiscard]] virtual bool overwrites_cache() const { return true; }
  /// The times include the launch from the host: what is measured is the launch, or there are no activity records.
  [[nodiscard]] virtual bool call_timing() const { return false; }
};

/// A GPU that can set up measurements.
class GpuBench {
 public:
  virtual ~GpuBench() = default;
  [[nodiscard]] virtual const GpuIdentity& identity() const = 0;
  /// Error: why it cannot be measured here ("no cuDNN found", "needs 2 GPUs", "fp8 needs compute capability 8.9").
  [[nodiscard]] virtual tl::expected<std::unique_ptr<PreparedKernel>, std::string> prepare(const Measurement& m) = 0;
  /// While the last `repeat` of a kernel ran.
  [[nodiscard]] virtual GpuState state() = 0;
  /// Why nothing more can be measured, after a failure ("an illegal memory access was encountered"); empty: the GPU works.
  [[nodiscard]] virtual std::string lost() { return {}; }
};

/// Where a session stands; for a progress line.
struct CollectProgress {
  std::size_t done = 0, all = 0;
  Seconds elapsed, budget;
  const Measurement* now = nullptr;
};

struct CollectOptions {
  std::string device;                 ///< catalogue id of the GPU
  std::string date;                   ///< of the samples
  std::set<std::string> done;         ///< keys of what an earlier run measured
  std::function<Seconds()> clock;     ///< wall time
  std::function<bool()> interrupted;  ///< asked before each measurement and between its rounds
  std::function<void(const CollectProgress&)> progress;
};

/// A measurement that could not be made.
struct LeftOut {
  std::string measurement, reason;
};

struct CollectSummary {
  int measured = 0, already = 0;
  int noisy = 0;        ///< kept, flagged: the stopping rule gave up
  int throttled = 0;    ///< kept, flagged
  int not_started = 0;  ///< the budget was spent or the user interrupted
  bool interrupted = false;
  std::string lost;               ///< why the GPU failed for good; what was not started then counts in `not_started`
  std::vector<LeftOut> left_out;  ///< in the order of the plan
};

/// Key of a sample read back from a file, equal to `key` of the measurement that made it.
[[nodiscard]] std::string key(const Sample& sample);

/// Measures what the plan names and `done` lacks: one warm-up round, then rounds of `least` repetitions until the
/// stopping rule is content. `take` gets each sample as soon as it is complete. A measurement that fails is left out
/// with its reason, and the next goes on, unless the GPU has failed for good.
CollectSummary collect(GpuBench& gpu, const Plan& plan, const CollectOptions& options,
                       const std::function<void(const Sample&)>& take);

}  // namespace tbdsim::calibrate
