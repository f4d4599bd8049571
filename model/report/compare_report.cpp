#include "model/report/compare_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/analysis/batch_knee.hpp"
#include "model/analysis/compare_front.hpp"
#include "model/report/csv.hpp"
#include "model/report/text_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr std::size_t kWidth = 80, kLabel = 26;
constexpr double kSecondsPerHour = 3600.0;

std::string or_dash(const std::optional<double>& value) { return value ? number_text(*value) : "-"; }

std::optional<double> samples_per_usd(const Prediction& p) {
  if (!p.hour_cost || *p.hour_cost <= Usd(0.0)) return std::nullopt;
  return p.throughput.value * kSecondsPerHour / p.hour_cost->base();
}

std::optional<double> samples_per_joule(const Prediction& p) {
  if (!p.sample_energy || *p.sample_energy <= Joules(0.0)) return std::nullopt;
  return 1.0 / p.sample_energy->base();
}

std::string label_of(const Comparison& comparison, std::size_t i) {
  const std::string& label = comparison.candidates[i].label;
  return label.empty() ? "(only one)" : label;
}

std::string speed_table(const Comparison& comparison) {
  const bool tensor = std::any_of(comparison.candidates.begin(), comparison.candidates.end(),
                                  [](const Candidate& c) { return c.prediction.utilization.tensor_core > 0.0; });
  std::vector<TextTable::Column> columns{{"", Align::left, kLabel},    {"samples/s", Align::right}, {"speed-up", Align::right},
                                         {"80 % range", Align::right}, {"busy", Align::right},      {"fp32", Align::right}};
  if (tensor) columns.push_back({"tensor", Align::right});
  columns.insert(columns.end(), {{"memory", Align::right}, {""}});
  TextTable table(std::move(columns));
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i) {
    const Candidate& c = comparison.candidates[i];
    if (!c.problem.empty()) continue;
    const Prediction& p = c.prediction;
    const double used = p.memory.gpus.empty() ? 0.0 : p.memory.gpus.front().peak / p.memory.capacity;
    const bool base = i == c.base;
    std::vector<std::string> row{label_of(comparison, i),
                                 number_text(p.throughput.value),
                                 number_text(c.speedup.value),
                                 base ? "base" : fmt::format("{} - {}", number_text(c.speedup.low), number_text(c.speedup.high)),
                                 percent_text(p.utilization.gpu_busy),
                                 percent_text(p.utilization.fp32)};
    if (tensor) row.push_back(percent_text(p.utilization.tensor_core));
    row.insert(row.end(), {percent_text(used), !p.memory.fits ? "too big" : c.apart ? "" : "?"});
    table.add(std::move(row));
  }
  return table.empty() ? "" : table.text();
}

std::string cost_table(const Comparison& comparison) {
  TextTable table({{"", Align::left, kLabel},
                   {"USD/h", Align::right},
                   {"samples/USD", Align::right},
                   {"samples/J", Align::right},
                   {"front"},
                   {"limit"}});
  const std::vector<bool> front = compare_front(comparison);
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i) {
    const Candidate& c = comparison.candidates[i];
    if (!c.problem.empty()) continue;
    const Prediction& p = c.prediction;
    table.add({label_of(comparison, i), or_dash(p.hour_cost ? std::optional(p.hour_cost->base()) : std::nullopt),
               or_dash(samples_per_usd(p)), or_dash(samples_per_joule(p)), front[i] ? "*" : "",
               fmt::format("{} {}", p.limit.resource, percent_text(p.limit.share))});
  }
  return table.empty() ? "" : "\n" + table.text();
}

/// Parameters and work of the networks, where there are several: what a speed-up may be held against.
std::string sizes_table(const Comparison& comparison) {
  std::set<std::string> told;
  TextTable table({{"network"}, {"parameters", Align::right}, {"FLOP a sample", Align::right}});
  for (const Candidate& c : comparison.candidates) {
    const Prediction& p = c.prediction;
    if (c.problem.empty() && told.insert(p.model + p.variant + p.sample).second)
      table.add({p.model, std::to_string(p.parameters), format(p.flop_per_sample())});
  }
  return told.size() < 2 ? "" : "\n" + table.text();
}

/// What the price of each row is, and what it pays for beside the job; rows of one price together.
std::string price_text(const Comparison& comparison) {
  std::set<std::string> kinds;
  std::vector<std::pair<std::string, std::string>> told;  // price, rows
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i) {
    const Prediction& p = comparison.candidates[i].prediction;
    if (!p.hour_cost) continue;
    kinds.insert(p.price.basis);
    std::string price = p.price.note.empty() ? p.price.text : fmt::format("{} ({})", p.price.text, p.price.note);
    const auto same = std::find_if(told.begin(), told.end(), [&](const auto& t) { return t.first == price; });
    if (same == told.end())
      told.emplace_back(std::move(price), label_of(comparison, i));
    else
      same->second += ", " + label_of(comparison, i);
  }
  if (told.empty()) return "";
  std::string text =
      kinds.size() > 1 ? "\nUSD/h is not of one kind (pages: --format json)\n" : "\nUSD/h (pages: --format json)\n";
  for (const auto& [price, rows] : told) text += "  " + wrapped(fmt::format("{}: {}", rows, price), kWidth, 4) + "\n";
  return text;
}

/// Speed-ups of different networks have a base each.
std::string bases_text(const Comparison& comparison) {
  const auto& all = comparison.candidates;
  const bool several =
      std::any_of(all.begin(), all.end(), [&](const Candidate& c) { return c.problem.empty() && c.base != comparison.base; });
  return several ? "\nEach speed-up is against the base of the same network; samples/s and samples/USD\nof different networks do "
                   "not compare.\n"
                 : "";
}

std::string knee_text(const Comparison& comparison) {
  const auto knee = batch_knee(comparison);
  if (!knee) return "";
  return "\n" + paragraph(fmt::format(
                    "Knee: batch {} reaches {} of the most throughput, which batch {} has; larger ones gain less "
                    "than a tenth. Each sample takes {}; the largest here that fits is {}.",
                    knee->batch, percent_text(knee->share), knee->best, format(knee->memory_per_sample), knee->largest));
}

/// What a star means: of a front without prices another thing.
std::string front_text(const std::vector<Candidate>& all) {
  const auto count = [&](bool priced) {
    return std::count_if(all.begin(), all.end(), [&](const Candidate& c) {
      return c.problem.empty() && c.prediction.million_samples_cost.has_value() == priced;
    });
  };
  if (count(true) == 0)
    return "\n* nothing here for the same work is better in time and memory together; no price is\n  known.\n";
  return std::string("\n* nothing here for the same work is better in time, cost and memory together") +
         (count(false) == 0 ? ".\n" : ";\n  what has no price has no star where others have one.\n");
}

}  // namespace

std::string compare_table(const Comparison& comparison) {
  std::string text = speed_table(comparison) + bases_text(comparison) + sizes_table(comparison) + cost_table(comparison) +
                     price_text(comparison) + knee_text(comparison);
  const auto& all = comparison.candidates;
  const auto alike = std::count_if(all.begin(), all.end(), [](const Candidate& c) { return c.problem.empty() && !c.apart; });
  if (alike > 0)
    text +=
        "\n" +
        wrapped(fmt::format("? {} candidate(s) cannot be told apart from the base: the range of the speed-up holds 1.", alike),
                kWidth, 2) +
        "\n";
  const auto predicted = std::count_if(all.begin(), all.end(), [](const Candidate& c) { return c.problem.empty(); });
  if (predicted > 1) text += front_text(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].problem.empty())
      text += wrapped(fmt::format("{}: {}", label_of(comparison, i), all[i].problem), kWidth, 2) + "\n";
  }
  return text;
}

std::string compare_csv(const Comparison& comparison) {
  std::vector<std::string> header;
  if (!comparison.candidates.empty()) {
    for (const auto& [option, value] : comparison.candidates.front().varied) header.push_back(option);
  }
  for (const char* column : {"throughput_samples_per_s",
                             "step_time_s",
                             "speedup",
                             "speedup_low",
                             "speedup_high",
                             "apart",
                             "front",
                             "gpu_busy",
                             "fp32",
                             "tensor_core",
                             "mfu",
                             "fits",
                             "peak_memory_bytes",
                             "limit",
                             "usd_per_hour",
                             "samples_per_usd",
                             "joule_per_sample",
                             "base",
                             "memory_capacity_bytes",
                             "limit_share",
                             "price_basis",
                             "price_source",
                             "parameters",
                             "flop_per_sample",
                             "problem"})
    header.emplace_back(column);
  std::string all = csv_line(header);
  const auto exact = [](const std::optional<double>& value) { return value ? fmt::format("{}", *value) : std::string(); };
  const auto exact_base = [](const auto& value) { return value ? fmt::format("{}", value->base()) : std::string(); };
  const std::vector<bool> front = compare_front(comparison);
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i) {
    const Candidate& c = comparison.candidates[i];
    std::vector<std::string> row;
    for (const auto& [option, value] : c.varied) row.push_back(value);
    const Prediction& p = c.prediction;
    if (c.problem.empty()) {
      const Bytes peak = p.memory.gpus.empty() ? Bytes(0.0) : p.memory.gpus.front().peak;
      for (std::string& field : std::vector<std::string>{exact(p.throughput.value),
                                                         exact(p.step_time.value.base()),
                                                         exact(c.speedup.value),
                                                         exact(c.speedup.low),
                                                         exact(c.speedup.high),
                                                         c.apart ? "true" : "false",
                                                         front[i] ? "true" : "false",
                                                         exact(p.utilization.gpu_busy),
                                                         exact(p.utilization.fp32),
                                                         exact(p.utilization.tensor_core),
                                                         exact(p.utilization.mfu),
                                                         p.memory.fits ? "true" : "false",
                                                         exact(peak.base()),
                                                         p.limit.resource,
                                                         exact_base(p.hour_cost),
                                                         exact(samples_per_usd(p)),
                                                         exact_base(p.sample_energy),
                                                         i == c.base ? "true" : "false",
                                                         exact(p.memory.capacity.base()),
                                                         exact(p.limit.share),
                                                         p.price.basis,
                                                         p.price.source,
                                                         std::to_string(p.parameters),
                                                         exact(p.flop_per_sample().base()),
                                                         ""})
        row.push_back(std::move(field));
    }
    row.resize(header.size());
    if (!c.problem.empty()) row.back() = c.problem;
    all += csv_line(row);
  }
  return all;
}

}  // namespace tbdsim
