#include "model/survey/axis_profile.hpp"

#include "model/configuration/configure.hpp"
#include "model/prediction/step_prediction.hpp"
#include "model/survey/line_rate.hpp"

namespace tbdsim {
namespace {

Result<Seconds> step_of(const Configuration& configuration) {
  return predict_step(configuration, false, nullptr).map([](const Prediction& p) { return p.step_time.value; });
}

}  // namespace

Result<std::optional<AxisProfile>> profile_axes(Session& session, const NetworkOptions& options) {
  const auto configured = configure(session, options.job);
  // What cannot be configured is told by the profile of arrays, which may emulate nodes.
  if (!configured || !configured->by_layers()) return std::optional<AxisProfile>();
  if (auto problem = network_problem(options)) return tl::make_unexpected(Errors{*problem});
  const Configuration& configuration = *configured;
  AxisProfile profile;
  auto job = predict(session, options.job);
  if (!job) return tl::make_unexpected(job.error());
  profile.predicted = std::move(*job);
  if (profile.predicted.division.communication.empty())
    return fail("network: nothing travels, since one GPU runs the job; name several, such as --gpus 8");
  profile.target = options.target;
  profile.without_network = profile.predicted.step_time.value;
  if (configuration.nodes > 1 && configuration.network) {
    profile.network = configuration.network->id;
    profile.line_rate = configuration.network->bandwidth;
    const auto without = step_of(at_rate(configuration, kFastestRate));
    if (!without) return tl::make_unexpected(without.error());
    profile.without_network = *without;
    const auto least = least_rate(configuration, (1.0 / options.target) * *without, step_of);
    if (!least) return tl::make_unexpected(least.error());
    profile.least_to_reach = *least;
  }
  profile.efficiency = profile.without_network / profile.predicted.step_time.value;
  profile.reaches = profile.efficiency >= options.target;
  return std::optional(std::move(profile));
}

}  // namespace tbdsim
