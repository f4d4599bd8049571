// Long because every JSON text that a verb writes shares its parts.
#include "model/report/json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "model/analysis/batch_knee.hpp"
#include "model/analysis/kernel_summary.hpp"
#include "model/report/catalogue_entry.hpp"
#include "model/report/network_report.hpp"
#include "model/report/topology_report.hpp"

namespace tbdsim {
namespace {

using Json = nlohmann::ordered_json;

std::string text(const Json& json) {
  constexpr int kIndent = 2;
  // Names may come from a user's file; bytes that are no UTF-8 must not end the program.
  return json.dump(kIndent, ' ', false, Json::error_handler_t::replace) + '\n';
}
Json tool() { return {{"name", "tbdsim"}, {"version", TBDSIM_VERSION}}; }
Json whole(Bytes bytes) { return static_cast<std::int64_t>(std::llround(bytes.base())); }

/// Ranges are the central 80 % everywhere.
constexpr double kLevel = 0.8;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

template <class Q>
Json ranged(const Ranged<Q>& r) {
  return {{"value", r.value.base()}, {"low", r.low.base()}, {"high", r.high.base()}};
}

Json input_file(const std::string& name, const std::string& file, const std::string& sha256) {
  Json json{{"name", name}};
  json["file"] = file.empty() ? Json(nullptr) : Json(file);
  json["sha256"] = sha256.empty() ? Json(nullptr) : Json(sha256);
  return json;
}

Json inputs(const Prediction& p) {
  Json hardware = input_file(p.hardware_name, p.hardware_file, p.hardware_sha256);
  hardware["device"] = p.device;
  Json workload = input_file(p.model, p.workload_file, p.workload_sha256);
  workload["variant"] = p.variant;
  return {{"hardware", hardware}, {"workload", workload}, {"stack", input_file(p.stack, p.stack_file, p.stack_sha256)}};
}

Json config(const Prediction& p) {
  Json json{
      {"gpus", p.gpus},           {"nodes", p.nodes},       {"batch_per_gpu", p.batch_per_gpu}, {"global_batch", p.global_batch},
      {"precision", p.precision}, {"exchange", p.exchange}, {"optimizer", p.optimizer},         {"input", p.input}};
  json["network"] = p.network.empty() ? Json(nullptr) : Json(p.network);
  if (!p.set.empty()) json["set"] = p.set;
  return json;
}

Json stages(const Stages& s) {
  return {{"forward", s.forward.base()},
          {"backward", s.backward.base()},
          {"weight_update", s.weight_update.base()},
          {"metric", s.metric.base()},
          {"exchange_total", s.exchange_total.base()},
          {"exchange_exposed", s.exchange_exposed.base()},
          {"input_exposed", s.input_exposed.base()},
          {"host_exposed", s.host_exposed.base()}};
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
    if (g.stage) gpus.back()["stage"] = *g.stage;
  }
  return {{"capacity_bytes", whole(m.capacity)}, {"fits", m.fits}, {"gpus", gpus}};
}

Json limit(const Limit& l) { return {{"resource", l.resource}, {"share", l.share}, {"text", l.text}}; }

Json input_verdict(const Prediction& p) {
  if (!p.input_verdict) return nullptr;
  const InputVerdict& v = *p.input_verdict;
  const double samples = p.global_batch;
  const auto rate = [&](Seconds time) { return time > Seconds(0.0) ? Json(samples / time.base()) : Json(nullptr); };
  return {{"name", p.input},
          {"storage", v.storage.empty() ? Json(nullptr) : Json(v.storage)},
          {"workers", v.workers},
          {"workers_needed", v.needed ? Json(*v.needed) : Json(nullptr)},
          {"load_s", v.load.base()},
          {"train_s", v.train.base()},
          {"overlapped_s", v.overlapped.base()},
          {"read_s", v.read.base()},
          {"decode_s", v.decode.base()},
          {"copy_s", v.copy.base()},
          {"slowest", v.slowest},
          {"loading_samples_per_s", rate(v.load)},
          {"training_samples_per_s", rate(v.train)},
          {"ratio", v.ratio > 0.0 ? Json(v.ratio) : Json(nullptr)},
          {"verdict", v.text}};
}

Json layers(const Prediction& p) {
  Json all = Json::array();
  for (const LayerTime& l : p.layers) {
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

Json links(const Prediction& p) {
  Json list = Json::array();
  for (const LinkTraffic& link : p.links)
    list.push_back({{"name", link.name},
                    {"capacity_bytes_per_s", link.capacity.base()},
                    {"bytes", link.bytes.base()},
                    {"busy", link.busy},
                    {"used", link.used}});
  return list;
}

Json kernels(const Prediction& p) {
  const KernelSummary summary = summarize_kernels(p);
  Json groups = Json::array();
  for (const KernelGroup& g : summary.groups) {
    groups.push_back({{"name", g.name},
                      {"algorithm", g.algorithm},
                      {"bound", g.bound},
                      {"launches", g.launches},
                      {"time_s", g.time.base()},
                      {"time_share", g.time_share},
                      {"fp32_utilization", g.fp32_utilization},
                      {"occupancy", g.occupancy},
                      {"stall", g.stall}});
  }
  Json stalls = Json::object();
  for (const auto& [reason, part] : summary.stalls) stalls[reason] = part;
  return {{"time_s", summary.time.base()},
          {"mean_fp32_utilization", summary.mean_fp32_utilization},
          {"mean_occupancy", summary.mean_occupancy},
          {"stalls", stalls},
          {"modelled", Json::array({"occupancy", "mean_occupancy", "stall", "stalls"})},
          {"groups", groups},
          {"long_below_mean", summary.long_below_mean},
          {"long_above_mean", summary.long_above_mean}};
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
            {"total_time_s", ranged(e.total)}};
  json["total_usd"] = e.cost ? Json(e.cost->base()) : Json(nullptr);
  return json;
}

Json row(const RowAccuracy& r) {
  Json json{{"id", r.id},         {"group", r.group}, {"use", r.fit ? "fit" : "validation"},
            {"metric", r.metric}, {"unit", r.unit},   {"measured", r.measured}};
  if (!r.skipped.empty()) {
    json["skipped"] = r.skipped;
    return json;
  }
  json["predicted"] = r.predicted;
  json["low"] = r.low;
  json["high"] = r.high;
  json["error"] = r.error;
  json["baseline_error"] = or_null(r.baseline_error);
  return json;
}

/// A group of which no row could be predicted has no figures.
Json group(const GroupAccuracy& g) {
  const auto figure = [&](double value) { return g.n > 0 ? Json(value) : Json(nullptr); };
  Json json{{"group", g.group},
            {"n", g.n},
            {"skipped", g.skipped},
            {"mean_ape", figure(g.mean_ape)},
            {"median_ape", figure(g.median_ape)},
            {"p95_ape", figure(g.p95_ape)},
            {"bias", figure(g.bias)},
            {"coverage", figure(g.coverage)},
            {"range_width", figure(g.range_width)},
            {"baseline_mean_ape", or_null(g.baseline_mean_ape)}};
  if (g.efficiency) {
    const auto& e = *g.efficiency;
    json["efficiency_points"] = {{"n", e.n},         {"mean", e.mean}, {"median", e.median},
                                 {"worst", e.worst}, {"bias", e.bias}, {"baseline_mean", e.baseline_mean}};
    if (e.anchored)
      json["efficiency_points"]["anchored"] = {{"n", e.anchored->n},
                                               {"mean", e.anchored->mean},
                                               {"median", e.anchored->median},
                                               {"worst", e.anchored->worst},
                                               {"bias", e.anchored->bias}};
  }
  return json;
}

Json groups(const std::vector<GroupAccuracy>& all) {
  Json json = Json::array();
  for (const GroupAccuracy& g : all) json.push_back(group(g));
  return json;
}

Json claim(const AssessedClaim& c) {
  Json json{{"id", c.id},         {"expr", c.expr},      {"use", c.use}, {"holds", c.outcome.holds},
            {"points", c.points}, {"failing", c.failing}};
  const auto side = [&](double value, const std::string& words) {
    return !c.problem.empty() ? Json(nullptr) : words.empty() ? Json(value) : Json(words);
  };
  json["left"] = side(c.outcome.left, c.outcome.left_text);
  json["right"] = side(c.outcome.right, c.outcome.right_text);
  for (const auto& [key, words] : {std::pair{"point", c.point}, {"problem", c.problem}, {"reason", c.reason}}) {
    if (!words.empty()) json[key] = words;
  }
  json["source"] = c.source;
  return json;
}

Json facts(const CatalogueEntry& entry) {
  Json json{{"kind", entry.kind}, {"id", entry.id}, {"name", entry.name}};
  Json sources = Json::object();
  for (const Fact& fact : entry.facts) {
    std::visit([&](const auto& value) { json[fact.key] = value; }, fact.value);
    if (!fact.source.empty()) sources[fact.key] = fact.source;
  }
  json["source"] = entry.source;
  if (!sources.empty()) json["sources"] = sources;
  return json;
}

Json layer_counts(const std::vector<LayerCounts>& layers) {
  Json all = Json::array();
  for (const LayerCounts& l : layers) {
    all.push_back({{"name", l.name},
                   {"kind", l.kind},
                   {"output_shape", l.output_shape},
                   {"parameters", l.parameters},
                   {"forward_macs_per_sample", l.macs.forward},
                   {"backward_macs_per_sample", l.macs.backward},
                   {"saved_bytes_per_sample", whole(l.saved)}});
  }
  return all;
}

Json pair_json(const TopologySurvey& s, std::size_t i, std::size_t j) {
  const PairRelation& pair = s.pairs[i][j];
  return {{"from", s.gpus[i]},
          {"to", s.gpus[j]},
          {"nvlinks", pair.nvlinks},
          {"pcie", pair.pcie},
          {"peer_access", pair.peer_access},
          {"hops", pair.hops},
          {"copy_bytes_per_s", s.copies[i][j].alone.base()},
          {"copy_contended_bytes_per_s", s.copies[i][j].contended.base()},
          {"copy_staged", s.copies[i][j].staged},
          {"relays", s.relays[i][j]}};
}

Json way_json(const TransferWay& way) {
  return {{"via", way.via},
          {"vertices", way.vertices},
          {"links", way.links},
          {"bytes", whole(way.bytes)},
          {"bandwidth_bytes_per_s", way.bandwidth.base()},
          {"latency_s", way.latency.base()},
          {"time_s", way.time.base()}};
}

Json shared_json(const SharedTransfer& transfer) {
  return {{"vertices", transfer.vertices},
          {"bytes", whole(transfer.bytes)},
          {"alone_bytes_per_s", transfer.share.alone.base()},
          {"together_bytes_per_s", transfer.share.contended.base()},
          {"staged", transfer.share.staged},
          {"time_s", transfer.share.time.base()}};
}

Json row_json(const CollectiveRow& row) {
  return {{"bytes", whole(row.bytes)},
          {"time_s", row.time.value.base()},
          {"low_s", row.time.low.base()},
          {"high_s", row.time.high.base()},
          {"algorithm_bandwidth", row.algorithm_bandwidth.base()},
          {"bus_bandwidth", row.bus_bandwidth.value},
          {"algorithm", name(row.algorithm)},
          {"protocol", name(row.protocol)},
          {"least_time_s", row.least.base()},
          {"fastest_protocol", name(row.fastest)}};
}

/// What a collective adds to the wiring of its node.
void add_collective(Json& json, const CollectiveSurvey& c) {
  json["collective"] = name(c.kind);
  json["nccl"] = c.nccl;
  json["ranks"] = c.gpus;
  json["nodes"] = c.nodes;
  json["network"] = c.network.empty() ? Json(nullptr) : Json(c.network);
  json["channels"] = c.plan.channels;
  json["rows"] = Json::array();
  for (const CollectiveRow& row : c.rows) json["rows"].push_back(row_json(row));
}

Json prediction(const Prediction& p, const PredictParts& parts) {
  Json json{{"schema", "tbdsim.predict/1"}, {"tool", tool()}, {"level", kLevel}, {"inputs", inputs(p)}, {"config", config(p)}};
  json["step_time_s"] = ranged(p.step_time);
  json["throughput"] = {{"value", p.throughput.value},
                        {"low", p.throughput.low},
                        {"high", p.throughput.high},
                        {"unit", "samples/s"},
                        {"input_unit", p.input_unit}};
  if (!p.part_unit.empty())
    json["throughput"]["parts"] = {{"unit", p.part_unit + "s/s"},
                                   {"per_sample", p.parts_per_sample},
                                   {"value", p.throughput.value * p.parts_per_sample},
                                   {"low", p.throughput.low * p.parts_per_sample},
                                   {"high", p.throughput.high * p.parts_per_sample}};
  for (const BucketTime& b : p.buckets)
    json["buckets"].push_back({{"length", b.length}, {"share", b.share}, {"step_time_s", b.step.base()}});
  json["stages_s"] = stages(p.stages);
  json["utilization"] = {{"gpu_busy", p.utilization.gpu_busy},
                         {"fp32", p.utilization.fp32},
                         {"tensor_core", p.utilization.tensor_core},
                         {"mfu", p.utilization.mfu},
                         {"cpu", p.utilization.cpu},
                         {"cpu_by_cause",
                          {{"launch", p.utilization.cpu_launch},
                           {"input", p.utilization.cpu_input},
                           {"environment", p.utilization.cpu_environment},
                           {"parameter_server", p.utilization.cpu_server}}}};
  json["input"] = input_verdict(p);
  json["memory"] = memory(p.memory);
  json["limit"] = limit(p.limit);
  json["limits"] = Json::array();
  for (const Limit& l : p.limits) json["limits"].push_back(limit(l));
  json["cost"] = {{"usd_per_hour", or_null(p.usd_per_hour)},
                  {"usd_per_million_samples", or_null(p.usd_per_million_samples)},
                  {"joule_per_sample", or_null(p.joule_per_sample)}};
  if (parts.epochs) json["epochs"] = epochs(*parts.epochs);
  if (parts.profiling) json["profiling"] = profiling(*parts.profiling);
  if (parts.layers) json["layers"] = layers(p);
  if (parts.kernels) json["kernels"] = kernels(p);
  if (parts.links) json["links"] = links(p);
  json["provenance"] = Json::array();
  for (const ProvenanceEntry& e : p.provenance)
    json["provenance"].push_back({{"what", e.what}, {"kind", e.kind}, {"source", e.source}});
  json["notices"] = p.notices;
  return json;
}

}  // namespace

std::string predict_json(const Prediction& p, const PredictParts& parts) { return text(prediction(p, parts)); }

std::string compare_json(const Comparison& comparison) {
  Json json{
      {"schema", "tbdsim.compare/1"}, {"tool", tool()}, {"level", kLevel}, {"base", comparison.base}, {"rows", Json::array()}};
  for (const Candidate& c : comparison.candidates) {
    Json row = c.problem.empty() ? prediction(c.prediction, {}) : Json{{"problem", c.problem}};
    for (const auto& [option, value] : c.varied) row["config"]["varied"][option] = value;
    if (c.problem.empty()) {
      row["speedup"] = {{"value", c.speedup.value}, {"low", c.speedup.low}, {"high", c.speedup.high}};
      row["apart"] = c.apart;
      row["base"] = c.base;
    }
    json["rows"].push_back(std::move(row));
  }
  if (const auto knee = batch_knee(comparison))
    json["knee"] = {{"batch", knee->batch},
                    {"share", knee->share},
                    {"best_batch", knee->best},
                    {"largest_batch", knee->largest},
                    {"bytes_per_sample", knee->memory_per_sample.base()}};
  return text(json);
}

std::string explain_json(const Explanation& e) {
  Json json{{"schema", "tbdsim.explain/1"}, {"tool", tool()}, {"level", kLevel}, {"config", config(e.base)}};
  json["step_time_s"] = ranged(e.base.step_time);
  json["limits"] = Json::array();
  for (const Limit& l : e.base.limits) json["limits"].push_back(limit(l));
  json["checks"] = Json::array();
  for (const HealthCheck& c : e.checks) json["checks"].push_back({{"name", c.name}, {"passed", c.passed}, {"text", c.text}});
  json["what_ifs"] = Json::array();
  for (const WhatIfOutcome& o : e.what_ifs) {
    Json row{{"name", o.name}, {"text", o.text}};
    if (!o.problem.empty()) {
      row["problem"] = o.problem;
    } else {
      row.update({{"gain", o.gain}, {"fits", o.fits}, {"step_time_s", ranged(o.step_time)}, {"limit", limit(o.limit)}});
    }
    json["what_ifs"].push_back(std::move(row));
  }
  return text(json);
}

std::string memory_json(const MemoryReport& r) {
  Json json{{"schema", "tbdsim.memory/1"}, {"tool", tool()}, {"level", kLevel}};
  json["config"] = {{"hardware", r.hardware},
                    {"device", r.device},
                    {"model", r.model},
                    {"variant", r.variant},
                    {"stack", r.stack},
                    {"precision", r.precision},
                    {"exchange", r.exchange},
                    {"optimizer", r.optimizer},
                    {"gpus", r.gpus},
                    {"nodes", r.nodes},
                    {"batch_per_gpu", r.batch_per_gpu}};
  json["memory"] = memory(r.memory);
  json["memory"]["lower_bound_bytes"] = whole(r.lower_bound);
  json["peak"] = {{"layer", r.peak_layer}, {"pass", r.peak_in_backward ? "backward" : "forward"}};
  json["layers"] = Json::array();
  for (const LayerMemory& l : r.layers)
    json["layers"].push_back({{"name", l.name},
                              {"kind", l.kind},
                              {"output_shape", l.shape},
                              {"total_bytes", whole(l.parts.total())},
                              {"parts_bytes", parts(l.parts)}});
  json["timeline"] = Json::array();
  for (const MemoryMoment& m : r.moments)
    json["timeline"].push_back(
        {{"layer", m.layer}, {"pass", m.backward ? "backward" : "forward"}, {"live_bytes", whole(m.live)}});
  json["reductions"] = Json::array();
  for (const MemoryReduction& c : r.reductions)
    json["reductions"].push_back(
        {{"name", c.name}, {"what", c.what}, {"gain_bytes", whole(c.gain)}, {"peak_bytes", whole(c.peak)}, {"fits", c.fits}});
  if (r.largest) {
    json["max_batch_per_gpu"] = r.largest->batch;
    json["max_batch"] = {{"low", r.largest->low},
                         {"high", r.largest->high},
                         {"peak_bytes", whole(r.largest->peak)},
                         {"probability_of_fitting", r.largest->probability},
                         {"next_peak_bytes", whole(r.largest->next_peak)},
                         {"batch_per_gpu_with_probability_90", r.largest->safe_batch}};
  }
  json["notices"] = r.notices;
  return text(json);
}

std::string accuracy_json(const Accuracy& accuracy, const std::vector<AssessedClaim>& claims) {
  Json json{{"schema", "tbdsim.validate/1"}, {"tool", tool()}, {"level", kLevel}, {"rows", Json::array()}};
  for (const RowAccuracy& r : accuracy.rows) json["rows"].push_back(row(r));
  json["groups"] = groups(accuracy.groups);
  json["fitted_groups"] = groups(accuracy.fitted_groups);
  json["all"] = group(accuracy.all);
  json["mean_of_groups"] = accuracy.all.n > 0 ? Json(accuracy.mean_of_groups) : Json(nullptr);
  json["bias_of_groups"] = accuracy.all.n > 0 ? Json(accuracy.bias_of_groups) : Json(nullptr);
  if (!claims.empty()) {
    json["claims"] = Json::array();
    for (const AssessedClaim& c : claims) json["claims"].push_back(claim(c));
  }
  return text(json);
}

std::string entry_json(const CatalogueEntry& entry) {
  Json json{{"schema", "tbdsim.show/1"}, {"tool", tool()}};
  json.update(facts(entry));
  if (!entry.layers.empty()) json["layers"] = layer_counts(entry.layers);
  return text(json);
}

std::string entries_json(const std::string& kind, const std::vector<CatalogueEntry>& entries) {
  Json json{{"schema", "tbdsim.list/1"}, {"tool", tool()}, {"kind", kind}, {"entries", Json::array()}};
  for (const CatalogueEntry& entry : entries) json["entries"].push_back(facts(entry));
  return text(json);
}

std::string topology_json(const TopologySurvey& s, const Transfers& transfers, const CollectiveSurvey* collective) {
  Json json{
      {"schema", "tbdsim.topology/1"}, {"tool", tool()},         {"hardware", s.system},  {"device", s.device}, {"gpus", s.gpus},
      {"peer_pairs", s.peer_pairs},    {"pairs", Json::array()}, {"rings", s.ring_orders}};
  for (std::size_t i = 0; i < s.gpus.size(); ++i) {
    for (std::size_t j = 0; j < s.gpus.size(); ++j) {
      if (i != j) json["pairs"].push_back(pair_json(s, i, j));
    }
  }
  json["ring_set"] = {{"effective_rings", s.rings.effective_rings},
                      {"over_nvlink", s.rings.over_nvlink},
                      {"relayed", s.rings.relayed},
                      {"bandwidth_per_ring_bytes_per_s", s.rings.bandwidth.base()},
                      {"bandwidth_bytes_per_s", s.ring_bandwidth.base()}};
  for (const TransferWay& way : transfers.ways) json["ways"].push_back(way_json(way));
  for (const SharedTransfer& transfer : transfers.together) json["transfers"].push_back(shared_json(transfer));
  if (collective != nullptr) add_collective(json, *collective);
  return text(json);
}

std::string sweep_row_json(const SweepRow& r, const std::vector<std::pair<std::string, std::string>>& config) {
  Json options = Json::object();
  for (const auto& [option, value] : config) options[option] = value;
  Json json{{"config", options}};
  if (!r.problem.empty()) {
    json["problem"] = r.problem;
  } else {
    json["step_time_s"] = {{"value", r.step_time_s}, {"low", r.step_time_low_s}, {"high", r.step_time_high_s}};
    json["throughput"] = {{"value", r.throughput}, {"unit", "samples/s"}};
    json["limit"] = {{"resource", r.limit}, {"share", r.limit_share}};
    json["memory"] = {{"fits", r.fits}, {"peak_bytes", whole(Bytes(r.peak_bytes))}};
    json["cost"] = {{"usd_per_hour", or_null(r.usd_per_hour)},
                    {"usd_per_million_samples", or_null(r.usd_per_million_samples)},
                    {"joule_per_sample", or_null(r.joule_per_sample)}};
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string network_json(const NetworkProfile& p) {
  const auto rate = [](const std::optional<BytesPerSecond>& r) { return r ? Json(r->base()) : Json(nullptr); };
  Json layers = Json::array(), schedules = Json::array();
  for (const ArrayTraffic& a : p.arrays) {
    layers.push_back({{"name", a.name},
                      {"bytes", whole(a.bytes)},
                      {"send_start_s", a.send_start.base()},
                      {"send_end_s", a.send_end.base()},
                      {"receive_start_s", a.receive_start.base()},
                      {"receive_end_s", a.receive_end.base()},
                      {"exposed_s", a.exposed.base()}});
  }
  for (const ScheduleVerdict& s : p.schedules) {
    schedules.push_back({{"exchange", s.exchange},
                         {"step_time_s", s.step.base()},
                         {"gain", s.gain},
                         {"least_bandwidth_bytes_per_s", rate(s.least_to_pay)},
                         {"least_bandwidth_for_target_bytes_per_s", rate(s.least_to_reach)}});
  }
  const ScheduleVerdict& asked = p.schedules.front();
  return text({{"schema", "tbdsim.network/1"},
               {"tool", tool()},
               {"inputs", inputs(p.job)},
               {"config", config(p.job)},
               {"step_time_s", asked.step.base()},
               {"one_node_step_time_s", p.one_node_step.base()},
               {"line_rate_bytes_per_s", p.line_rate.base()},
               {"pays", p.pays},
               {"gain", p.gain},
               {"efficiency", p.efficiency},
               {"target", p.target},
               {"reaches_target", p.reaches},
               {"least_bandwidth_bytes_per_s", rate(asked.least_to_pay)},
               {"least_bandwidth_for_target_bytes_per_s", rate(asked.least_to_reach)},
               {"schedules", schedules},
               {"layers", layers}});
}

}  // namespace tbdsim
