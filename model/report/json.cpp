// Long because every key of every JSON document of a prediction stands here.
#include "model/report/json.hpp"

#include "model/plan/predict_command.hpp"
#include "model/prediction/host_work.hpp"
#include "model/prediction/kernel_summary.hpp"
#include "model/prediction/step_parts.hpp"
#include "model/report/json_parts.hpp"
#include "model/report/plan_report.hpp"
#include "model/study/batch_knee.hpp"
#include "model/study/compare_front.hpp"
#include "model/study/ownership.hpp"
#include "model/study/payment.hpp"

namespace tbdsim {
namespace json {
namespace {

Json input_file(const std::string& name, const FileDigest& file) {
  Json json{{"name", name}};
  json["file"] = or_null(file.path);
  json["sha256"] = or_null(file.sha256);
  return json;
}

}  // namespace

Json inputs(const Prediction& p) {
  Json hardware = input_file(p.job.hardware, p.files.hardware);
  hardware["device"] = p.job.device;
  Json workload = input_file(p.job.model, p.files.workload);
  workload["variant"] = p.job.variant;
  Json inputs{{"hardware", hardware}, {"workload", workload}, {"stack", input_file(p.job.stack, p.files.stack)}};
  if (!p.files.layout.path.empty()) inputs["layout"] = {{"file", p.files.layout.path}, {"sha256", p.files.layout.sha256}};
  return inputs;
}

Json config(const Prediction& p) {
  Json json{{"gpus", p.job.gpus},
            {"nodes", p.job.nodes},
            {"batch_per_gpu", p.job.batch_per_gpu},
            {"global_batch", p.job.global_batch},
            {"precision", p.job.precision},
            {"exchange", name(p.job.exchange)},
            {"optimizer", p.job.optimizer},
            {"input", p.samples.input}};
  json["sample"] = p.samples.text;
  json["products_in_fp32"] = p.job.products_in_fp32;
  json["network"] = or_null(p.job.network);
  if (!p.files.set.empty()) json["set"] = p.files.set;
  return json;
}

Json parts(const MemoryParts& p) {
  Json json = Json::object();
  for (std::size_t i = 0; i < kMemoryPartCount; ++i) json[std::string(name(static_cast<MemoryPart>(i)))] = whole(p.bytes[i]);
  return json;
}

Json memory(const MemoryVerdict& m) {
  Json gpus = Json::array();
  for (const GpuMemory& g : m.gpus) {
    gpus.push_back({{"gpu", g.gpu},
                    {"fits", g.peak <= m.capacity},
                    {"excess_bytes", whole(std::max(g.peak - m.capacity, Bytes(0.0)))},
                    {"probability_of_fitting", g.probability},
                    {"pre_training_bytes", whole(g.pre_training)},
                    {"pre_training_low_bytes", whole(g.pre_training_low)},
                    {"pre_training_high_bytes", whole(g.pre_training_high)},
                    {"allocated_bytes", whole(g.allocated)},
                    {"reserved_bytes", whole(g.reserved)},
                    {"peak_bytes", whole(g.peak)},
                    {"low_bytes", whole(g.low)},
                    {"high_bytes", whole(g.high)},
                    {"parts_bytes", parts(g.parts)}});
    if (g.stored.total() > Bytes(0.0))
      gpus.back()["store_bytes"] = {{"merged_gradients", whole(g.stored.merged)},
                                    {"weights", whole(g.stored.weights)},
                                    {"received_gradients", whole(g.stored.received)}};
    if (g.stage) gpus.back()["stage"] = *g.stage;
  }
  Json all = {{"capacity_bytes", whole(m.capacity)}, {"fits", m.fits}, {"gpus", gpus}};
  if (m.host)
    all["host"] = {{"needed_bytes", whole(m.host->needed)},
                   {"per_gpu_bytes", whole(m.host->rank)},
                   {"capacity_bytes", m.host->capacity ? Json(whole(*m.host->capacity)) : Json(nullptr)},
                   {"fits", m.host->fits}};
  return all;
}

Json limit(const Limit& l) { return {{"resource", name(l.resource)}, {"share", l.share}, {"text", l.text}}; }

Json layout(const Prediction& p) {
  const Layout& l = p.division.layout;
  Json json{{"tensor", l.tensor},
            {"sequence", l.sequence},
            {"context", l.context},
            {"expert", l.expert},
            {"expert_tensor", l.expert_tensor},
            {"pipeline", l.pipeline},
            {"virtual_stages", l.virtual_stages},
            {"data", l.data},
            {"zero", p.division.zero},
            {"schedule", or_null(p.division.schedule)},
            {"micro_batch", p.job.batch_per_gpu},
            {"micro_batches", p.division.micro_batches},
            {"recompute", p.division.recompute}};
  if (!l.stage_layers.empty()) json["stage_layers"] = l.stage_layers;
  if (p.division.offload_states > 0.0) json["offload_share"] = p.division.offload_states;
  if (p.division.offload_layers > 0) json["offload_layers"] = p.division.offload_layers;
  return json;
}

namespace {

Json tiers(const AxisTraffic& traffic) {
  Json list = Json::array();
  for (const TierTraffic& t : traffic.tiers)
    list.push_back({{"tier", t.tier}, {"bytes", t.bytes.base()}, {"capacity_bytes_per_s", t.capacity.base()}});
  return list;
}

}  // namespace

Json communication(const Prediction& p) {
  Json rows = Json::array();
  for (const AxisTraffic& t : p.division.communication)
    rows.push_back({{"axis", name(t.axis)},
                    {"kind", t.kind},
                    {"ranks", t.ranks},
                    {"bytes", t.bytes.base()},
                    {"time_s", t.time.base()},
                    {"exposed_s", t.exposed.base()},
                    {"link", t.leaves_node ? "network" : "intra_node"},
                    {"tiers", tiers(t)}});
  // Ranks wait for the slowest one within their calls, whatever the axis; with it the column adds up to the exposed exchange.
  if (const Seconds wait = p.division.wait; wait > Seconds(0.0))
    rows.push_back({{"axis", "wait"},
                    {"kind", "slowest GPU"},
                    {"ranks", p.job.gpus},
                    {"bytes", 0.0},
                    {"time_s", wait.base()},
                    {"exposed_s", wait.base()},
                    {"link", nullptr},
                    {"tiers", Json::array()}});
  return rows;
}

}  // namespace json

namespace {

using namespace json;

Json phases(const PhaseTimes& s) {
  Json all = {{"forward", s.forward.base()},
              {"backward", s.backward.base()},
              {"weight_update", s.weight_update.base()},
              {"metric", s.metric.base()},
              {"exchange_total", s.exchange_total.base()},
              {"exchange_exposed", s.exchange_exposed.base()},
              {"input_exposed", s.input_exposed.base()},
              {"host_exposed", s.host_exposed.base()},
              {"bubble", s.bubble.base()},
              {"weight_update_total", s.weight_update_total.base()}};
  if (s.offload > Seconds(0.0)) all["offload"] = s.offload.base();
  return all;
}

Json input_verdict(const Prediction& p) {
  if (!p.input_verdict) return nullptr;
  const InputVerdict& v = *p.input_verdict;
  const double samples = p.job.global_batch;
  const auto rate = [&](Seconds time) { return time > Seconds(0.0) ? Json(samples / time.base()) : Json(nullptr); };
  return {{"name", p.samples.input},
          {"storage", or_null(v.storage)},
          {"workers", v.workers},
          {"loader_processes", v.loaders},
          {"workers_needed", v.needed ? Json(*v.needed) : Json(nullptr)},
          {"load_s", v.load.base()},
          {"train_s", v.train.base()},
          {"overlapped_s", v.overlapped.base()},
          {"read_s", v.read.base()},
          {"decode_s", v.decode.base()},
          {"copy_s", v.copy.base()},
          {"input_hosts", v.hosts},
          {"transfer_s", v.transfer.base()},
          {"network_bytes_per_s", v.hosts > 0 ? Json(v.arriving.base()) : Json(nullptr)},
          {"decode_per_sample_s", v.sample.base()},
          {"decode_of", or_null(v.decode_of)},
          {"slowest", name(v.slowest)},
          {"loading_samples_per_s", rate(v.load)},
          {"training_samples_per_s", rate(v.train)},
          {"ratio", v.ratio > 0.0 ? Json(v.ratio) : Json(nullptr)},
          {"verdict", v.text}};
}

Json layers(const Prediction& p) {
  Json all = Json::array();
  for (const LayerTime& l : p.detail.layers) {
    all.push_back({{"name", l.name},
                   {"kind", l.kind},
                   {"output_shape", l.shape},
                   {"parameters", l.parameters},
                   {"forward_s", l.forward.base()},
                   {"backward_data_s", l.backward_data.base()},
                   {"backward_weights_s", l.backward_weights.base()},
                   {"update_s", l.update.base()},
                   {"flop", l.flop.base()}});
  }
  return all;
}

Json host(const Prediction& p) {
  Json list = Json::array();
  for (const HostTime& h : longest_first(p.detail.host)) {
    const double share = h.time / p.step_time.value;
    list.push_back(
        {{"thread", h.thread}, {"cause", h.cause}, {"calls", h.calls}, {"time_s", h.time.base()}, {"step_share", share}});
  }
  return list;
}

Json links(const Prediction& p) {
  Json list = Json::array();
  for (const LinkTraffic& link : p.detail.links)
    list.push_back({{"name", link.name},
                    {"capacity_bytes_per_s", link.capacity.base()},
                    {"bytes", link.bytes.base()},
                    {"busy", link.busy},
                    {"used", link.used}});
  return list;
}

Json indirect_copies(const Prediction& p) {
  Json list = Json::array();
  for (const IndirectCopy& copy : p.exchanged.indirect)
    list.push_back({{"from", copy.from}, {"to", copy.to}, {"over", or_null(copy.over)}});
  return list;
}

Json kernels(const Prediction& p) {
  const KernelSummary summary = summarize_kernels(p);
  Json groups = Json::array();
  for (const KernelGroup& g : summary.groups) {
    Json waits = Json::object();
    for (std::size_t i = 0; i < kStallCount; ++i) waits[std::string(name(static_cast<Stall>(i)))] = g.stalls[i];
    groups.push_back({{"name", g.name},
                      {"algorithm", g.algorithm},
                      {"bound", g.bound},
                      {"launches", g.launches},
                      {"time_s", g.time.base()},
                      {"time_share", g.time_share},
                      {"fp32_utilization", g.fp32_utilization},
                      {"occupancy", g.occupancy},
                      {"stall", g.stall},
                      {"useful_utilization", g.useful_utilization},
                      {"stalls", std::move(waits)}});
  }
  Json stalls = Json::object();
  for (const auto& [reason, part] : summary.stalls) stalls[reason] = part;
  return {{"time_s", summary.time.base()},
          {"mean_fp32_utilization", summary.mean_fp32_utilization},
          {"mean_useful_utilization", summary.mean_useful_utilization},
          {"mean_occupancy", summary.mean_occupancy},
          {"stalls", stalls},
          {"modelled", Json::array({"occupancy", "mean_occupancy", "stall", "stalls"})},
          {"groups", groups},
          {"long_below_mean", summary.long_below_mean},
          {"long_above_mean", summary.long_above_mean}};
}

/// One way to pay, its amount under `key`; null where it is not known.
Json payment(const std::optional<Payment>& p, const char* key) {
  if (!p) return nullptr;
  return {{key, p->amount.base()},  {"usd_per_hour", p->hour.base()}, {"basis", p->basis.basis},
          {"price", p->basis.text}, {"source", p->basis.source},      {"date", or_null(p->basis.date)}};
}

Json figures(const NetworkFigures& f) {
  return {{"parameters", f.parameters},
          {"forward_macs_per_sample", f.forward_macs},
          {"step_time_s", f.step.base()},
          {"throughput", f.throughput},
          {"peak_bytes", whole(f.peak)}};
}

Json profiling(const ProfilingCost& c) {
  return {{"skip", c.plan.skip},
          {"iterations", c.plan.iterations},
          {"warm_up", {{"shapes", c.shapes}, {"trials", c.trials}, {"time_s", c.warm_up.base()}}},
          {"before_s", c.before.base()},
          {"kernels_per_step", c.kernels},
          {"trace_bytes_per_step", c.trace_per_step.base()},
          {"traced_step_time_s", ranged(c.traced)},
          {"replayed_step_time_s", ranged(c.replayed)}};
}

Json epochs(const EpochEstimate& e) {
  Json json{{"samples", e.samples},
            {"epochs", e.epochs},
            {"steps_per_epoch", e.steps},
            {"epoch_time_s", ranged(e.epoch)},
            {"total_time_s", ranged(e.total)},
            {"start_up_s", e.start_up.base()}};
  json["total_usd"] = e.cost ? Json(e.cost->base()) : Json(nullptr);
  return json;
}

// Long because every key of the document has a line, in its order.
Json prediction(const Prediction& p, const PredictParts& parts) {
  Json json{{"schema", "tbdsim.predict/1"}, {"tool", tool()}, {"level", kLevel}, {"inputs", inputs(p)}, {"config", config(p)}};
  json["step_time_s"] = ranged(p.step_time);
  json["throughput"] = {{"value", p.throughput.value},
                        {"low", p.throughput.low},
                        {"high", p.throughput.high},
                        {"unit", "samples/s"},
                        {"input_unit", p.samples.unit}};
  if (!p.samples.part.empty())
    json["throughput"]["parts"] = {{"unit", p.samples.part + "s/s"},
                                   {"per_sample", p.samples.parts},
                                   {"value", p.throughput.value * p.samples.parts},
                                   {"low", p.throughput.low * p.samples.parts},
                                   {"high", p.throughput.high * p.samples.parts}};
  if (p.division.by_layers) {
    if (p.samples.part == "token")
      json["throughput"]["tokens_per_s_per_gpu"] = p.throughput.value * p.samples.parts / static_cast<double>(p.job.gpus);
    json["config"]["layout"] = layout(p);
    json["communication"] = communication(p);
  }
  for (const BucketTime& b : p.buckets)
    json["buckets"].push_back({{"length", b.length}, {"share", b.share}, {"step_time_s", b.step.base()}});
  json["stages_s"] = phases(p.phases);
  json["utilization"] = {{"gpu_busy", p.utilization.gpu_busy},
                         {"fp32", p.utilization.fp32},
                         {"tensor_core", p.utilization.tensor_core},
                         {"mfu", p.utilization.mfu},
                         {"cpu", p.utilization.cpu},
                         {"fp32_useful", p.utilization.fp32_useful},
                         {"tensor_core_useful", p.utilization.tensor_core_useful},
                         {"cpu_by_cause",
                          {{"launch", p.utilization.cpu_launch},
                           {"input", p.utilization.cpu_input},
                           {"environment", p.utilization.cpu_environment},
                           {"parameter_server", p.utilization.cpu_server}}}};
  if (p.division.by_layers) json["utilization"]["hfu"] = p.utilization.hfu;
  json["loads"] = {{"host_memory", or_null(p.loads.host_memory)},
                   {"network", or_null(p.loads.network)},
                   {"storage", or_null(p.loads.storage)}};
  json["input"] = input_verdict(p);
  Json held = memory(p.memory);
  if (p.division.by_layers) held["stages"] = held["gpus"];
  json["memory"] = std::move(held);
  json["limit"] = limit(p.limit);
  json["limits"] = Json::array();
  for (const Limit& l : p.limits) json["limits"].push_back(limit(l));
  json["cost"] = {{"usd_per_hour", or_null(p.cost.hour)},
                  {"usd_per_million_samples", or_null(p.cost.million_samples)},
                  {"joule_per_sample", or_null(p.cost.sample_energy)},
                  {"basis", or_null(p.cost.price.basis)},
                  {"price", or_null(p.cost.price.text)},
                  {"source", or_null(p.cost.price.source)},
                  {"date", or_null(p.cost.price.date)},
                  {"purchase", payment(p.cost.bought, "usd")},
                  {"rent", payment(p.cost.rented, "usd_per_hour")}};
  if (parts.change) json["network_change"] = {{"before", figures(parts.change->before)}, {"after", figures(parts.change->after)}};
  if (parts.store) {
    json["store_cost"] = {{"together_s", parts.store->together.base()}, {"parts", Json::array()}};
    for (const StoreCost::Part& part : parts.store->parts)
      json["store_cost"]["parts"].push_back({{"name", part.name}, {"time_s", part.time.base()}});
  }
  if (parts.epochs) json["epochs"] = epochs(*parts.epochs);
  if (parts.run) json["run"] = run(*parts.run);
  if (parts.profiling) json["profiling"] = profiling(*parts.profiling);
  if (parts.layers) json["layers"] = layers(p);
  if (parts.kernels) json["kernels"] = kernels(p);
  if (parts.links) json["links"] = links(p);
  if (parts.links) json["indirect_copies"] = indirect_copies(p);
  if (parts.host) json["host"] = host(p);
  json["provenance"] = Json::array();
  for (const ProvenanceEntry& e : p.provenance)
    json["provenance"].push_back({{"what", e.what}, {"kind", e.kind}, {"source", e.source}});
  json["notices"] = p.notices;
  return json;
}

Json plan_row(const plan::PlanRow& row) {
  Json one = prediction(row.prediction, {});
  one["behind"] = row.behind;
  one["apart"] = row.apart;
  one["front"] = row.front;
  one["cost"]["joule_per_sample_with_host"] = or_null(node_energy(row.prediction));
  one["cost"]["paid_by"] = or_null(std::string(name(paid_by(row.prediction))));
  if (row.run) one["run"] = run(*row.run);
  one["command"] = plan::predict_command(row.options);
  if (!row.variant.empty()) one["tried"] = row.variant;
  one["folded"] = {{"virtual_stages", row.folded.virtual_stages}, {"behind", row.folded.behind}};
  return one;
}

}  // namespace

std::string predict_json(const Prediction& p, const PredictParts& parts) { return text(prediction(p, parts)); }

std::string plan_json(const plan::Plan& plan, Objective objective, const std::vector<plan::Replanned>& again) {
  Json json{{"schema", "tbdsim.plan/1"}, {"tool", tool()}, {"level", kLevel}, {"objective", name(objective)}};
  json["interrupted"] = plan.interrupted;
  json["counts"] = {{"tried", plan.counts.tried},     {"out_of_memory", plan.counts.out_of_memory},
                    {"slow", plan.counts.slow},       {"dominated", plan.counts.dominated},
                    {"refined", plan.counts.refined}, {"predicted", plan.counts.predicted}};
  json["rows"] = Json::array();
  for (const plan::PlanRow& row : plan.rows) json["rows"].push_back(plan_row(row));
  if (plan.yours) json["yours"] = plan_row(*plan.yours);
  if (plan.terms) json["terms"] = json::cost_terms(*plan.terms);
  json["problems"] = plan.problems;
  json["notices"] = plan.notices;
  for (const plan::Replanned& one : again) {
    json["again"].push_back({{"change", one.change}, {"gain", one.gain}, {"gain_of_same_layout", one.unplanned}});
    if (!one.best.empty()) json["again"].back()["command"] = plan::predict_command(one.best.front().options);
    if (!one.problem.empty()) json["again"].back()["problem"] = one.problem;
  }
  return text(json);
}

std::string compare_json(const Comparison& comparison, const std::optional<CostTerms>& terms) {
  Json json{
      {"schema", "tbdsim.compare/1"}, {"tool", tool()}, {"level", kLevel}, {"base", comparison.base}, {"rows", Json::array()}};
  const std::vector<bool> front = compare_front(comparison);
  for (std::size_t i = 0; i < comparison.candidates.size(); ++i) {
    const Candidate& c = comparison.candidates[i];
    Json row = c.problem.empty() ? prediction(c.prediction, {}) : Json{{"problem", c.problem}};
    for (const auto& [option, value] : c.varied) row["config"]["varied"][option] = value;
    if (c.problem.empty()) {
      row["speedup"] = {{"value", c.speedup.value}, {"low", c.speedup.low}, {"high", c.speedup.high}};
      row["apart"] = c.apart;
      row["front"] = static_cast<bool>(front[i]);
      row["price_ratio"] = {{"purchase", c.bought_ratio ? Json(*c.bought_ratio) : Json(nullptr)},
                            {"rent", c.rented_ratio ? Json(*c.rented_ratio) : Json(nullptr)}};
      row["base"] = c.base;
      row["parameters"] = c.prediction.work.parameters;
      row["flop_per_sample"] = c.prediction.flop_per_sample().base();
    }
    json["rows"].push_back(std::move(row));
  }
  if (const auto knee = batch_knee(comparison))
    json["knee"] = {{"batch", knee->batch},
                    {"share", knee->share},
                    {"best_batch", knee->best},
                    {"largest_batch", knee->largest},
                    {"bytes_per_sample", knee->memory_per_sample.base()}};
  if (terms) json::add_offers(comparison, *terms, json);
  return text(json);
}

namespace {

Json precision_gain_json(const PrecisionGain& gain) {
  Json json{{"from", gain.from}, {"to", gain.to}, {"before_s", ranged(gain.before)}, {"after_s", ranged(gain.after)}};
  json["layers"] = Json::array();
  for (const LayerGain& l : gain.layers)
    json["layers"].push_back({{"name", l.name},
                              {"kind", l.kind},
                              {"before_s", l.before.base()},
                              {"after_s", l.after.base()},
                              {"tensor_core", l.tensor_core},
                              {"obstacle", or_null(l.obstacle)}});
  return json;
}

}  // namespace

namespace {

/// What the step goes to, and what other layouts would bring.
void add_layouts(const Explanation& e, Json& json) {
  json["config"]["layout"] = layout(e.base);
  json["parts"] = Json::array();
  for (const StepPart& part : step_parts(e.base))
    json["parts"].push_back(
        {{"name", name(part.kind)}, {"time_s", part.time.base()}, {"share", part.share}, {"text", info(part.kind).text}});
  json["layouts"] = Json::array();
  for (const LayoutOutcome& o : e.layouts) {
    Json row{{"name", o.options}, {"changes", o.changes}};
    if (o.problem.empty())
      row.update({{"gain", o.gain}, {"fits", o.fits}, {"peak_bytes", whole(o.peak)}, {"step_time_s", ranged(o.step_time)}});
    else
      row["problem"] = o.problem;
    if (!o.note.empty()) row["note"] = o.note;
    json["layouts"].push_back(std::move(row));
  }
}

}  // namespace

std::string explain_json(const Explanation& e, const std::optional<PrecisionGain>& gain,
                         const std::optional<Diagnosis>& diagnosis) {
  Json json{{"schema", "tbdsim.explain/1"},
            {"tool", tool()},
            {"level", kLevel},
            {"inputs", inputs(e.base)},
            {"config", config(e.base)}};
  json["step_time_s"] = ranged(e.base.step_time);
  json["limits"] = Json::array();
  for (const Limit& l : e.base.limits) json["limits"].push_back(limit(l));
  if (e.base.division.by_layers) add_layouts(e, json);
  json["indirect_copies"] = indirect_copies(e.base);
  json["checks"] = Json::array();
  for (const HealthCheck& c : e.checks) json["checks"].push_back({{"name", c.name}, {"passed", c.passed}, {"text", c.text}});
  json["what_ifs"] = Json::array();
  for (const WhatIfOutcome& o : e.what_ifs) {
    Json row{{"name", o.name}, {"text", o.text}, {"kind", o.hardware ? "hardware" : "setting"}};
    if (!o.problem.empty()) {
      row["problem"] = o.problem;
    } else {
      row.update({{"gain", o.gain}, {"fits", o.fits}, {"step_time_s", ranged(o.step_time)}, {"limit", limit(o.limit)}});
      if (!o.note.empty()) row["note"] = o.note;
    }
    json["what_ifs"].push_back(std::move(row));
  }
  json["together"] = nullptr;
  if (const auto& c = e.combined)
    json["together"] = {{"options", c->options},
                        {"gain", c->gain},
                        {"fits", c->fits},
                        {"step_time_s", ranged(c->step_time)},
                        {"limit", limit(c->limit)}};
  if (gain) json["mixed_precision"] = precision_gain_json(*gain);
  if (diagnosis) add_diagnosis(*diagnosis, json);
  return text(json);
}

std::string sweep_row_json(const SweepRow& r, const std::vector<std::pair<std::string, std::string>>& config,
                           std::optional<Seconds> epoch) {
  Json options = Json::object();
  for (const auto& [option, value] : config) options[option] = value;
  Json json{{"config", options}};
  if (!r.problem.empty()) {
    json["problem"] = r.problem;
  } else {
    json["step_time_s"] = {{"value", r.step_time.base()}, {"low", r.step_time_low.base()}, {"high", r.step_time_high.base()}};
    json["throughput"] = {{"value", r.throughput}, {"unit", "samples/s"}};
    if (epoch) {
      json["epoch_time_s"] = epoch->base();
      json["start_up_s"] = r.start_up.base();
    }
    json["limit"] = {{"resource", r.limit}, {"share", r.limit_share}};
    json["utilization"] = {{"cpu", r.cpu_busy}};
    json["memory"] = {{"fits", r.fits}, {"peak_bytes", whole(r.peak)}};
    json["cost"] = {{"usd_per_hour", or_null(r.hour_cost)},
                    {"usd_per_million_samples", or_null(r.million_samples_cost)},
                    {"joule_per_sample", or_null(r.sample_energy)},
                    {"paid_by", or_null(std::string(name(r.paid_by)))}};
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tbdsim
