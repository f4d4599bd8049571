#include "model/report/json_parts.hpp"
#include "model/report/memory_batches_report.hpp"

namespace tbdsim {

using namespace json;

std::string memory_batches_json(const MemoryByBatch& t) {
  Json json{{"schema", "tbdsim.memory/1"}, {"tool", tool()}, {"level", kLevel}};
  json["config"] = {{"hardware", t.hardware},   {"model", t.model},         {"variant", t.variant},
                    {"stack", t.stack},         {"precision", t.precision}, {"exchange", name(t.exchange)},
                    {"optimizer", t.optimizer}, {"gpus", t.gpus},           {"nodes", t.nodes}};
  json["batches"] = Json::array();
  for (const BatchMemory& row : t.rows) {
    Json one{{"batch_per_gpu", row.batch}};
    one["step_time_s"] = row.step_time ? ranged(*row.step_time) : Json(nullptr);
    one["throughput_samples_per_s"] = row.step_time ? Json(row.throughput) : Json(nullptr);
    one["memory"] = memory(row.memory);
    json["batches"].push_back(std::move(one));
  }
  json["notices"] = t.notices;
  return text(json);
}

}  // namespace tbdsim
