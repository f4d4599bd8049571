#include "model/study/trace_doubts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/hardware/lookup.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

/// A step so many times as long or as short is another job's. Assumed: no job of scenarios/ is predicted so far off.
constexpr double kFar = 5.0;

}  // namespace

std::vector<std::string> trace_doubts(const Catalogue& catalogue, const TracedJob& traced, const Prediction& predicted) {
  std::vector<std::string> doubts;
  const auto device = known_entry(catalogue, kGpus, traced.device);
  if (device && *device != predicted.job.device)
    doubts.push_back(
        fmt::format("the trace is of {}, the job runs on {}: is it the one that was traced?", *device, predicted.job.device));
  const Seconds step = predicted.step_time.value;
  if (std::max<double>(traced.step / step, step / traced.step) > kFar)
    doubts.push_back(fmt::format(
        "a step of the trace takes {}, one of the job {}, {:.0f} times as {}: is it the one that was traced (--model, "
        "--hw, --gpus, --batch, --precision)?",
        format(traced.step), format(step), std::max<double>(traced.step / step, step / traced.step),
        step > traced.step ? "long" : "short"));
  return doubts;
}

}  // namespace tbdsim
