#include "model/report/compare_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/report/csv.hpp"
#include "model/report/ownership_report.hpp"
#include "model/report/price_report.hpp"
#include "model/report/text_table.hpp"
#include "model/study/batch_knee.hpp"
#include "model/study/compare_front.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

constexpr std::size_t kWidth = 80;
constexpr double kSecondsPerHour = 3600.0;

std::string or_dash(const std::optional<double>& value) { return value ? number_text(*value) : "-"; }

std::optional<double> samples_per_usd(const Prediction& p) {
  if (!p.cost.hour || *p.cost.hour <= Usd(0.0)) return std::nullopt;
  return p.throughput.value * kSecondsPerHour / p.cost.hour->base();
}

std::optional<double> samples_per_joule(const Prediction& p) {
  if (!p.cost.sample_energy || *p.cost.sample_energy <= Joules(0.0)) return std::nullopt;
  return 1.0 / p.cost.sample_energy->base();
}

/// What all rows have, and which rows have another; empty where the rows' names tell it.
std::string common_setting(const Comparison& comparison, std::string_view option, std::string (*value)(const Prediction&)) {
  constexpr std::size_t kNamed = 4;
  std::vector<std::pair<std::string, std::vector<std::size_t>>> rows;
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i) {
    const Candidate& c = comparison.candidates[i];
    if (std::any_of(c.varied.begin(), c.varied.end(), [&](const auto& varied) { return varied.first == option; })) return "";
    if (!c.problem.empty()) continue;
    const std::string here = value(c.prediction);
    auto same = std::find_if(rows.begin(), rows.end(), [&](const auto& one) { return one.first == here; });
    if (same == rows.end()) same = rows.insert(rows.end(), {here, {}});
    same->second.push_back(i);
  }
  if (rows.empty()) return "";
  const auto most =
      std::max_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::vector<std::string> others;
  for (const auto& row : rows)
    if (&row != &*most)
      for (const std::size_t i : row.second) others.push_back(fmt::format("{}: {}", candidate_label(comparison, i), row.first));
  if (others.empty()) return most->first;
  if (others.size() > kNamed) return fmt::format("{} of {} rows (--format json tells all)", most->first, most->second.size());
  return fmt::format("{} ({})", most->first, fmt::join(others, ", "));
}

/// The settings that decide how fast a job is and that the rows' names leave out.
std::string settings_text(const Comparison& comparison) {
  std::vector<std::string> settings;
  const auto add = [&](std::string_view option, std::string (*value)(const Prediction&)) {
    if (std::string text = common_setting(comparison, option, value); !text.empty()) settings.push_back(std::move(text));
  };
  add("batch", [](const Prediction& p) {
    const bool copies = p.division.by_layers && p.division.layout.divides_network();
    return fmt::format("batch {} per {}", p.job.batch_per_gpu, copies ? "copy" : "GPU");
  });
  add("precision", [](const Prediction& p) { return p.job.precision; });
  add("stack", [](const Prediction& p) { return p.job.stack; });
  return settings.empty() ? "" : wrapped(fmt::format("Jobs: {}", fmt::join(settings, "; ")), kWidth, 2) + "\n\n";
}

/// FLOP of the direct method over the listed peak of the units that take most of them.
double useful(const Utilization& u) { return u.tensor_core > 0.0 ? u.tensor_core_useful : u.fp32_useful; }

std::string speed_table(const Comparison& comparison) {
  const bool tensor = std::any_of(comparison.candidates.begin(), comparison.candidates.end(),
                                  [](const Candidate& c) { return c.prediction.utilization.tensor_core > 0.0; });
  std::vector<TextTable::Column> columns{
      {"", Align::left, label_width()}, {"samples/s", Align::right}, {"speed-up", Align::right}, {"80 % range", Align::right},
      {"busy", Align::right},           {"fp32", Align::right},      {"useful", Align::right}};
  if (tensor) columns.push_back({"tensor", Align::right});
  columns.insert(columns.end(), {{"memory", Align::right}, {""}});
  TextTable table(std::move(columns));
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i) {
    const Candidate& c = comparison.candidates[i];
    if (!c.problem.empty()) continue;
    const Prediction& p = c.prediction;
    const double used = p.memory.gpus.empty() ? 0.0 : p.memory.gpus.front().peak / p.memory.capacity;
    const bool base = i == c.base;
    std::vector<std::string> row{candidate_label(comparison, i),
                                 number_text(p.throughput.value),
                                 number_text(c.speedup.value),
                                 base ? "base" : fmt::format("{} - {}", number_text(c.speedup.low), number_text(c.speedup.high)),
                                 percent_text(p.utilization.gpu_busy),
                                 percent_text(p.utilization.fp32),
                                 percent_text(useful(p.utilization))};
    if (tensor) row.push_back(percent_text(p.utilization.tensor_core));
    row.insert(row.end(), {percent_text(used), !p.memory.fits ? "too big" : c.apart ? "" : "?"});
    table.add(std::move(row));
  }
  return table.empty() ? "" : table.text();
}

/// What bounds each candidate, what a joule brings and, where no price is known, the front.
std::string limit_table(const Comparison& comparison) {
  const bool unpriced = payments_of(comparison).front() == PaidBy::nothing;
  std::vector<TextTable::Column> columns{{"", Align::left, label_width()}, {"samples/J", Align::right}};
  if (unpriced) columns.push_back({"front"});
  columns.push_back({"limit"});
  TextTable table(std::move(columns));
  const std::vector<bool> front = compare_front(comparison);
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i) {
    const Candidate& c = comparison.candidates[i];
    if (!c.problem.empty()) continue;
    const Prediction& p = c.prediction;
    std::vector<std::string> row{candidate_label(comparison, i), or_dash(samples_per_joule(p))};
    if (unpriced) row.emplace_back(front[i] ? "*" : "");
    row.push_back(fmt::format("{} {}", name(p.limit.resource), percent_text(p.limit.share)));
    table.add(std::move(row));
  }
  return table.empty() ? "" : "\n" + table.text();
}

/// Parameters and work of the networks, where there are several: what a speed-up may be held against.
std::string sizes_table(const Comparison& comparison) {
  std::set<std::string> told;
  TextTable table({{"network"}, {"parameters", Align::right}, {"FLOP a sample", Align::right}});
  for (const Candidate& c : comparison.candidates) {
    const Prediction& p = c.prediction;
    if (c.problem.empty() && told.insert(p.job.model + p.job.variant + p.samples.text).second)
      table.add({p.job.model, std::to_string(p.work.parameters), format(p.flop_per_sample())});
  }
  return told.size() < 2 ? "" : "\n" + table.text();
}

/// Where two networks of the same samples are compared, as a network and an edit of it: by what the second differs from the
/// first, all else being equal.
std::string difference_table(const Comparison& comparison) {
  const auto model_of = [](const Candidate& c) {
    const auto found = std::find_if(c.varied.begin(), c.varied.end(), [](const auto& option) { return option.first == "model"; });
    return found == c.varied.end() ? std::string() : found->second;
  };
  const auto others_of = [](const Candidate& c) {
    std::vector<std::string> others;
    for (const auto& [option, value] : c.varied)
      if (option != "model") others.push_back(value);
    return others;
  };
  std::vector<std::string> models;
  for (const Candidate& c : comparison.candidates)
    if (std::find(models.begin(), models.end(), model_of(c)) == models.end()) models.push_back(model_of(c));
  if (models.size() != 2) return "";
  const auto change = [](double before, double after) {
    return before > 0.0 ? fmt::format("{:+.1f} %", 100.0 * (after / before - 1.0)) : std::string("-");
  };
  const auto peak = [](const Prediction& p) { return p.memory.gpus.empty() ? 0.0 : p.memory.gpus.front().peak.base(); };
  TextTable table({{"", Align::left, label_width()},
                   {"parameters", Align::right},
                   {"FLOP a sample", Align::right},
                   {"step", Align::right},
                   {"samples/s", Align::right},
                   {"memory", Align::right}});
  for (const Candidate& second : comparison.candidates) {
    if (model_of(second) != models[1] || !second.problem.empty()) continue;
    const auto first = std::find_if(comparison.candidates.begin(), comparison.candidates.end(), [&](const Candidate& c) {
      return model_of(c) == models[0] && others_of(c) == others_of(second) && c.problem.empty();
    });
    if (first == comparison.candidates.end()) continue;
    const Prediction &a = first->prediction, &b = second.prediction;
    if (a.samples.unit != b.samples.unit || a.samples.text != b.samples.text) return "";
    const auto number = static_cast<std::size_t>(&second - comparison.candidates.data());
    table.add({candidate_label(comparison, number),
               change(static_cast<double>(a.work.parameters), static_cast<double>(b.work.parameters)),
               change(a.flop_per_sample().base(), b.flop_per_sample().base()),
               change(a.step_time.value.base(), b.step_time.value.base()), change(a.throughput.value, b.throughput.value),
               change(peak(a), peak(b))});
  }
  return table.empty() ? "" : fmt::format("\nDifference of {} from {}\n", models[1], models[0]) + table.text();
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

/// What was compared, and nothing about batches that were not.
std::string knee_text(const Comparison& comparison) {
  const auto knee = batch_knee(comparison);
  if (!knee) return "";
  const std::string slope =
      fmt::format("Each sample takes {}; the largest here that fits is {}.", format(knee->memory_per_sample), knee->largest);
  if (knee->batch == knee->largest)
    return "\n" +
           paragraph(fmt::format("Knee: none; batch {} has the most throughput, and no larger one that fits was compared. {}",
                                 knee->batch, slope));
  return "\n" +
         paragraph(fmt::format("Knee: batch {} reaches {} of the most throughput of these, which batch {} has: none of the "
                               "larger ones compared gains more than {}. {}",
                               knee->batch, percent_text(knee->share), knee->best, percent_text(1.0 / knee->share - 1.0), slope));
}

/// What a star means.
std::string front_text(const Comparison& comparison) {
  if (payments_of(comparison).front() == PaidBy::nothing)
    return "\n* nothing here for the same work is better in time and memory together; no price is\n  known.\n";
  return "\n* nothing in this table for the same work is better in time, cost and memory\n  together.\n";
}

/// What one way to pay adds to a row of the CSV.
void add_payment(const Candidate& c, PaidBy by, std::vector<std::string>& row) {
  const auto& payment = payment_of(c.prediction, by);
  const auto& ratio = by == PaidBy::purchase ? c.bought_ratio : c.rented_ratio;
  row.push_back(payment ? fmt::format("{}", payment->amount.base()) : "");
  row.push_back(ratio ? fmt::format("{}", *ratio) : "");
  row.push_back(payment ? fmt::format("{}", Usd(1.0) / sample_cost(c.prediction, *payment)) : "");
  row.push_back(payment ? payment->basis.date : "");
}

}  // namespace

std::string compare_table(const Comparison& comparison, const std::optional<CostTerms>& terms) {
  std::string text = candidate_legend(comparison) + settings_text(comparison) + speed_table(comparison) + bases_text(comparison) +
                     limit_table(comparison) + sizes_table(comparison) + difference_table(comparison) +
                     (terms ? ownership_report(comparison, *terms) : "") + price_report(comparison, terms) +
                     knee_text(comparison);
  const auto& all = comparison.candidates;
  const auto alike = std::count_if(all.begin(), all.end(), [](const Candidate& c) { return c.problem.empty() && !c.apart; });
  if (alike > 0)
    text +=
        "\n" +
        wrapped(fmt::format("? {} candidate(s) cannot be told apart from the base: the range of the speed-up holds 1.", alike),
                kWidth, 2) +
        "\n";
  const auto predicted = std::count_if(all.begin(), all.end(), [](const Candidate& c) { return c.problem.empty(); });
  if (predicted > 1 && !terms) text += front_text(comparison);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].problem.empty())
      text += wrapped(fmt::format("{}: {}", candidate_label(comparison, i), all[i].problem), kWidth, 2) + "\n";
  }
  return text;
}

// Long because every column has a line, and every field.
std::string compare_csv(const Comparison& comparison, const std::optional<CostTerms>& terms) {
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
                             "price_date",
                             "purchase_usd",
                             "purchase_ratio",
                             "purchase_samples_per_usd",
                             "purchase_date",
                             "rent_usd_per_hour",
                             "rent_ratio",
                             "rent_samples_per_usd",
                             "rent_date",
                             "fp32_useful",
                             "tensor_core_useful",
                             "parameters",
                             "flop_per_sample",
                             "cpu_busy"})
    header.emplace_back(column);
  const std::vector<Offer> offers = terms ? rank_offers(comparison, *terms) : std::vector<Offer>{};
  if (terms)
    for (std::string& column : ownership_columns()) header.push_back(std::move(column));
  header.emplace_back("problem");
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
                                                         std::string(name(p.limit.resource)),
                                                         exact_base(p.cost.hour),
                                                         exact(samples_per_usd(p)),
                                                         exact_base(p.cost.sample_energy),
                                                         i == c.base ? "true" : "false",
                                                         exact(p.memory.capacity.base()),
                                                         exact(p.limit.share),
                                                         p.cost.price.basis,
                                                         p.cost.price.source,
                                                         p.cost.price.date})
        row.push_back(std::move(field));
      for (const PaidBy by : {PaidBy::purchase, PaidBy::rent}) add_payment(c, by, row);
      for (const double share : {p.utilization.fp32_useful, p.utilization.tensor_core_useful}) row.push_back(exact(share));
      row.push_back(std::to_string(p.work.parameters));
      row.push_back(exact(p.flop_per_sample().base()));
      row.push_back(exact(p.utilization.cpu));
      if (terms)
        for (std::string& field : ownership_fields(offers, i)) row.push_back(std::move(field));
    }
    row.resize(header.size());
    if (!c.problem.empty()) row.back() = c.problem;
    all += csv_line(row);
  }
  return all;
}

}  // namespace tbdsim
