#include <fmt/format.h>

#include <algorithm>

#include "model/cli/command.hpp"
#include "model/cli/output.hpp"
#include "model/configuration/choose_devices.hpp"
#include "model/configuration/network_notices.hpp"
#include "model/configuration/set_values.hpp"
#include "model/input/value_list.hpp"
#include "model/report/topology_report.hpp"
#include "model/schedule/collective/ring_paths.hpp"

namespace tbdsim {
namespace {

constexpr const char* kDefaultSizes = "1KiB..1GiB";

/// The sizes of --bytes; nothing at all is no transfer.
Result<std::vector<Bytes>> sizes_of(const std::string& text) {
  auto sizes = parse_size_list("--bytes", text);
  if (sizes && std::any_of(sizes->begin(), sizes->end(), [](Bytes size) { return size < Bytes(1.0); }))
    return fail(fmt::format("--bytes {}: expected at least 1 B", text));
  return sizes;
}

/// What was found out, as far as it was asked for.
struct Findings {
  TopologySurvey wiring;
  Transfers transfers;
  std::optional<CollectiveSurvey> collective;
};

/// The ways of one transfer, or what several get at the same time.
Result<Transfers> transfers_of(const TopologyArguments& arguments, const System& system) {
  const std::vector<std::string>& names = arguments.route;
  Transfers transfers;
  if (names.empty()) return transfers;
  if (names.size() % 2 != 0) return fail(fmt::format("--route: expected pairs of vertices, got {}", names.size()));
  Bytes bytes(0.0);
  if (!arguments.bytes.empty()) {
    const auto sizes = sizes_of(arguments.bytes);
    if (!sizes) return tl::make_unexpected(sizes.error());
    if (sizes->size() != 1) return fail("--bytes: expected one size along --route");
    bytes = sizes->front();
  }
  if (names.size() > 2) {
    auto shared = shared_transfers(system, names, bytes);
    if (!shared) return tl::make_unexpected(shared.error());
    transfers.together = std::move(*shared);
    return transfers;
  }
  auto ways = transfer_ways(system, names.front(), names.back(), bytes);
  if (!ways) return tl::make_unexpected(ways.error());
  transfers.ways = std::move(*ways);
  return transfers;
}

Result<Findings> find_out(const TopologyArguments& arguments, Session& session) {
  const PredictOptions& options = arguments.asked.options;
  Findings findings;
  if (!arguments.asked.collective.empty()) {
    CollectiveOptions asked = arguments.asked;
    auto sizes = sizes_of(arguments.bytes.empty() ? kDefaultSizes : arguments.bytes);
    if (!sizes) return tl::make_unexpected(sizes.error());
    asked.messages = std::move(*sizes);
    asked.options.set.clear();  // the session has the values
    auto surveyed = survey_collective(session, asked);
    if (!surveyed) return tl::make_unexpected(surveyed.error());
    findings.collective = std::move(*surveyed);
  }
  const auto system =
      session.system(options.hardware, std::max(1, options.gpus.value_or(1) / std::max(1, options.nodes.value_or(1))));
  if (!*system) return tl::make_unexpected(system->error());
  const auto devices = choose_devices(options, **system);
  if (!devices) return tl::make_unexpected(devices.error());
  const auto library = asked_library(session, arguments.asked, (**system).device);
  if (!library) return tl::make_unexpected(library.error());
  auto wiring = survey(**system, devices->first, ring_options((**system).device, *library));
  if (!wiring) return tl::make_unexpected(wiring.error());
  findings.wiring = std::move(*wiring);
  if (!arguments.asked.nccl.empty() || !options.stack.empty()) findings.wiring.nccl = to_text(library->version);
  auto transfers = transfers_of(arguments, **system);
  if (!transfers) return tl::make_unexpected(transfers.error());
  findings.transfers = std::move(*transfers);
  return findings;
}

std::string formatted(Format format, const Findings& findings) {
  const CollectiveSurvey* collective = findings.collective ? &*findings.collective : nullptr;
  switch (format) {
    case Format::json:
      return topology_json(findings.wiring, findings.transfers, collective);
    case Format::csv:
      return collective != nullptr ? collective_csv(*collective) : topology_csv(findings.wiring);
    case Format::table:
      break;
  }
  return collective != nullptr ? collective_table(*collective) : topology_table(findings.wiring, findings.transfers);
}

Result<Answer> told(const TopologyArguments& arguments, const Findings& findings, const std::vector<std::string>& notices) {
  return with_page(
      arguments.report, "topology", [&] { return formatted(Format::json, findings); },
      Answer{formatted(arguments.format, findings), notices});
}

/// Refuses options that say nothing about what is asked: the wiring of a node, a route in it, or a collective.
Result<void> check_question(const TopologyArguments& arguments) {
  const PredictOptions& options = arguments.asked.options;
  const bool collective = !arguments.asked.collective.empty(), route = !arguments.route.empty();
  if (collective && route) return fail("--route and --collective are two questions; ask one at a time");
  if (!arguments.bytes.empty() && !route && !collective)
    return fail("--bytes needs --route, the two ends of the transfer, or --collective");
  for (const auto& [given, option] : {std::pair{options.nodes.has_value(), "--nodes"},
                                      {!options.network.empty(), "--network"},
                                      {!arguments.asked.launch.empty(), "--launch"}})
    if (given && !collective) return fail(fmt::format("{} needs --collective: the wiring is that of one node", option));
  for (const auto& [given, option] : {std::pair{!options.devices.empty(), "--devices"},
                                      {!options.stack.empty(), "--stack"},
                                      {!arguments.asked.nccl.empty(), "--nccl"}})
    if (given && route) return fail(fmt::format("{}: a route depends on its ends and the wires alone", option));
  return {};
}

}  // namespace

Result<Answer> answer(const TopologyArguments& arguments, Session& session) {
  const PredictOptions& options = arguments.asked.options;
  if (const auto sound = check_question(arguments); !sound) return tl::make_unexpected(sound.error());
  std::vector<std::string> notices;
  if (options.set.empty()) {
    return find_out(arguments, session).and_then([&](const Findings& findings) {
      const auto system = session.system(options.hardware, std::max(1, options.gpus.value_or(1)));
      if (*system && !(*system)->notice.empty()) notices.push_back((*system)->notice);
      return told(arguments, findings, notices);
    });
  }
  const auto edited = edited_hardware(session.catalogue(), options, notices);
  if (!edited) return tl::make_unexpected(edited.error());
  if (!arguments.asked.collective.empty())
    for (std::string& notice : unused_latency_notices(*edited->edits)) notices.push_back(std::move(notice));
  const auto findings = find_out(arguments, *open_session(*edited));
  if (!findings) return tl::make_unexpected(findings.error());
  return told(arguments, *findings, notices);
}

int run(const TopologyArguments& arguments, const Catalogue& catalogue) {
  return deliver(answer(arguments, *open_session(catalogue)));
}

}  // namespace tbdsim
