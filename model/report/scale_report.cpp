#include "model/report/scale_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "model/report/csv.hpp"
#include "model/report/text_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

using Json = nlohmann::ordered_json;

struct NamedStage {
  const char* name;
  Seconds Stages::*time;
};
constexpr std::array kStages{NamedStage{"forward", &Stages::forward},
                             NamedStage{"backward", &Stages::backward},
                             NamedStage{"weight_update", &Stages::weight_update},
                             NamedStage{"metric", &Stages::metric},
                             NamedStage{"exchange_total", &Stages::exchange_total},
                             NamedStage{"exchange_exposed", &Stages::exchange_exposed},
                             NamedStage{"input_exposed", &Stages::input_exposed},
                             NamedStage{"host_exposed", &Stages::host_exposed},
                             NamedStage{"bubble", &Stages::bubble}};

std::string range_text(const Ranged<Seconds>& r) { return fmt::format("{} - {}", format(r.low), format(r.high)); }

std::string exact(double value) { return fmt::format("{}", value); }

std::string data_set(const ScaleStudy& study) {
  switch (study.scaling) {
    case Scaling::strong:
      return fmt::format("{} samples an epoch, the same batch on every GPU", study.samples);
    case Scaling::fixed_global_batch:
      return fmt::format("{} samples an epoch, {} a step on all GPUs together", study.samples, study.one.global_batch);
    case Scaling::weak:
      return fmt::format("{} samples an epoch for each GPU, the same batch on every GPU", study.samples);
  }
  return {};
}

/// Why several GPUs may be more than as many times as fast: each has less to do than one alone.
std::string above_linear(const ScaleStudy& study) {
  const bool any = std::any_of(study.rows.begin(), study.rows.end(), [&](const ScaleRow& row) {
    return row.efficiency > 1.0 && row.stages.weight_update < study.one.stages.weight_update;
  });
  if (!any) return "";
  return paragraph(
      fmt::format("Above 100 %: one GPU spends {} of its step on updating all weights, which several divide, and "
                  "do while gradients are still computed",
                  format(study.one.stages.weight_update + study.one.stages.host_update)));
}

}  // namespace

std::string scale_table(const ScaleStudy& study) {
  const Prediction& p = study.one;
  std::string text =
      paragraph(fmt::format("{} ({} definition), batch {} on one GPU, {}, {}", p.model, p.variant, p.batch_per_gpu, p.precision,
                            p.optimizer)) +
      paragraph(fmt::format("{} of {}, {}, {} input, exchange {}", p.device, p.hardware_name, p.stack, p.input, p.exchange)) +
      paragraph(fmt::format("{}: {}", name(study.scaling), data_set(study))) + '\n';
  TextTable times({{"GPUs", Align::right},
                   {"nodes", Align::right},
                   {"batch", Align::right},
                   {"step", Align::right},
                   {"80 % range", Align::right},
                   {"epoch", Align::right},
                   {"80 % range", Align::right}});
  TextTable gains({{"GPUs", Align::right},
                   {"nodes", Align::right},
                   {"speed-up", Align::right},
                   {"80 % range", Align::right},
                   {"efficiency", Align::right}});
  const bool staged = p.exchange == "pipeline";
  std::vector<TextTable::Column> kinds{{"GPUs", Align::right}};
  for (const char* kind : {"nodes", "compute", "exchange", "input", "host"}) kinds.push_back({kind, Align::right});
  if (staged) kinds.push_back({"bubble", Align::right});
  kinds.push_back({"limit"});
  TextTable shares(kinds);
  const bool asked = std::any_of(study.rows.begin(), study.rows.end(), [](const ScaleRow& row) { return row.gpus == 1; });
  if (!asked)
    times.add({"1", "1", std::to_string(p.batch_per_gpu), format(p.step_time.value), range_text(p.step_time),
               format(study.one_epoch.value), range_text(study.one_epoch)});
  for (const ScaleRow& row : study.rows) {
    const Stages& s = row.stages;
    const auto share = [&](Seconds time) { return percent_text(time / row.step_time.value); };
    times.add({std::to_string(row.gpus), std::to_string(row.nodes), std::to_string(row.batch_per_gpu),
               format(row.step_time.value), range_text(row.step_time), format(row.epoch_time.value), range_text(row.epoch_time)});
    if (row.gpus > 1)
      gains.add({std::to_string(row.gpus), std::to_string(row.nodes), fmt::format("{:.2f}", row.speedup.value),
                 fmt::format("{:.2f} - {:.2f}", row.speedup.low, row.speedup.high), percent_text(row.efficiency)});
    std::vector<std::string> spent{std::to_string(row.gpus), std::to_string(row.nodes)};
    for (const Seconds time :
         {s.forward + s.backward + s.weight_update + s.metric, s.exchange_exposed, s.input_exposed, s.host_exposed})
      spent.push_back(share(time));
    if (staged) spent.push_back(share(s.bubble));
    spent.push_back(row.limit.resource);
    shares.add(std::move(spent));
  }
  const std::string over_one =
      gains.empty() ? "" : "\nEpochs against one GPU; the ranges leave out what both sizes get wrong alike\n" + gains.text();
  return text + times.text() + over_one + "\nWhat a step is: computing, and waiting for exchange, input and host\n" +
         shares.text() + above_linear(study) + "\nEpochs include the start-up of the run.\n";
}

std::string scale_csv(const ScaleStudy& study) {
  std::vector<std::string> header{"gpus",         "nodes",           "batch_per_gpu",
                                  "step_time_s",  "step_time_low_s", "step_time_high_s",
                                  "epoch_time_s", "speedup",         "efficiency"};
  for (const NamedStage& stage : kStages) header.push_back(fmt::format("{}_s", stage.name));
  for (const char* last : {"limit", "epoch_time_low_s", "epoch_time_high_s", "speedup_low", "speedup_high"})
    header.emplace_back(last);
  std::string text = csv_line(header);
  for (const ScaleRow& row : study.rows) {
    std::vector<std::string> fields{std::to_string(row.gpus), std::to_string(row.nodes), std::to_string(row.batch_per_gpu)};
    for (const double value : {row.step_time.value.base(), row.step_time.low.base(), row.step_time.high.base(),
                               row.epoch_time.value.base(), row.speedup.value, row.efficiency})
      fields.push_back(exact(value));
    for (const NamedStage& stage : kStages) fields.push_back(exact((row.stages.*stage.time).base()));
    fields.push_back(row.limit.resource);
    for (const double value : {row.epoch_time.low.base(), row.epoch_time.high.base(), row.speedup.low, row.speedup.high})
      fields.push_back(exact(value));
    text += csv_line(fields);
  }
  return text;
}

std::string scale_json(const ScaleStudy& study) {
  const Prediction& p = study.one;
  Json json{{"schema", "tbdsim.scale/1"},
            {"tool", {{"name", "tbdsim"}, {"version", TBDSIM_VERSION}}},
            {"config",
             {{"hw", p.hardware_name},
              {"model", p.model},
              {"stack", p.stack},
              {"precision", p.precision},
              {"exchange", p.exchange},
              {"optimizer", p.optimizer},
              {"input", p.input}}},
            {"samples", study.samples},
            {"scaling", name(study.scaling)},
            {"rows", Json::array()}};
  for (const ScaleRow& row : study.rows) {
    Json stages = Json::object();
    for (const NamedStage& stage : kStages) stages[stage.name] = (row.stages.*stage.time).base();
    json["rows"].push_back(
        {{"gpus", row.gpus},
         {"nodes", row.nodes},
         {"batch_per_gpu", row.batch_per_gpu},
         {"step_time_s",
          {{"value", row.step_time.value.base()}, {"low", row.step_time.low.base()}, {"high", row.step_time.high.base()}}},
         {"epoch_time_s", row.epoch_time.value.base()},
         {"epoch_time_range_s", {{"low", row.epoch_time.low.base()}, {"high", row.epoch_time.high.base()}}},
         {"speedup", row.speedup.value},
         {"speedup_range", {{"low", row.speedup.low}, {"high", row.speedup.high}}},
         {"efficiency", row.efficiency},
         {"stages_s", stages},
         {"limit", {{"resource", row.limit.resource}, {"share", row.limit.share}}}});
  }
  constexpr int kIndent = 2;
  // Names may come from a user's file; bytes that are no UTF-8 must not end the program.
  return json.dump(kIndent, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace tbdsim
