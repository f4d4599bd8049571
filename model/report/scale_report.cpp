// Long because a study is told as six tables, as CSV and as JSON.
#include "model/report/scale_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/report/csv.hpp"
#include "model/report/json_parts.hpp"
#include "model/report/predict_table.hpp"
#include "model/report/text_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

using Json = nlohmann::ordered_json;

struct NamedPhase {
  const char* name;
  Seconds PhaseTimes::*time;
};
constexpr std::array kPhases{NamedPhase{"forward", &PhaseTimes::forward},
                             NamedPhase{"backward", &PhaseTimes::backward},
                             NamedPhase{"weight_update", &PhaseTimes::weight_update},
                             NamedPhase{"metric", &PhaseTimes::metric},
                             NamedPhase{"exchange_total", &PhaseTimes::exchange_total},
                             NamedPhase{"exchange_exposed", &PhaseTimes::exchange_exposed},
                             NamedPhase{"input_exposed", &PhaseTimes::input_exposed},
                             NamedPhase{"host_exposed", &PhaseTimes::host_exposed},
                             NamedPhase{"bubble", &PhaseTimes::bubble},
                             NamedPhase{"weight_update_total", &PhaseTimes::weight_update_total}};

struct NamedSpeedup {
  const char* name;
  std::optional<double> PhaseSpeedups::*value;
};
constexpr std::array kSpeedups{NamedSpeedup{"forward", &PhaseSpeedups::forward},
                               NamedSpeedup{"backward", &PhaseSpeedups::backward},
                               NamedSpeedup{"weight_update", &PhaseSpeedups::weight_update},
                               NamedSpeedup{"metric", &PhaseSpeedups::metric},
                               NamedSpeedup{"exchange", &PhaseSpeedups::exchange},
                               NamedSpeedup{"input", &PhaseSpeedups::input},
                               NamedSpeedup{"host", &PhaseSpeedups::host}};

std::string range_text(const Ranged<Seconds>& r) { return fmt::format("{} - {}", format(r.low), format(r.high)); }

double whole(Bytes bytes) { return std::round(bytes.base()); }

std::string exact(double value) { return fmt::format("{}", value); }
std::string exact(const std::optional<double>& value) { return value ? exact(*value) : std::string(); }

bool divided(const ScaleStudy& study) { return study.one.division.layout.divides_network(); }

/// What everything is held against.
std::string against(const ScaleTable& table) {
  const ScaleStudy& study = table.studies.front();
  return divided(study) ? fmt::format("{} GPUs", study.one.job.gpus) : "one GPU";
}

std::string data_set(const ScaleStudy& study, bool several_batches) {
  switch (study.scaling) {
    case Scaling::strong:
      if (divided(study)) return fmt::format("{} samples an epoch; copies are added", study.samples);
      return fmt::format("{} samples an epoch, the same batch on every GPU", study.samples);
    case Scaling::fixed_global_batch:
      return several_batches
                 ? fmt::format("{} samples an epoch, one batch divided over all GPUs", study.samples)
                 : fmt::format("{} samples an epoch, {} a step on all GPUs together", study.samples, study.one.job.global_batch);
    case Scaling::weak:
      if (divided(study))
        return fmt::format("{} samples an epoch for every {} GPUs, the same micro-batches on every copy", study.samples,
                           study.one.job.gpus);
      return fmt::format("{} samples an epoch for each GPU, the same batch on every GPU", study.samples);
  }
  return {};
}

Layout one_copy(Layout layout) {
  layout.data = 1;
  return layout;
}

/// Why several GPUs may be more than as many times as fast: each has less to do than one alone.
std::string above_linear(const ScaleStudy& study) {
  const bool any = std::any_of(study.rows.begin(), study.rows.end(), [&](const ScaleRow& row) {
    return row.efficiency > 1.0 &&
           (row.phases.weight_update < study.one.phases.weight_update || row.phases.offload < study.one.phases.offload);
  });
  if (!any) return "";
  if (study.one.phases.offload > study.one.phases.weight_update)
    return paragraph(
        fmt::format("Above 100 %: the least number of GPUs waits {} for copies to and from the host and its update, which more "
                    "GPUs divide",
                    format(study.one.phases.offload)));
  const std::string update = format(study.one.phases.weight_update + study.one.phases.host_update);
  return paragraph(fmt::format(
      "Above 100 %: {} of its step on updating all weights, which several divide, and do while gradients are still "
      "computed",
      divided(study) ? fmt::format("the least number of GPUs spends {}", update) : fmt::format("one GPU spends {}", update)));
}

std::string heading(const ScaleTable& table) {
  const ScaleStudy& study = table.studies.front();
  const Prediction& p = study.one;
  const std::string batch = table.several_batches ? ""
                            : divided(study)
                                ? fmt::format("{} micro-batch{} of {} on a copy of the network, ", p.division.micro_batches,
                                              p.division.micro_batches == 1 ? "" : "es", p.job.batch_per_gpu)
                                : fmt::format("batch {} on one GPU, ", p.job.batch_per_gpu);
  const std::string what = table.several_models ? "" : fmt::format("{} ({} definition), ", p.job.model, p.job.variant);
  const std::string exchange = table.several_exchanges ? "" : fmt::format(", exchange {}", name(p.job.exchange));
  return paragraph(fmt::format("{}{}{}, {}", what, batch, p.job.precision, p.job.optimizer)) +
         paragraph(
             fmt::format("{} of {}, {}, {} input{}", p.job.device, p.job.hardware, p.job.stack, p.samples.input, exchange)) +
         paragraph(fmt::format("{}: {}", name(study.scaling), data_set(study, table.several_batches))) +
         (divided(study) ? paragraph("copies of " + to_text(one_copy(p.division.layout))) : "") + '\n';
}

/// One of the tables over all studies and sizes: the columns that say which one stand first.
class SizeTable {
 public:
  SizeTable(const ScaleTable& all, const std::vector<TextTable::Column>& columns) : all_(all), table_(with_names(all, columns)) {}

  void add(const ScaleStudy& study, int gpus, int nodes, std::vector<std::string> cells) {
    std::vector<std::string> row;
    if (all_.several_models) row.push_back(study.one.job.model);
    if (all_.several_batches) row.push_back(std::to_string(study.one.job.batch_per_gpu));
    if (all_.several_exchanges) row.emplace_back(name(study.one.job.exchange));
    row.push_back(std::to_string(gpus));
    if (several_nodes(all_)) row.push_back(std::to_string(nodes));
    row.insert(row.end(), cells.begin(), cells.end());
    table_.add(std::move(row));
  }
  [[nodiscard]] bool empty() const { return table_.empty(); }
  [[nodiscard]] std::string text() const { return table_.text(); }

 private:
  const ScaleTable& all_;
  TextTable table_;

  static bool several_nodes(const ScaleTable& all) {
    return std::any_of(all.studies.begin(), all.studies.end(), [](const ScaleStudy& s) {
      return std::any_of(s.rows.begin(), s.rows.end(), [](const ScaleRow& row) { return row.nodes > 1; });
    });
  }
  static std::vector<TextTable::Column> with_names(const ScaleTable& all, const std::vector<TextTable::Column>& columns) {
    std::vector<TextTable::Column> names;
    if (all.several_models) names.push_back({"network"});
    if (all.several_batches) names.push_back({"batch", Align::right});
    if (all.several_exchanges) names.push_back({"exchange"});
    names.push_back({"GPUs", Align::right});
    if (several_nodes(all)) names.push_back({"nodes", Align::right});
    names.insert(names.end(), columns.begin(), columns.end());
    return names;
  }
};

std::vector<TextTable::Column> right(std::initializer_list<const char*> titles) {
  std::vector<TextTable::Column> columns;
  for (const char* title : titles) columns.push_back({title, Align::right});
  return columns;
}

template <class Visit>
void each_size(const ScaleTable& table, const Visit& visit) {
  for (const ScaleStudy& study : table.studies)
    for (const ScaleRow& row : study.rows) visit(study, row);
}

/// Of a divided network the micro-batches of a copy.
std::string batch_text(const ScaleStudy& study, int batch, int micro_batches) {
  return divided(study) ? fmt::format("{} x {}", micro_batches, batch) : std::to_string(batch);
}

std::string epochs_text(const ScaleTable& table) {
  const bool several = table.several_models || table.several_batches || table.several_exchanges;
  auto columns = right(several ? std::initializer_list<const char*>{"per GPU", "step", "epoch", "80 % range"}
                               : std::initializer_list<const char*>{"batch", "step", "80 % range", "epoch", "80 % range"});
  if (table.several_exchanges) columns.push_back({"overhead", Align::right});
  SizeTable times(table, columns);
  const auto add = [&](const ScaleStudy& study, int gpus, int nodes, const std::string& batch, const Ranged<Seconds>& step,
                       const Ranged<Seconds>& epoch, std::optional<double> overhead) {
    std::vector<std::string> cells{batch, format(step.value)};
    if (!several) cells.push_back(range_text(step));
    cells.insert(cells.end(), {format(epoch.value), range_text(epoch)});
    if (table.several_exchanges) cells.push_back(overhead ? signed_percent_text(*overhead) : "");
    times.add(study, gpus, nodes, std::move(cells));
  };
  for (const ScaleStudy& study : table.studies) {
    const Prediction& one = study.one;
    const bool asked =
        std::any_of(study.rows.begin(), study.rows.end(), [&](const ScaleRow& row) { return row.gpus == one.job.gpus; });
    if (!asked)
      add(study, one.job.gpus, one.job.nodes, batch_text(study, one.job.batch_per_gpu, one.division.micro_batches), one.step_time,
          study.one_epoch, std::nullopt);
    for (const ScaleRow& row : study.rows)
      add(study, row.gpus, row.nodes, batch_text(study, row.batch_per_gpu, row.micro_batches), row.step_time, row.epoch_time,
          row.overhead);
  }
  return times.text() + (table.several_exchanges ? "overhead: of the epoch, against the first exchange\n" : "");
}

std::string gains_text(const ScaleTable& table) {
  SizeTable gains(table, right({"speed-up", "80 % range", "efficiency", "weak saves"}));
  each_size(table, [&](const ScaleStudy& study, const ScaleRow& row) {
    if (row.gpus == study.one.job.gpus) return;
    gains.add(study, row.gpus, row.nodes,
              {fmt::format("{:.2f}", row.speedup.value), fmt::format("{:.2f} - {:.2f}", row.speedup.low, row.speedup.high),
               percent_text(row.efficiency), percent_text(row.weak_saving)});
  });
  if (gains.empty()) return "";
  return fmt::format("\nEpochs against {}; the ranges leave out what both sizes get wrong alike\n", against(table)) +
         gains.text() +
         paragraph(divided(table.studies.front())
                       ? "weak saves: of the time of N epochs, what one epoch over N times as many samples saves; N: copies"
                       : "weak saves: of the time of N epochs, what one epoch over N times as many samples saves; N: GPUs");
}

/// Waits that few jobs have, by the heads of their columns: those of some row.
std::vector<std::pair<const char*, Seconds PhaseTimes::*>> further_waits(const ScaleTable& table) {
  std::vector<std::pair<const char*, Seconds PhaseTimes::*>> found;
  for (const auto& wait : {std::pair{"bubble", &PhaseTimes::bubble}, {"offload", &PhaseTimes::offload}}) {
    bool some = false;
    each_size(table, [&](const ScaleStudy&, const ScaleRow& row) { some = some || row.phases.*wait.second > Seconds(0.0); });
    if (some) found.emplace_back(wait);
  }
  return found;
}

std::string shares_text(const ScaleTable& table) {
  const auto further = further_waits(table);
  std::vector<TextTable::Column> kinds = right({"compute", "exchange", "input", "host"});
  for (const auto& wait : further) kinds.push_back({wait.first, Align::right});
  kinds.push_back({"limit"});
  SizeTable shares(table, kinds);
  each_size(table, [&](const ScaleStudy& study, const ScaleRow& row) {
    const PhaseTimes& s = row.phases;
    std::vector<std::string> spent;
    for (const Seconds time :
         {s.forward + s.backward + s.weight_update + s.metric, s.exchange_exposed, s.input_exposed, s.host_exposed})
      spent.push_back(percent_text(time / row.step_time.value));
    for (const auto& wait : further) spent.push_back(percent_text(s.*wait.second / row.step_time.value));
    spent.emplace_back(name(row.limit.resource));
    shares.add(study, row.gpus, row.nodes, std::move(spent));
  });
  return "\nWhat a step is: computing, and waiting for exchange, input and host\n" + shares.text();
}

std::string phases_text(const ScaleTable& table) {
  bool beside = false;
  each_size(table, [&](const ScaleStudy&, const ScaleRow& row) { beside = beside || update_beside_exchange(row.phases); });
  std::vector<std::pair<const char*, Seconds PhaseTimes::*>> columns{
      {"FP", &PhaseTimes::forward}, {"BP", &PhaseTimes::backward}, {"WU", &PhaseTimes::weight_update_total}};
  if (beside) columns.emplace_back("WU exposed", &PhaseTimes::weight_update);
  columns.insert(columns.end(), {{"metric", &PhaseTimes::metric},
                                 {"exchange", &PhaseTimes::exchange_total},
                                 {"exposed", &PhaseTimes::exchange_exposed},
                                 {"input", &PhaseTimes::input_exposed},
                                 {"host", &PhaseTimes::host_exposed}});
  for (const auto& wait : further_waits(table)) columns.push_back(wait);
  std::vector<TextTable::Column> headings = right({"batches"});
  for (const auto& [heading, time] : columns) headings.push_back({heading, Align::right});
  SizeTable seconds(table, headings);
  each_size(table, [&](const ScaleStudy& study, const ScaleRow& row) {
    std::vector<std::string> cells{std::to_string(row.batches)};
    for (const auto& [heading, time] : columns) cells.push_back(number_text((row.epoch_phases.*time).base()));
    seconds.add(study, row.gpus, row.nodes, std::move(cells));
  });
  return "\nSeconds of an epoch, by stage\n" + seconds.text() +
         paragraph(
             "FP, BP, WU: kernels of forward, backward and weight update; exchange: copies and collectives, of which "
             "the exposed part holds up kernels; input, host: waiting for them") +
         (beside
              ? paragraph("WU: a store updates arrays where it sums them, beside the exchange; only WU exposed delays the step")
              : "");
}

std::string phase_speedups_text(const ScaleTable& table) {
  SizeTable speedups(table, right({"FP", "BP", "WU", "metric", "exposed", "input", "host"}));
  each_size(table, [&](const ScaleStudy& study, const ScaleRow& row) {
    if (row.gpus == study.one.job.gpus) return;
    std::vector<std::string> cells;
    for (const NamedSpeedup& phase : kSpeedups) {
      const auto& value = row.phase_speedups.*phase.value;
      cells.push_back(value ? fmt::format("{:.2f}", *value) : "-");
    }
    speedups.add(study, row.gpus, row.nodes, std::move(cells));
  });
  return speedups.empty() ? ""
                          : fmt::format("\nSpeed-up of each stage of an epoch against {}\n", against(table)) + speedups.text() +
                                paragraph("below 1: it takes longer than there; -: there is nothing of it in one of both");
}

std::string memory_text(const ScaleTable& table) {
  SizeTable memory(table, right({"GPU 0", "least", "GPU 0 more", "gradients a step", "an epoch"}));
  each_size(table, [&](const ScaleStudy& study, const ScaleRow& row) {
    memory.add(study, row.gpus, row.nodes,
               {format(row.first_gpu_peak), format(row.least_peak), format(row.first_gpu_peak - row.least_peak),
                format(row.gradients), format(row.epoch_gradients)});
  });
  return "\nMemory of GPU 0 and of the GPU that holds least; gradients that each GPU sends\n" + memory.text();
}

std::string sizes_text(const ScaleTable& table) {
  if (!table.several_models) return "";
  TextTable networks({{"network"}, {"parameters", Align::right}, {"FLOP a sample", Align::right}});
  const Prediction* last = nullptr;
  for (const ScaleStudy& study : table.studies) {
    if (last == nullptr || last->job.model != study.one.job.model)
      networks.add({study.one.job.model, std::to_string(study.one.work.parameters), format(study.one.flop_per_sample())});
    last = &study.one;
  }
  return "\n" + networks.text();
}

}  // namespace

std::string scale_text(const ScaleTable& table) {
  std::string text = heading(table) + epochs_text(table) + gains_text(table) + shares_text(table);
  if (table.studies.size() == 1) text += above_linear(table.studies.front());
  text += phases_text(table) + phase_speedups_text(table) + memory_text(table) + sizes_text(table) +
          fmt::format("\nEpochs include the start-up of the run, {}.\n", format(table.studies.front().one.start_up));
  for (const ScaleTable::Problem& problem : table.problems)
    text += wrapped(fmt::format("{}: {}", problem.study, problem.message), kTextWidth, 2) + "\n";
  return text;
}

std::string scale_csv(const ScaleTable& table) {
  std::vector<std::string> header{"gpus",         "nodes",           "batch_per_gpu",
                                  "step_time_s",  "step_time_low_s", "step_time_high_s",
                                  "epoch_time_s", "speedup",         "efficiency"};
  for (const NamedPhase& phase : kPhases) header.push_back(fmt::format("{}_s", phase.name));
  for (const char* last : {"limit", "epoch_time_low_s", "epoch_time_high_s", "speedup_low", "speedup_high", "model", "exchange",
                           "parameters", "flop_per_sample", "batches_per_epoch"})
    header.emplace_back(last);
  for (const NamedPhase& phase : kPhases) header.push_back(fmt::format("epoch_{}_s", phase.name));
  for (const NamedSpeedup& phase : kSpeedups) header.push_back(fmt::format("{}_speedup", phase.name));
  for (const char* last :
       {"overhead", "strong_epoch_time_s", "weak_epoch_time_s", "weak_saving", "gpu0_peak_bytes", "least_peak_bytes",
        "gpu0_extra_bytes", "gradient_bytes_per_step", "gradient_bytes_per_epoch", "start_up_s"})
    header.emplace_back(last);
  std::string text = csv_line(header);
  each_size(table, [&](const ScaleStudy& study, const ScaleRow& row) {
    std::vector<std::string> fields{std::to_string(row.gpus), std::to_string(row.nodes), std::to_string(row.batch_per_gpu)};
    const auto add = [&](std::initializer_list<double> values) {
      for (const double value : values) fields.push_back(exact(value));
    };
    add({row.step_time.value.base(), row.step_time.low.base(), row.step_time.high.base(), row.epoch_time.value.base(),
         row.speedup.value, row.efficiency});
    for (const NamedPhase& phase : kPhases) fields.push_back(exact((row.phases.*phase.time).base()));
    fields.emplace_back(name(row.limit.resource));
    add({row.epoch_time.low.base(), row.epoch_time.high.base(), row.speedup.low, row.speedup.high});
    fields.insert(fields.end(),
                  {study.one.job.model, std::string(name(study.one.job.exchange)), std::to_string(study.one.work.parameters)});
    add({study.one.flop_per_sample().base()});
    fields.push_back(std::to_string(row.batches));
    for (const NamedPhase& phase : kPhases) fields.push_back(exact((row.epoch_phases.*phase.time).base()));
    for (const NamedSpeedup& phase : kSpeedups) fields.push_back(exact(row.phase_speedups.*phase.value));
    fields.push_back(exact(row.overhead));
    add({row.strong_epoch.base(), row.weak_epoch.base(), row.weak_saving, whole(row.first_gpu_peak), whole(row.least_peak),
         whole(row.first_gpu_peak - row.least_peak), whole(row.gradients), whole(row.epoch_gradients), row.start_up.base()});
    text += csv_line(fields);
  });
  return text;
}

namespace {

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json row_json(const ScaleStudy& study, const ScaleRow& row) {
  Json phases = Json::object(), epoch_phases = Json::object(), speedups = Json::object();
  for (const NamedPhase& phase : kPhases) {
    phases[phase.name] = (row.phases.*phase.time).base();
    epoch_phases[phase.name] = (row.epoch_phases.*phase.time).base();
  }
  for (const NamedSpeedup& phase : kSpeedups) speedups[phase.name] = or_null(row.phase_speedups.*phase.value);
  return {{"gpus", row.gpus},
          {"nodes", row.nodes},
          {"batch_per_gpu", row.batch_per_gpu},
          {"step_time_s",
           {{"value", row.step_time.value.base()}, {"low", row.step_time.low.base()}, {"high", row.step_time.high.base()}}},
          {"epoch_time_s", row.epoch_time.value.base()},
          {"start_up_s", row.start_up.base()},
          {"epoch_time_range_s", {{"low", row.epoch_time.low.base()}, {"high", row.epoch_time.high.base()}}},
          {"speedup", row.speedup.value},
          {"speedup_range", {{"low", row.speedup.low}, {"high", row.speedup.high}}},
          {"efficiency", row.efficiency},
          {"stages_s", phases},
          {"limit", {{"resource", name(row.limit.resource)}, {"share", row.limit.share}}},
          {"model", study.one.job.model},
          {"exchange", name(study.one.job.exchange)},
          {"batches_per_epoch", row.batches},
          {"epoch_stages_s", epoch_phases},
          {"stage_speedups", speedups},
          {"overhead", or_null(row.overhead)},
          {"strong_epoch_time_s", row.strong_epoch.base()},
          {"weak_epoch_time_s", row.weak_epoch.base()},
          {"weak_saving", row.weak_saving},
          {"gpu0_peak_bytes", whole(row.first_gpu_peak)},
          {"least_peak_bytes", whole(row.least_peak)},
          {"gpu0_extra_bytes", whole(row.first_gpu_peak - row.least_peak)},
          {"gradient_bytes_per_step", whole(row.gradients)},
          {"gradient_bytes_per_epoch", whole(row.epoch_gradients)},
          {"parameters", study.one.work.parameters},
          {"flop_per_sample", study.one.flop_per_sample().base()}};
}

/// What a size of a divided network has beside.
Json divided_row_json(const ScaleStudy& study, const ScaleRow& row) {
  Json json = row_json(study, row);
  if (divided(study)) json.update({{"copies", row.copies}, {"micro_batches", row.micro_batches}});
  return json;
}

/// A text that all studies share, or the list of those that vary, each once.
template <class TextOf>
Json shared(const ScaleTable& table, const TextOf& text_of) {
  Json all = Json::array();
  for (const ScaleStudy& study : table.studies) {
    const Json text = text_of(study.one);
    if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
  }
  return all.size() == 1 ? all.front() : all;
}

}  // namespace

std::string scale_json(const ScaleTable& table) {
  const ScaleStudy& first = table.studies.front();
  Json json{{"schema", "tbdsim.scale/1"},
            {"tool", json::tool()},
            {"config",
             {{"hw", first.one.job.hardware},
              {"model", shared(table, [](const Prediction& p) { return p.job.model; })},
              {"stack", first.one.job.stack},
              {"precision", first.one.job.precision},
              {"exchange", shared(table, [](const Prediction& p) { return name(p.job.exchange); })},
              {"optimizer", shared(table, [](const Prediction& p) { return p.job.optimizer; })},
              {"input", shared(table, [](const Prediction& p) { return p.samples.input; })}}},
            {"samples", first.samples},
            {"scaling", name(first.scaling)},
            {"rows", Json::array()}};
  each_size(table, [&](const ScaleStudy& study, const ScaleRow& row) { json["rows"].push_back(divided_row_json(study, row)); });
  if (divided(first)) {
    json["reference_gpus"] = first.one.job.gpus;
    json["config"]["layout"] = json::layout(first.one);
  }
  if (!table.problems.empty()) json["problems"] = Json::array();
  for (const ScaleTable::Problem& problem : table.problems)
    json["problems"].push_back({{"study", problem.study}, {"problem", problem.message}});
  constexpr int kIndent = 2;
  // Names may come from a user's file; bytes that are no UTF-8 must not end the program.
  return json.dump(kIndent, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace tbdsim
