#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tbdsim::trace {

/// What a device does for a while.
enum class Activity { kernel, exchange, copy_to_device, copy_to_host, copy_on_device, fill };

/// Nanoseconds on the trace's own clock, whole: sums of them equal those of the trace.
using Nanoseconds = std::int64_t;

/// One kernel, copy or fill.
struct Event {
  Nanoseconds start = 0, end = 0;
  std::optional<Nanoseconds> issued;  ///< start of the host call that issued it; absent: the trace does not tell
  Activity activity = Activity::kernel;
  std::int32_t device = 0, stream = 0;
  std::int32_t name = 0;     ///< index into `Trace::names`
  std::int32_t op = -1;      ///< outermost operator of the framework that issued it; -1: not told
  std::int32_t module = -1;  ///< layer whose operator that is; -1: not told
  std::int64_t bytes = 0;    ///< of a copy or fill
  [[nodiscard]] Nanoseconds time() const { return end - start; }
};

/// A stretch of the trace's clock.
struct Span {
  Nanoseconds start = 0, end = 0;
};

/// What a profiler recorded of a training program, whichever profiler it was.
struct Trace {
  std::string tool;       ///< "PyTorch profiler", "Nsight Systems", "nvprof", "Chakra"
  std::string device;     ///< as the trace calls it; empty: not told
  bool on_host = false;   ///< holds no device: events are operators on threads of the host
  bool one_step = false;  ///< traces of this tool hold one iteration, unless something repeats
  std::vector<std::string> names;
  std::vector<Event> events;  ///< by start
  std::vector<Span> waits;    ///< of the host for a device, by end
  std::vector<Span> marks;    ///< iterations as the program marked them, on the host's threads, by start

  [[nodiscard]] const std::string& name_of(const Event& event) const { return names[static_cast<std::size_t>(event.name)]; }
  /// Name of an operator or module; empty: none.
  [[nodiscard]] std::string_view text(std::int32_t index) const {
    return index < 0 ? std::string_view() : std::string_view(names[static_cast<std::size_t>(index)]);
  }
};

/// Numbers for texts, in the order of their first use.
class Names {
 public:
  explicit Names(std::vector<std::string>& texts) : texts_(texts) {}
  std::int32_t number(std::string_view text);

 private:
  std::vector<std::string>& texts_;
  std::unordered_map<std::string, std::int32_t> known_;
};

/// A decimal number such as "1.217" times 10^`exponent`, in whole nanoseconds; digits beyond are rounded off. Nothing: it is no
/// such number, or beyond 64 bits.
[[nodiscard]] std::optional<Nanoseconds> decimal_nanoseconds(std::string_view text, int exponent);

}  // namespace tbdsim::trace
