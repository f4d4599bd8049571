#include "model/report/json.hpp"
#include "model/report/json_parts.hpp"
#include "model/report/network_report.hpp"
#include "model/report/topology_report.hpp"

namespace tbdsim {
namespace {

using namespace json;

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
  Json json{{"via", way.via},
            {"vertices", way.vertices},
            {"links", way.links},
            {"bytes", whole(way.bytes)},
            {"bandwidth_bytes_per_s", way.bandwidth.base()},
            {"latency_s", way.latency.base()},
            {"time_s", way.time.base()}};
  if (!way.staged_at.empty())
    json["staged"] = {{"at", way.staged_at}, {"buffer_bytes", whole(way.bytes)}, {"time_s", way.staged_time.base()}};
  return json;
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

}  // namespace

std::string memory_json(const MemoryReport& r) {
  Json json{{"schema", "tbdsim.memory/1"}, {"tool", tool()}, {"level", kLevel}};
  json["config"] = {{"hardware", r.hardware},
                    {"device", r.device},
                    {"model", r.model},
                    {"variant", r.variant},
                    {"stack", r.stack},
                    {"precision", r.precision},
                    {"exchange", name(r.exchange)},
                    {"optimizer", r.optimizer},
                    {"gpus", r.gpus},
                    {"nodes", r.nodes},
                    {"batch_per_gpu", r.batch_per_gpu},
                    {"accumulate", r.accumulate},
                    {"recompute", r.recompute},
                    {"zero", r.zero},
                    {"tensor_parallel", r.layout.tensor},
                    {"pipeline", r.layout.pipeline}};
  if (r.offload_states > 0.0) json["config"]["offload_share"] = r.offload_states;
  if (r.offload_layers > 0) json["config"]["offload_layers"] = r.offload_layers;
  json["memory"] = memory(r.memory);
  json["memory"]["lower_bound_bytes"] = whole(r.lower_bound);
  json["peak"] = {{"layer", r.peak_layer}, {"pass", name(r.peak_phase)}};
  json["layers"] = Json::array();
  for (const LayerMemory& l : r.layers)
    json["layers"].push_back({{"name", l.name},
                              {"kind", l.kind},
                              {"output_shape", l.shape},
                              {"total_bytes", whole(l.parts.total())},
                              {"parts_bytes", parts(l.parts)}});
  json["types"] = Json::array();
  for (const TypeMemory& t : r.types)
    json["types"].push_back(
        {{"type", t.type}, {"layers", t.layers}, {"total_bytes", whole(t.parts.total())}, {"parts_bytes", parts(t.parts)}});
  json["timeline"] = Json::array();
  for (const MemoryMoment& m : r.moments)
    json["timeline"].push_back({{"layer", m.layer}, {"pass", name(m.phase)}, {"live_bytes", whole(m.live)}});
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
                         {"micro_batches", r.largest->micro_batches},
                         {"batch_per_gpu_with_probability_90", r.largest->safe_batch}};
    if (r.largest->next > 0)
      json["max_batch"].update({{"next_batch_per_gpu", r.largest->next}, {"next_peak_bytes", whole(r.largest->next_peak)}});
    if (const auto& larger = r.largest->larger)
      json["max_batch"]["larger_that_fits"] = {{"batch_per_gpu", larger->batch}, {"peak_bytes", whole(larger->peak)}};
  }
  json["notices"] = r.notices;
  return text(json);
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
    schedules.push_back({{"exchange", name(s.exchange)},
                         {"step_time_s", s.step.base()},
                         {"gain", s.gain},
                         {"least_bandwidth_bytes_per_s", rate(s.least_to_pay)},
                         {"least_bandwidth_for_target_bytes_per_s", rate(s.least_to_reach)}});
  }
  const ScheduleVerdict& asked = p.schedules.front();
  return text({{"schema", "tbdsim.network/1"},
               {"tool", tool()},
               {"inputs", inputs(p.predicted)},
               {"config", config(p.predicted)},
               {"step_time_s", asked.step.base()},
               {"one_node_step_time_s", p.one_node_step.base()},
               {"network", p.network},
               {"emulated", p.emulated},
               {"line_rate_bytes_per_s", p.line_rate.base()},
               {"exchange_exposed_s", p.predicted.phases.exchange_exposed.base()},
               {"waiting_for_slowest_gpu_s", p.waiting_for_slowest.base()},
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
  if (!s.nccl.empty()) json["nccl"] = s.nccl;
  for (const TransferWay& way : transfers.ways) json["ways"].push_back(way_json(way));
  for (const SharedTransfer& transfer : transfers.together) json["transfers"].push_back(shared_json(transfer));
  if (collective != nullptr) add_collective(json, *collective);
  return text(json);
}

}  // namespace tbdsim
