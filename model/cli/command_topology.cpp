#include <fmt/format.h>

#include <numeric>

#include "model/analysis/set_values.hpp"
#include "model/cli/command.hpp"
#include "model/cli/output.hpp"
#include "model/report/topology_report.hpp"

namespace tbdsim {
namespace {

/// Which GPUs of a node are meant.
Result<std::vector<int>> chosen_devices(const TopologyArguments& arguments, const System& system) {
  if (!arguments.devices.empty()) {
    if (arguments.gpus && *arguments.gpus != static_cast<int>(arguments.devices.size()))
      return fail(fmt::format("--gpus {} and --devices with {} disagree", *arguments.gpus, arguments.devices.size()));
    return arguments.devices;
  }
  const int count = arguments.gpus.value_or(system.gpu_count);
  if (count < 1) return fail(fmt::format("--gpus {}: expected at least 1", count));
  if (count > system.gpu_count) return fail(fmt::format("--gpus {}: a node of {} has {}", count, system.id, system.gpu_count));
  std::vector<int> devices(static_cast<std::size_t>(count));
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

std::string formatted(Format format, const TopologySurvey& survey, const std::vector<TransferWay>& ways) {
  switch (format) {
    case Format::json:
      return topology_json(survey, ways);
    case Format::csv:
      return topology_csv(survey);
    case Format::table:
      break;
  }
  return topology_table(survey, ways);
}

}  // namespace

Result<Answer> answer(const TopologyArguments& arguments, Session& session) {
  if (arguments.bytes && arguments.route.empty()) return fail("--bytes needs --route, the two ends of the transfer");
  const int gpus = std::max(1, arguments.gpus.value_or(1));
  std::vector<std::string> notices;
  const auto edited = edited_hardware(session.catalogue(), arguments.hardware, gpus, arguments.set, notices);
  if (!edited) return tl::make_unexpected(edited.error());
  const auto system = load_system(*edited, arguments.hardware, gpus);
  if (!system) return tl::make_unexpected(system.error());
  const auto devices = chosen_devices(arguments, *system);
  if (!devices) return tl::make_unexpected(devices.error());
  const auto surveyed = survey(*system, *devices);
  if (!surveyed) return tl::make_unexpected(surveyed.error());
  std::vector<TransferWay> ways;
  if (!arguments.route.empty()) {
    auto found = transfer_ways(*system, arguments.route.front(), arguments.route.back(), arguments.bytes.value_or(Bytes(0.0)));
    if (!found) return tl::make_unexpected(found.error());
    ways = std::move(*found);
  }
  return Answer{formatted(arguments.format, *surveyed, ways), std::move(notices)};
}

int run(const TopologyArguments& arguments, const Catalogue& catalogue) {
  return deliver(answer(arguments, *open_session(catalogue)));
}

}  // namespace tbdsim
