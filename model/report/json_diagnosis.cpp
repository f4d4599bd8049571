#include "model/report/json_parts.hpp"
#include "model/study/diagnose.hpp"

namespace tbdsim::json {
namespace {

Json plain(const Ranged<double>& r) { return {{"value", r.value}, {"low", r.low}, {"high", r.high}}; }

}  // namespace

void add_diagnosis(const Diagnosis& d, Json& json) {
  json["measured"] = {{"text", d.measured.text}, {"value", d.measured.shown * d.measured.value},
                      {"unit", d.measured.unit}, {"predicted", plain(d.predicted)},
                      {"slower", d.slower},      {"expected", d.expected}};
  json["diagnosis"] = Json::array();
  for (const DiagnosedCause& c : d.causes)
    json["diagnosis"].push_back({{"cause", c.name},
                                 {"text", c.text},
                                 {"amount", or_null(c.amount)},
                                 {"set", c.set},
                                 {"stack", or_null(c.stack)},
                                 {"speed", plain(c.speed)},
                                 {"off", c.off},
                                 {"in_range", c.in_range},
                                 {"weight", c.weight},
                                 {"test", c.test}});
  json["alike"] = d.alike;
  json["unexplained"] = d.unexplained;
  json["not_the_cause"] = d.ruled_out;
}

}  // namespace tbdsim::json
