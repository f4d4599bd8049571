#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/result.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim::calibrate {

/// What ran on the device.
enum class ActivityKind { kernel, copy, fill };

/// One kernel, memory copy or memory fill, as CUPTI's activity records tell it.
struct Activity {
  ActivityKind kind = ActivityKind::kernel;
  std::uint32_t correlation = 0, stream = 0;
  std::int64_t start_ns = 0, end_ns = 0;         ///< on the device's clock
  std::array<std::int32_t, 3> grid{}, block{};   ///< of a kernel
  std::int32_t registers = 0, shared_bytes = 0;  ///< of a kernel, per thread and per block
  std::int64_t bytes = 0;                        ///< of a copy or fill
  std::string name;                              ///< of a kernel, or the direction of a copy: "HtoD"
  [[nodiscard]] Seconds time() const { return Seconds(1e-9 * static_cast<double>(end_ns - start_ns)); }
};

/// What a recording holds, in order of start.
struct ActivityLog {
  std::string device, driver, library, date;
  std::vector<Activity> activities;
  std::int64_t dropped = 0;  ///< records that CUPTI had no buffer for, in all
};

/// Text form, one line each, made to survive a program that is killed: the last line may be cut.
///
///     tbdsim-activity 1
///     device NAME | driver VERSION | library WORDS | date DATE | dropped N
///     kernel CORRELATION STREAM START END GX GY GZ BX BY BZ REGISTERS SHARED NAME
///     copy CORRELATION STREAM START END BYTES DIRECTION
///     fill CORRELATION STREAM START END BYTES
inline constexpr std::string_view kActivityMagic = "tbdsim-activity 1";
[[nodiscard]] std::string activity_header(const ActivityLog& log);
[[nodiscard]] std::string activity_line(const Activity& activity);

/// Errors: not a recording, an unknown word, a broken line (other than the last), an end before its start.
[[nodiscard]] Result<ActivityLog> read_activity_log(const std::string& path);
[[nodiscard]] Result<ActivityLog> parse_activity_log(std::string_view text, const std::string& name);

}  // namespace tbdsim::calibrate
