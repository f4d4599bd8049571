#include "model/report/precision_gain_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/report/csv.hpp"
#include "model/report/text_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr std::size_t kLayerName = 34, kNamed = 4;

/// Layers that one reason keeps off tensor cores.
struct Passed {
  std::string reason, names;
  std::size_t layers = 0;
  Seconds time;
};

std::vector<Passed> passed_by(const PrecisionGain& gain) {
  std::vector<Passed> all;
  for (const LayerGain& layer : gain.layers) {
    if (layer.obstacle.empty()) continue;
    auto same = std::find_if(all.begin(), all.end(), [&](const Passed& p) { return p.reason == layer.obstacle; });
    if (same == all.end()) same = all.insert(all.end(), Passed{layer.obstacle, {}, 0, {}});
    if (same->layers < kNamed) same->names += (same->names.empty() ? "" : ", ") + layer.name;
    if (same->layers == kNamed) same->names += ", ...";
    ++same->layers;
    same->time += layer.before;
  }
  std::stable_sort(all.begin(), all.end(), [](const Passed& a, const Passed& b) { return a.time > b.time; });
  return all;
}

std::string times_text(Seconds before, Seconds after) {
  const double gain = after > Seconds(0.0) ? before / after : 0.0;
  return gain > 0.0 ? fmt::format("{:.2f}x", gain) : "";
}

}  // namespace

std::string precision_gain_table(const PrecisionGain& gain) {
  Seconds before(0.0), after(0.0);
  TextTable table({{"layer", Align::left, kLayerName},
                   {"kind"},
                   {gain.from, Align::right},
                   {gain.to, Align::right},
                   {"gain", Align::right},
                   {"16-bit cores"}});
  for (const LayerGain& layer : gain.layers) {
    before += layer.before;
    after += layer.after;
    table.add({layer.name, layer.kind, format(layer.before), format(layer.after), times_text(layer.before, layer.after),
               layer.tensor_core ? "yes" : "no"});
  }
  std::string text = fmt::format("\nGain of {} by layer: kernels of a step, all passes\n{}", gain.to, table.text(2));
  text += wrapped(fmt::format("All kernels {} in {}, {} in {}: {}. The step: {} and {}, {}.", format(before), gain.from,
                              format(after), gain.to, times_text(before, after), format(gain.before.value),
                              format(gain.after.value), times_text(gain.before.value, gain.after.value)),
                  kTextWidth, 0) +
          '\n';
  TextTable rest({{"reason", Align::left}, {"layers", Align::right}, {"time", Align::right}, {"which"}});
  for (const Passed& p : passed_by(gain)) rest.add({p.reason, std::to_string(p.layers), percent_text(p.time / before), p.names});
  if (!rest.empty())
    text +=
        fmt::format("\nLayers off the 16-bit tensor cores, and their share of the kernels in {}\n{}", gain.from, rest.text(2));
  return text;
}

std::string precision_gain_csv(const PrecisionGain& gain) {
  std::string all = csv_line({"layer", "kind", gain.from + "_s", gain.to + "_s", "gain", "tensor_core", "obstacle"});
  for (const LayerGain& l : gain.layers) {
    const double times = l.after > Seconds(0.0) ? l.before / l.after : 0.0;
    all += csv_line({l.name, l.kind, fmt::format("{}", l.before.base()), fmt::format("{}", l.after.base()),
                     times > 0.0 ? fmt::format("{}", times) : "", l.tensor_core ? "true" : "false", l.obstacle});
  }
  return all;
}

}  // namespace tbdsim
