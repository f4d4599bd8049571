#include "model/report/profiling_report.hpp"

#include <fmt/format.h>

#include "model/report/text_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {

std::string profiling_text(const ProfilingCost& c, Seconds step) {
  constexpr std::size_t kLabel = 14;
  const auto line = [](const char* label, const std::string& text) {
    return fmt::format("  {:<{}}", label, kLabel - 2) + wrapped(text, kTextWidth, kLabel) + '\n';
  };
  const auto times = [&](Seconds traced) { return fmt::format("{:.2f}", traced / step); };
  std::string text = fmt::format("\nProfiling {} steps after {}\n", c.plan.iterations, c.plan.skip);
  text += line("warm-up", c.trials == 0 ? std::string("no convolution to try algorithms on")
                                        : fmt::format("first step {} longer: {} convolutions, {} algorithms tried",
                                                      format(c.warm_up), c.shapes, c.trials));
  text += line("before", fmt::format("{} of start-up, first and skipped steps; the recorded ones are alike", format(c.before)));
  text += line("trace", fmt::format("{} kernels and {} a step and GPU, {} in all; a step {} times as long ({} to {})", c.kernels,
                                    format(c.trace_per_step), format(static_cast<double>(c.plan.iterations) * c.trace_per_step),
                                    times(c.traced.value), times(c.traced.low), times(c.traced.high)));
  text += line("counters",
               fmt::format("each kernel alone and replayed once: a step of {}, {} times as long ({} to {})",
                           format(c.replayed.value), times(c.replayed.value), times(c.replayed.low), times(c.replayed.high)));
  return text;
}

}  // namespace tbdsim
