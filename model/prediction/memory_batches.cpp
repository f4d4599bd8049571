#include "model/prediction/memory_batches.hpp"

#include <algorithm>

#include "model/prediction/memory_report.hpp"
#include "model/prediction/predict.hpp"

namespace tbdsim {

Result<MemoryByBatch> memory_by_batch(Session& session, const PredictOptions& options, const std::vector<int>& batches) {
  MemoryByBatch result;
  for (const int batch : batches) {
    PredictOptions one = options;
    one.batch = batch;
    auto report = report_memory(session, one, {false, false});
    if (!report) return tl::make_unexpected(report.error());
    if (result.rows.empty()) {
      result.device = report->device;
      result.hardware = report->hardware;
      result.model = report->model;
      result.variant = report->variant;
      result.stack = report->stack;
      result.precision = report->precision;
      result.exchange = report->exchange;
      result.optimizer = report->optimizer;
      result.gpus = report->gpus;
      result.nodes = report->nodes;
    }
    for (std::string& notice : report->notices)
      if (std::find(result.notices.begin(), result.notices.end(), notice) == result.notices.end())
        result.notices.push_back(std::move(notice));
    BatchMemory row{batch, std::nullopt, 0.0, std::move(report->memory)};
    const auto prediction = predict(session, one);
    if (!prediction) return tl::make_unexpected(prediction.error());
    row.step_time = prediction->step_time;
    row.throughput = prediction->throughput.value;
    result.input_unit = prediction->samples.unit;
    result.rows.push_back(std::move(row));
  }
  return result;
}

}  // namespace tbdsim
