#include "model/survey/collective_survey.hpp"

#include <fmt/format.h>
#include <cmath>

#include "model/configuration/choose_devices.hpp"
#include "model/configuration/set_values.hpp"
#include "model/cost/uncertainty.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/quote.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

Result<CollectiveKind> kind_of(const std::string& text) {
  if (const auto kind = parse_collective(text)) return *kind;
  const auto near = nearest(text, collective_names());
  return fail(fmt::format(
      "unknown collective {}{}", quoted(text),
      near ? fmt::format(", did you mean \"{}\"?", *near) : fmt::format("; there are {}", fmt::join(collective_names(), ", "))));
}

Result<CollectiveGroup> group_of(Session& session, const CollectiveOptions& asked, const System& system) {
  const auto devices = choose_devices(asked.options, system);
  if (!devices) return tl::make_unexpected(devices.error());
  CollectiveGroup group{devices->first, devices->second, system.network, asked.launch};
  if (group.devices.size() * static_cast<std::size_t>(group.nodes) < 2)
    return fail(fmt::format("{}: a collective needs at least two GPUs", system.id));
  if (asked.options.network.empty()) return group;
  const auto network = session.network(asked.options.network);
  if (!*network) return tl::make_unexpected(network->error());
  group.network = **network;
  return group;
}

CollectiveRow row_of(const CollectivePlan& plan, const NcclLibrary& library, int nodes, Bytes message) {
  const CollectiveCall call = collective_call(plan, message);
  const double factor = std::exp(kCentral80 * spread(library, nodes, message));
  CollectiveRow row;
  row.bytes = message;
  row.time = {call.time, call.time / factor, call.time * factor};
  row.algorithm = call.algorithm;
  row.protocol = call.protocol;
  row.channels = call.channels;
  row.least = call.least;
  row.fastest = call.fastest;
  row.algorithm_bandwidth = message / call.time;
  const double bus = bus_factor(plan.kind, plan.ranks) * row.algorithm_bandwidth.base();
  row.bus_bandwidth = {bus, bus / factor, bus * factor};
  return row;
}

/// The same among documents with changed values.
Result<CollectiveSurvey> survey_edited(Session& session, CollectiveOptions asked) {
  std::vector<std::string> notices;
  const auto edited = edited_hardware(session.catalogue(), asked.options, notices);
  if (!edited) return tl::make_unexpected(edited.error());
  asked.options.set.clear();
  return survey_collective(*open_session(*edited), asked);
}

}  // namespace

Result<Ranged<double>> bus_bandwidth(Session& session, const CollectiveOptions& options) {
  return survey_collective(session, options).map([](const CollectiveSurvey& survey) {
    return survey.rows.front().bus_bandwidth;
  });
}

Result<NcclLibrary> asked_library(Session& session, const CollectiveOptions& asked, const Device& device) {
  if (!asked.nccl.empty() || asked.options.stack.empty()) return *session.nccl(asked.nccl, device.architecture);
  const auto stack = session.stack(asked.options.stack);
  if (!*stack) return tl::make_unexpected(stack->error());
  auto library = *session.nccl((**stack).nccl, device.architecture);
  if (!library) return tl::make_unexpected(in_stack(**stack, std::move(library.error())));
  return library;
}

Result<CollectiveSurvey> survey_collective(Session& session, const CollectiveOptions& asked) {
  if (!asked.options.set.empty()) return survey_edited(session, asked);
  const PredictOptions& options = asked.options;
  const auto kind = kind_of(asked.collective);
  if (!kind) return tl::make_unexpected(kind.error());
  const auto system =
      session.system(options.hardware, std::max(1, options.gpus.value_or(1) / std::max(1, options.nodes.value_or(1))));
  if (!*system) return tl::make_unexpected(system->error());
  const auto library = asked_library(session, asked, (**system).device);
  if (!library) return tl::make_unexpected(library.error());
  const auto group = group_of(session, asked, **system);
  if (!group) return tl::make_unexpected(group.error());
  const Device& device = (**system).device;
  for (const Bytes message : asked.messages) {
    if (message > device.memory_capacity)
      return fail(
          fmt::format("a message of {} does not fit the {} of {}", format(message), format(device.memory_capacity), device.id));
  }
  auto plan = plan_collective(**system, *group, *kind, *library);
  if (!plan) return tl::make_unexpected(plan.error());
  CollectiveSurvey survey;
  survey.system = (**system).id;
  survey.device = device.id;
  survey.nccl = to_text(library->version);
  if (group->nodes > 1) survey.network = group->network->id;
  survey.kind = *kind;
  survey.gpus = plan->ranks;
  survey.nodes = group->nodes;
  survey.plan = std::move(*plan);
  for (const Bytes message : asked.messages) survey.rows.push_back(row_of(survey.plan, *library, group->nodes, message));
  return survey;
}

}  // namespace tbdsim
