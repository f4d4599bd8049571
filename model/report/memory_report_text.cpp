#include "model/report/memory_report_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/report/csv.hpp"
#include "model/report/text_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr std::size_t kLayerRows = 25;  ///< of the table; CSV and JSON hold all
constexpr std::size_t kMomentRows = 24;
constexpr std::size_t kLayerName = 26;
constexpr double kBarWidth = 30.0;

/// Whether GPUs share layers or hold stages, as Megatron divides a network.
bool divided(const MemoryReport& r) { return r.layout.divides_network(); }

/// Which stage of a pipeline is told.
std::string of_stage(const MemoryReport& r) {
  const std::optional<int> stage = fullest(r.memory).stage;
  return stage ? fmt::format(" of stage {}, the fullest", *stage) : "";
}

/// Copies of the whole network.
int copies(const MemoryReport& r) { return r.layout.data; }

/// What takes a batch: "per GPU" where each holds the whole network.
std::string_view batch_of(const MemoryReport& r) { return divided(r) ? "per copy of the network" : "per GPU"; }

std::string batch_text(const MemoryReport& r) {
  if (r.accumulate == 1) return fmt::format("batch {} {}", r.batch_per_gpu, batch_of(r));
  return fmt::format("{} micro-batches of {} {}", r.accumulate, r.batch_per_gpu, batch_of(r));
}

/// What is kept less of; empty where nothing is.
std::string savings(const MemoryReport& r) {
  std::string text;
  if (r.recompute != "none") text += fmt::format(", recompute {}", r.recompute);
  if (r.offload_states > 0.0) text += fmt::format(", {} of the states on the host", percent_text(r.offload_states));
  if (r.offload_layers > 0) text += fmt::format(", activations of {} layers on the host", r.offload_layers);
  if (r.zero > 0) text += fmt::format(", ZeRO {}{}", r.zero, copies(r) == 1 ? " without effect: one copy" : "");
  return text;
}

/// How the network is divided; empty where every GPU holds all of it.
std::string layout(const MemoryReport& r) {
  if (!divided(r)) return "";
  return fmt::format("; {} {}, {} {} to a layer, {} {} of it all", r.layout.pipeline, r.layout.pipeline == 1 ? "stage" : "stages",
                     r.layout.tensor * r.layout.context, r.layout.tensor * r.layout.context == 1 ? "GPU" : "GPUs", copies(r),
                     copies(r) == 1 ? "copy" : "copies");
}

std::string title(const MemoryReport& r) {
  return paragraph(fmt::format("{} ({}), {}, {}, {}{} on {} x {}, {}{}", r.model, r.variant, batch_text(r), r.precision,
                               r.optimizer, savings(r), r.gpus,
                               r.device == r.hardware ? r.device : fmt::format("{} of {}", r.device, r.hardware), r.stack,
                               r.gpus > 1 ? fmt::format(", {}", name(r.exchange)) : "") +
                   layout(r)) +
         '\n';
}

std::string gpu_totals(const MemoryReport& r) {
  TextTable table({{"GPU"},
                   {"before", Align::right},
                   {"allocated", Align::right},
                   {"reserved", Align::right},
                   {"nvidia-smi", Align::right},
                   {"80 % range", Align::right},
                   {"fits", Align::right}});
  for (const GpuMemory& g : r.memory.gpus) {
    const bool fits = g.peak <= r.memory.capacity;
    const Bytes distance = fits ? r.memory.capacity - g.peak : g.peak - r.memory.capacity;
    table.add({std::to_string(g.gpu), format(g.pre_training), format(g.allocated), format(g.reserved), format(g.peak),
               fmt::format("{} - {}", format(g.low), format(g.high)),
               fmt::format("{}, {} {}", fits ? "yes" : "NO", format(distance), fits ? "free" : "too much")});
  }
  const std::string_view whose = divided(r) ? "the first GPU of each stage" : "each GPU of a node";
  return paragraph(
             fmt::format("Memory of {}, of {}: before training and at the peak of a step", whose, format(r.memory.capacity))) +
         table.text();
}

/// By what a store's arrays on two GPUs differ: " (merged gradients 208 MB, weights 208 MB)"; empty where there is no store.
std::string store_arrays(const StoreArrays& most, const StoreArrays& least) {
  const std::pair<const char*, Bytes> kinds[] = {{"merged gradients", most.merged - least.merged},
                                                 {"stored weights", most.weights - least.weights},
                                                 {"gradients of other GPUs", most.received - least.received}};
  std::vector<std::string> texts;
  for (const auto& [kind, more] : kinds)
    if (more > Bytes(0.0)) texts.push_back(fmt::format("{} {}", kind, format(more)));
  return texts.empty() ? "" : fmt::format(" ({})", fmt::join(texts, ", "));
}

/// What the fullest of GPUs that do the same work holds more than the emptiest, part by part.
std::string more_than_least(const MemoryReport& r) {
  const GpuMemory& most = fullest(r.memory);
  const GpuMemory& least = *std::min_element(r.memory.gpus.begin(), r.memory.gpus.end(),
                                             [](const GpuMemory& a, const GpuMemory& b) { return a.peak < b.peak; });
  if (divided(r) || least.peak == most.peak) return "";
  std::vector<std::pair<Bytes, std::size_t>> parts;
  for (std::size_t i = 0; i < kMemoryPartCount; ++i)
    if (const Bytes more = most.parts.bytes[i] - least.parts.bytes[i]; more > Bytes(0.0)) parts.emplace_back(more, i);
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text = fmt::format("GPU {} holds {} more than GPU {}", most.gpu, format(most.peak - least.peak), least.gpu);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto part = static_cast<MemoryPart>(parts[i].second);
    text += fmt::format("{} {} {}", i == 0 ? ":" : ",", part_label(part), format(parts[i].first));
    if (part == MemoryPart::exchange) text += store_arrays(most.stored, least.stored);
  }
  return paragraph(text);
}

std::string structure(const MemoryReport& r) {
  const GpuMemory& gpu = fullest(r.memory);
  TextTable table({{"Part"}, {"size", Align::right}, {"share", Align::right}});
  std::vector<std::size_t> order(kMemoryPartCount);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return gpu.parts.bytes[a] > gpu.parts.bytes[b]; });
  for (const std::size_t i : order)
    if (gpu.parts.bytes[i] > Bytes(0.0))
      table.add(
          {part_label(static_cast<MemoryPart>(i)), format(gpu.parts.bytes[i]), percent_text(gpu.parts.bytes[i] / gpu.peak)});
  return fmt::format("By structure, GPU {}, at the peak\n", gpu.gpu) + table.text() + more_than_least(r);
}

std::string layers(const MemoryReport& r) {
  TextTable table({{"Layer", Align::left, kLayerName},
                   {"output"},
                   {"held", Align::right},
                   {"feature maps", Align::right},
                   {"weights", Align::right},
                   {"gradients", Align::right},
                   {"dynamic", Align::right},
                   {"state", Align::right}});
  const std::vector<LayerMemory> rows = steps_joined(r.layers);
  for (std::size_t i = 0; i < std::min(kLayerRows, rows.size()); ++i) {
    const LayerMemory& l = rows[i];
    table.add({l.name, l.shape, format(l.parts.total()), format(l.parts[MemoryPart::feature_maps]),
               format(l.parts[MemoryPart::weights]), format(l.parts[MemoryPart::gradients]), format(l.parts[MemoryPart::dynamic]),
               format(l.parts[MemoryPart::optimizer_state])});
  }
  std::string text = fmt::format("By layer{}, at the peak, largest first\n", of_stage(r)) + table.text();
  if (rows.size() > kLayerRows) text += fmt::format("and {} smaller ones (--format csv lists all)\n", rows.size() - kLayerRows);
  return text;
}

std::string types(const MemoryReport& r) {
  TextTable table({{"Type of layer"},
                   {"layers", Align::right},
                   {"held", Align::right},
                   {"share", Align::right},
                   {"feature maps", Align::right},
                   {"weights", Align::right},
                   {"gradients", Align::right},
                   {"dynamic", Align::right},
                   {"state", Align::right}});
  const Bytes peak = fullest(r.memory).peak;
  for (const TypeMemory& t : r.types)
    table.add({t.type, t.layers > 0 ? std::to_string(t.layers) : "", format(t.parts.total()),
               percent_text(t.parts.total() / peak), format(t.parts[MemoryPart::feature_maps]),
               format(t.parts[MemoryPart::weights]), format(t.parts[MemoryPart::gradients]), format(t.parts[MemoryPart::dynamic]),
               format(t.parts[MemoryPart::optimizer_state])});
  return fmt::format("By type of layer{}, at the peak\n", of_stage(r)) + table.text();
}

std::string peak_moment(const MemoryReport& r) {
  return r.peak_phase == Phase::update ? fmt::format("the weights of {} are updated", r.peak_layer)
                                       : fmt::format("{} runs {}", r.peak_layer, name(r.peak_phase));
}

std::string moments(const MemoryReport& r) {
  Bytes most;
  for (const MemoryMoment& m : r.moments) most = std::max(most, m.live);
  TextTable table({{"While"}, {"pass"}, {"in use", Align::right}, {""}});
  const std::size_t step = std::max<std::size_t>(1, (r.moments.size() + kMomentRows - 1) / kMomentRows);
  for (std::size_t begin = 0; begin < r.moments.size(); begin += step) {
    // Of each stretch, the fullest moment: so the peak is always among them.
    const auto end = r.moments.begin() + static_cast<std::ptrdiff_t>(std::min(begin + step, r.moments.size()));
    const auto top = std::max_element(r.moments.begin() + static_cast<std::ptrdiff_t>(begin), end,
                                      [](const MemoryMoment& a, const MemoryMoment& b) { return a.live < b.live; });
    table.add({top->layer, std::string(name(top->phase)), format(top->live),
               std::string(static_cast<std::size_t>(kBarWidth * (top->live / most)), '#')});
  }
  return paragraph(fmt::format("Over the step, arrays in use: most while {}", peak_moment(r))) + table.text();
}

std::string reductions(const MemoryReport& r) {
  if (r.reductions.empty()) return "";
  TextTable table({{"What would reduce it"}, {"gain", Align::right}, {"peak", Align::right}, {"fits"}, {""}});
  for (const MemoryReduction& c : r.reductions)
    table.add({c.name, format(c.gain), format(c.peak), c.fits ? "yes" : "no", c.what});
  return "\n" + table.text();
}

/// What memory must hold at once: of several to an update, one.
std::string_view batch_word(const MemoryReport& r) { return r.accumulate > 1 ? "micro-batch" : "batch"; }

std::string largest_text(const MemoryReport& r) {
  const LargestBatch& l = *r.largest;
  const std::string_view what = batch_word(r);
  std::string text = fmt::format("Largest {} {}: {} ({}, fits with a probability of {})", what, batch_of(r), l.batch,
                                 format(l.peak), percent_text(l.probability));
  text += l.next > 0            ? fmt::format("; {} needs {}", l.next, format(l.next_peak))
          : l.micro_batches > 1 ? "; larger ones leave too few micro-batches"
                                : ", which is all of an update";
  if (l.micro_batches > 1)
    text += fmt::format(". {} of them make a batch of {} {}", l.micro_batches,
                        static_cast<std::int64_t>(l.micro_batches) * l.batch, batch_of(r));
  return paragraph(text);
}

std::string largest(const MemoryReport& r) {
  if (!r.largest) return "";
  const LargestBatch& l = *r.largest;
  if (l.batch == 0 && r.memory.host && !r.memory.host->fits)
    return fmt::format("\nLargest {}: none, whatever GPUs hold: the host's memory is too small\n", batch_word(r));
  if (l.batch == 0)
    return fmt::format("\nLargest {}: none; {} needs {}\n", batch_word(r), l.next == 1 ? "one sample" : std::to_string(l.next),
                       format(l.next_peak));
  return "\n" + largest_text(r) +
         (l.larger
              ? paragraph(fmt::format("Larger ones fit, such as {} ({}), but not all up to there: workspaces and blocks differ",
                                      l.larger->batch, format(l.larger->peak)))
              : "") +
         (l.safe_batch > 0
              ? fmt::format("Every {} up to {} fits with a probability of at least 90 %\n", batch_word(r), l.safe_batch)
              : fmt::format("No {} fits with a probability of 90 %\n", batch_word(r))) +
         paragraph(
             "Peaks do not grow evenly with the batch: blocks are rounded and split, and workspaces change with the algorithm, "
             "so "
             "that a batch may need less than a smaller one. A size near the capacity may fit where the next one does not.");
}

std::string number(Bytes bytes) { return fmt::format("{:.0f}", bytes.base()); }

/// A line of CSV whose last cells are all parts, or their names.
std::string parts_line(std::vector<std::string> cells, const MemoryParts* parts) {
  for (std::size_t i = 0; i < kMemoryPartCount; ++i)
    cells.push_back(parts != nullptr ? number(parts->bytes[i]) : std::string(name(static_cast<MemoryPart>(i))) + "_bytes");
  return csv_line(cells);
}

}  // namespace

const GpuMemory& fullest(const MemoryVerdict& memory) {
  return *std::max_element(memory.gpus.begin(), memory.gpus.end(),
                           [](const GpuMemory& a, const GpuMemory& b) { return a.peak < b.peak; });
}

std::string sold_memory(Bytes capacity) {
  constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0, kGigabyte = 1e9, kWhole = 1e-4;
  const double binary = capacity.base() / kGibibyte;
  const bool whole = std::abs(binary - std::round(binary)) < kWhole * binary;
  return fmt::format("{:.0f} GB", whole ? std::round(binary) : std::round(capacity.base() / kGigabyte));
}

std::string fit_text(const MemoryVerdict& memory) {
  const GpuMemory& most = fullest(memory);
  const GpuMemory& least = *std::min_element(memory.gpus.begin(), memory.gpus.end(),
                                             [](const GpuMemory& a, const GpuMemory& b) { return a.peak < b.peak; });
  const std::string sold = memory.sold > Bytes(0.0) ? fmt::format(", sold as {},", sold_memory(memory.sold)) : "";
  std::string verdict = fmt::format("{} of {}{} per GPU (80 % range {} to {}): ", format(most.peak), format(memory.capacity),
                                    sold, format(most.low), format(most.high));
  // A job that its host's memory does not hold may fit its GPUs.
  const bool fits = memory.fits || (memory.host && !memory.host->fits && most.peak <= memory.capacity);
  verdict += fits ? fmt::format("fits, {} free", format(memory.capacity - most.peak))
                  : fmt::format("DOES NOT FIT, {} too much", format(most.peak - memory.capacity));
  if (memory.fits && most.high > memory.capacity && most.probability < 0.9)
    verdict += ", but the upper end of the range does not";
  if (least.peak < most.peak)
    verdict += fmt::format("; GPU {} is fullest, GPU {} holds {}", most.gpu, least.gpu, format(least.peak));
  return verdict;
}

std::string host_fit_text(const HostMemory& host) {
  const std::string each = fmt::format("{} for each GPU", format(host.rank));
  if (!host.capacity) return fmt::format("{} a node, {}; its size is not known", format(host.needed), each);
  const Bytes distance = host.fits ? *host.capacity - host.needed : host.needed - *host.capacity;
  return fmt::format("{} of {} a node, {}: {}, {} {}", format(host.needed), format(*host.capacity), each,
                     host.fits ? "fits" : "DOES NOT FIT", format(distance), host.fits ? "free" : "too much");
}

std::string part_label(MemoryPart part) {
  if (part == MemoryPart::optimizer_state) return "optimiser state";
  std::string label(name(part));
  std::replace(label.begin(), label.end(), '_', ' ');
  return label;
}

std::string memory_table(const MemoryReport& r, MemoryView view) {
  std::string text = title(r) + gpu_totals(r);
  if (r.memory.host) text += paragraph("Memory of the host: " + host_fit_text(*r.memory.host));
  text += '\n';
  text += view == MemoryView::layer  ? layers(r)
          : view == MemoryView::type ? types(r)
          : view == MemoryView::time ? moments(r)
                                     : structure(r);
  if (view != MemoryView::time)
    text +=
        paragraph(fmt::format("Most memory is in use while {}; its arrays alone take {}", peak_moment(r), format(r.lower_bound)));
  return text + reductions(r) + largest(r);
}

std::string largest_batch_csv(const LargestBatch& l) {
  std::string larger, larger_peak;
  if (l.larger) {
    larger = std::to_string(l.larger->batch);
    larger_peak = number(l.larger->peak);
  }
  return csv_line({"max_batch_per_gpu", "low", "high", "peak_bytes", "probability_of_fitting", "next_peak_bytes",
                   "batch_per_gpu_with_probability_90", "larger_that_fits", "larger_peak_bytes"}) +
         csv_line({std::to_string(l.batch), std::to_string(l.low), std::to_string(l.high), number(l.peak),
                   fmt::format("{}", l.probability), l.next > 0 ? number(l.next_peak) : "", std::to_string(l.safe_batch), larger,
                   larger_peak});
}

std::string memory_csv(const MemoryReport& r, MemoryView view) {
  std::string text;
  if (view == MemoryView::structure) {
    text = csv_line({"gpu", "part", "bytes"});
    for (const GpuMemory& g : r.memory.gpus) {
      for (const auto& [name, bytes] : {std::pair{"pre_training", g.pre_training},
                                        {"allocated", g.allocated},
                                        {"reserved", g.reserved},
                                        {"peak", g.peak},
                                        {"low", g.low},
                                        {"high", g.high}})
        text += csv_line({std::to_string(g.gpu), name, number(bytes)});
      for (std::size_t i = 0; i < kMemoryPartCount; ++i)
        text += csv_line({std::to_string(g.gpu), std::string(name(static_cast<MemoryPart>(i))), number(g.parts.bytes[i])});
    }
  } else if (view == MemoryView::layer) {
    text = parts_line({"layer", "kind", "output_shape", "total_bytes"}, nullptr);
    for (const LayerMemory& l : r.layers) text += parts_line({l.name, l.kind, l.shape, number(l.parts.total())}, &l.parts);
  } else if (view == MemoryView::type) {
    text = parts_line({"type", "layers", "total_bytes"}, nullptr);
    for (const TypeMemory& t : r.types) text += parts_line({t.type, std::to_string(t.layers), number(t.parts.total())}, &t.parts);
  } else {
    text = csv_line({"position", "layer", "pass", "live_bytes"});
    for (std::size_t i = 0; i < r.moments.size(); ++i)
      text += csv_line({std::to_string(i), r.moments[i].layer, std::string(name(r.moments[i].phase)), number(r.moments[i].live)});
  }
  return text;
}

}  // namespace tbdsim
