#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/prediction/host_work.hpp"
#include "model/prediction/kernel_summary.hpp"
#include "model/report/predict_table.hpp"
#include "model/report/text_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kCharacterized = 10;  ///< kernels whose occupancy is told one by one

/// What keeps these tables within 80 columns.
constexpr std::size_t kLayerName = 26, kShape = 12, kKernelName = 30, kCause = 36;

Seconds time_of(const LayerTime& layer) { return layer.forward + layer.backward_data + layer.backward_weights + layer.update; }

std::string blank_if_none(Seconds time) { return time > Seconds(0.0) ? format(time) : ""; }

std::vector<std::string> kernel_row(const KernelGroup& group) {
  return {group.name,
          group.algorithm,
          std::to_string(group.launches),
          format(group.time),
          percent_text(group.time_share),
          percent_text(group.fp32_utilization),
          percent_text(group.useful_utilization)};
}

std::string kernel_list(const KernelSummary& summary, const std::vector<std::size_t>& chosen) {
  TextTable table({{"", Align::left, kKernelName},
                   {""},
                   {"", Align::right},
                   {"", Align::right},
                   {"", Align::right},
                   {"", Align::right},
                   {"", Align::right}});
  for (const std::size_t i : chosen) table.add(kernel_row(summary.groups[i]));
  return chosen.empty() ? "  none\n" : table.text(2);
}

/// Shares of time, in the order of `Stall`.
std::string stall_table(const KernelSummary& summary) {
  TextTable table({{"stalls by time", Align::left, kKernelName},
                   {"execution", Align::right},
                   {"memory", Align::right},
                   {"synchron.", Align::right},
                   {"pipe", Align::right},
                   {"fetch", Align::right}});
  for (std::size_t i = 0; i < std::min(kCharacterized, summary.groups.size()); ++i) {
    const KernelGroup& g = summary.groups[i];
    std::vector<std::string> row{g.name};
    for (const double part : g.stalls) row.push_back(percent_text(part));
    table.add(std::move(row));
  }
  return table.text(2);
}

/// No count of warps or cycles: what the model makes of sizes and of the terms of a kernel's time.
std::string occupancy_lines(const KernelSummary& summary) {
  std::string reasons;
  for (const auto& [reason, part] : summary.stalls)
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", reason, percent_text(part));
  std::string text = fmt::format("Mean achieved occupancy, modelled: {}\n", percent_text(summary.mean_occupancy));
  text += wrapped("Likely stalls by time, modelled: " + reasons, kWidth, 2) + '\n';
  TextTable table({{"longest kernels", Align::left, kKernelName}, {"algorithm"}, {"occupancy", Align::right}, {"likely stall"}});
  for (std::size_t i = 0; i < std::min(kCharacterized, summary.groups.size()); ++i) {
    const KernelGroup& g = summary.groups[i];
    table.add({g.name, g.algorithm, percent_text(g.occupancy), g.stall});
  }
  return text + table.text(2) + stall_table(summary);
}

}  // namespace

std::string layers_table(const Prediction& prediction) {
  Seconds all;
  for (const LayerTime& layer : prediction.detail.layers) all += time_of(layer);
  TextTable table({{"layer", Align::left, kLayerName},
                   {"output", Align::left, kShape},
                   {"parameters", Align::right},
                   {"forward", Align::right},
                   {"backward", Align::right},
                   {"update", Align::right},
                   {"share", Align::right}});
  for (const LayerTime& layer : prediction.detail.layers) {
    const Seconds time = time_of(layer);
    table.add({layer.name, layer.shape, layer.parameters > 0 ? std::to_string(layer.parameters) : "",
               blank_if_none(layer.forward), blank_if_none(layer.backward_data + layer.backward_weights),
               blank_if_none(layer.update), time > Seconds(0.0) ? percent_text(time / all) : ""});
  }
  LayerTime sum;
  for (const LayerTime& layer : prediction.detail.layers) {
    sum.parameters += layer.parameters;
    sum.forward += layer.forward;
    sum.backward_data += layer.backward_data + layer.backward_weights;
    sum.update += layer.update;
  }
  table.add({"all layers", "", std::to_string(sum.parameters), format(sum.forward), format(sum.backward_data),
             blank_if_none(sum.update), percent_text(1.0)});
  std::string text = "Layers, by kernel time; output of one sample\n" + table.text();
  if (prediction.division.by_layers)
    text += paragraph("Updates and sums of gradients are of a GPU's part of the network, not of a layer");
  return text;
}

std::string indirect_copies_text(const std::vector<IndirectCopy>& copies) {
  if (copies.empty()) return "";
  std::map<std::string, std::vector<std::string>> by_way;  // way, pairs
  for (const IndirectCopy& copy : copies) by_way[copy.over].push_back(fmt::format("{} > {}", copy.from, copy.to));
  std::string text =
      paragraph(fmt::format("{} ordered pairs of GPUs have no link between them. Each array is copied to another place, then "
                            "fetched from there:",
                            copies.size()));
  for (const auto& [over, pairs] : by_way)
    text += "  " +
            wrapped(fmt::format("over {}: {}", over.empty() ? "host memory" : over, fmt::join(pairs, ", ")), kTextWidth - 2, 4) +
            "\n";
  return "\n" + text;
}

std::string host_table(const Prediction& prediction) {
  TextTable table(
      {{"thread"}, {"cause", Align::left, kCause}, {"calls", Align::right}, {"time", Align::right}, {"of step", Align::right}});
  for (const HostTime& h : longest_first(prediction.detail.host))
    table.add({h.thread, h.cause, std::to_string(h.calls), format(h.time), percent_text(h.time / prediction.step_time.value)});
  if (prediction.division.by_layers)
    return "Host time of a step, by cause: one process's threads, all workers of a node;\ncalls: operators\n" + table.text();
  return "Host time of a step, by cause: one process's threads, all workers of a node;\nthreads run side by side\n" +
         table.text();
}

std::string links_table(const Prediction& prediction) {
  if (prediction.detail.links.empty() && prediction.exchanged.indirect.empty()) return "Links: the step uses none\n";
  TextTable table({{"link", Align::left, kKernelName},
                   {"capacity", Align::right},
                   {"bytes", Align::right},
                   {"busy", Align::right},
                   {"used", Align::right}});
  for (const LinkTraffic& link : prediction.detail.links)
    table.add({link.name, format(link.capacity), format(link.bytes), percent_text(link.busy), percent_text(link.used)});
  if (prediction.division.by_layers)
    return "Bytes that a GPU sends in a step, by axis of the layout and tier of the wiring\nbusy: share of the step in which "
           "calls "
           "of the axis run; used: share of what the\nGPU's part of the tier could carry\n" +
           table.text();
  return "Links and the bytes of a step; used: share of what the link could carry\n" + table.text() +
         indirect_copies_text(prediction.exchanged.indirect);
}

std::string kernels_table(const Prediction& prediction) {
  const KernelSummary summary = summarize_kernels(prediction);
  // A kernel's utilisation is of the units that it runs on.
  const bool tensor = prediction.utilization.tensor_core > 0.0;
  TextTable table({{"kernel", Align::left, kKernelName},
                   {"algorithm"},
                   {"launches", Align::right},
                   {"time", Align::right},
                   {"share", Align::right},
                   {tensor ? "units" : "fp32", Align::right},
                   {"useful", Align::right}});
  std::int64_t launches = 0;
  Seconds time;
  for (const KernelGroup& group : summary.groups) {
    table.add(kernel_row(group));
    launches += group.launches;
    time += group.time;
  }
  table.add({"all kernels", "", std::to_string(launches), format(time), percent_text(summary.groups.empty() ? 0.0 : 1.0),
             percent_text(summary.mean_fp32_utilization), percent_text(summary.mean_useful_utilization)});
  std::string text = fmt::format(
      "Kernels of {} and step\n{}: share of the time that their units execute multiply-adds\nuseful: FLOP of the direct "
      "method over the listed peak\n{}",
      prediction.detail.drawing.ranks.size() > 1 ? "one GPU of the slowest stage" : "one GPU", tensor ? "units" : "fp32",
      table.text());
  text += fmt::format("\nMean {} utilisation, weighted by time: {}; useful FLOP over peak {}\n",
                      tensor ? "tensor-core or fp32" : "fp32", percent_text(summary.mean_fp32_utilization),
                      percent_text(summary.mean_useful_utilization));
  text += occupancy_lines(summary);
  text += "Longest kernels below the mean\n" + kernel_list(summary, summary.long_below_mean);
  text += "Longest kernels at or above the mean\n" + kernel_list(summary, summary.long_above_mean);
  text += "CPU time by operator: --host; by layer: --layers\n";
  return text;
}

}  // namespace tbdsim
