#include "model/prediction/run/run_estimate.hpp"
#include "model/report/json_parts.hpp"

namespace tbdsim::json {
namespace {

Json goodput_of(const Goodput& g) {
  return {{"share", g.share},
          {"lost_to_checkpoints", g.lost_to_checkpoints},
          {"lost_to_rework", g.lost_to_rework},
          {"lost_to_restarts", g.lost_to_restarts},
          {"time_between_interruptions_s", g.between_interruptions.base()},
          {"restart_s", g.restart.base()}};
}

Json checkpoint_of(const RunEstimate& r) {
  const Goodput& g = r.goodput;
  return {{"bytes", whole(g.checkpoint)}, {"write_s", g.write.base()},       {"wait_s", g.wait.base()},
          {"read_s", g.read.base()},      {"interval_s", g.interval.base()}, {"best_interval", g.best_interval},
          {"written", r.checkpoints}};
}

}  // namespace

Json run(const RunEstimate& r) {
  Json json{{"tokens", r.tokens},
            {"steps", r.steps},
            {"training_time_s", ranged(r.training)},
            {"elapsed_time_s", ranged(r.elapsed)},
            {"goodput", goodput_of(r.goodput)},
            {"interruptions", r.interruptions},
            {"checkpoint", checkpoint_of(r)},
            {"spare_nodes", r.spares},
            {"building_power_w", or_null(r.power)},
            {"energy_j", or_null(r.energy)},
            {"carbon_g", or_null(r.carbon_grams)},
            {"usd", or_null(r.cost)},
            {"assumptions", Json::array()}};
  for (const RunAssumption& a : r.assumptions)
    json["assumptions"].push_back({{"key", "operations." + a.key}, {"value", a.value}, {"source", a.source}});
  return json;
}

}  // namespace tbdsim::json
