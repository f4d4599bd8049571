#include "model/report/sweep_report.hpp"

#include <fmt/format.h>

#include <vector>

#include "model/report/csv.hpp"
#include "model/report/json.hpp"
#include "model/study/sweep_front.hpp"
#include "model/support/version.hpp"

namespace tbdsim {
namespace {

std::string number(double value) { return fmt::format("{}", value); }
template <class Q>
std::string or_empty(const std::optional<Q>& value) {
  return value ? number(value->base()) : "";
}

std::string csv_row(const SweepRow& row, std::optional<Seconds> epoch) {
  std::vector<std::string> fields;
  for (auto& [option, value] : config_pairs(row.config)) fields.push_back(value);
  const bool known = row.problem.empty();
  const auto figure = [&](double value) { return known ? number(value) : std::string(); };
  for (std::string& field : std::vector<std::string>{
           figure(row.step_time.base()), figure(row.step_time_low.base()), figure(row.step_time_high.base()),
           figure(row.throughput), row.limit, figure(row.limit_share), known ? (row.fits ? "true" : "false") : "",
           figure(row.peak.base()), or_empty(row.hour_cost), or_empty(row.million_samples_cost), or_empty(row.sample_energy),
           row.problem, std::string(name(row.paid_by)), figure(row.cpu_busy)})
    fields.push_back(std::move(field));
  if (epoch) fields.insert(fields.end(), {figure(epoch->base()), figure(row.start_up.base())});
  return csv_line(fields);
}

std::string csv_header(const std::string& config, bool epochs) {
  std::vector<std::string> fields;
  for (auto& [option, value] : config_pairs(config)) fields.push_back(option);
  for (const char* name :
       {"step_time_s", "step_time_low_s", "step_time_high_s", "throughput_samples_per_s", "limit", "limit_share", "fits",
        "peak_memory_bytes", "usd_per_hour", "usd_per_million_samples", "joule_per_sample", "problem", "paid_by", "cpu_busy"})
    fields.emplace_back(name);
  if (epochs) fields.insert(fields.end(), {"epoch_time_s", "start_up_s"});
  return csv_line(fields);
}

}  // namespace

Result<std::string> sweep_export(const SweepStore& store, SweepForm form, bool front_only,
                                 std::optional<std::int64_t> epoch_samples) {
  const auto front = front_only ? sweep_front(store) : Result<std::vector<bool>>();
  if (!front) return tl::make_unexpected(front.error());
  std::string text;
  std::size_t number = 0;
  const auto read = store.each([&](const SweepRow& row) {
    if (front_only && !(*front)[number++]) return;
    std::optional<Seconds> epoch;
    if (epoch_samples) epoch = row.problem.empty() ? epoch_time(row, *epoch_samples) : Seconds(0.0);
    switch (form) {
      case SweepForm::csv:
        text += (text.empty() ? csv_header(row.config, epoch.has_value()) : "") + csv_row(row, epoch);
        break;
      case SweepForm::json:
        text += (text.empty() ? "" : ",\n") + sweep_row_json(row, config_pairs(row.config), epoch);
        break;
      case SweepForm::lines:
        text += sweep_row_json(row, config_pairs(row.config), epoch) + '\n';
    }
  });
  if (!read) return tl::make_unexpected(read.error());
  if (form != SweepForm::json) return text;
  return fmt::format(
      "{{\"schema\": \"tbdsim.sweep/1\", \"tool\": {{\"name\": \"tbdsim\", \"version\": \"{}\"}}, \"rows\": [\n{}\n]}}\n",
      version(), text);
}

}  // namespace tbdsim
