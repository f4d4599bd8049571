#include "model/plan/given_layout.hpp"

#include <fmt/format.h>

#include "model/configuration/configure.hpp"
#include "model/configuration/framework_arguments/apply_layout_file.hpp"
#include "model/plan/job_axes.hpp"

namespace tbdsim::plan {

Result<GivenLayout> given_layout(Session& session, const PlanOptions& options) {
  if (options.hardware.size() > 1 || options.gpus.size() > 1)
    return fail("--layout-from: a layout is of one machine and one number of GPUs: leave one of --hw and one of --gpus");
  PredictOptions asked = with_axes_of(PredictOptions(), options.job);
  if (!options.hardware.empty()) asked.hardware = options.hardware.front();
  if (!options.gpus.empty()) asked.gpus = options.gpus.front();
  asked.run = options.tokens.has_value();
  const auto filled = fill_from_layout_file(session, asked);
  if (!filled) return tl::make_unexpected(filled.error());
  const auto own = configure(session, filled->options);
  if (!own) return tl::make_unexpected(own.error());
  if (own->offload.layers > 0 && asked.offload.empty() && !asked.offload_layers)
    return fail(
        fmt::format("{} keeps activations on the hosts, and plan searches layouts that keep them on the GPUs; --offload {} plans "
                    "without",
                    options.job.layout_from, own->offload.states > 0.0 ? "states" : "none"));
  GivenLayout given{with_axes_of(options.job, filled->options), filled->options, filled->notices};
  given.job.accumulate.reset();
  if (!given.job.global_batch) given.job.global_batch = static_cast<int>(own->samples_per_step());
  return given;
}

}  // namespace tbdsim::plan
