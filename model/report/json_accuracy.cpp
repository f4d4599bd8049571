#include "model/report/json.hpp"
#include "model/report/json_parts.hpp"

namespace tbdsim {
namespace {

using namespace json;

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
  json["time_error"] = r.time_error;
  json["baseline_error"] = or_null(r.baseline_error);
  json["fits"] = r.fits_memory;
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
  Json json{{"id", c.id},         {"expr", c.expr},      {"use", name(c.use)}, {"holds", c.outcome.holds},
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

}  // namespace

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
    const ClaimCount all = count(claims);
    json["claim_count"] = {{"counted", all.counted}, {"hold", all.holding},    {"look_ups", all.lookups},
                           {"fit", all.fit},         {"trivial", all.trivial}, {"controls", all.controls}};
  }
  return text(json);
}

}  // namespace tbdsim
