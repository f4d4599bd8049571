#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/analysis/predict.hpp"

namespace tbdsim {

/// One measured run (one row of a table, DESIGN section 6).
struct MeasuredRun {
  std::string id;
  PredictOptions options;
  std::string metric, unit;
  double measured = 0.0;            ///< in the row's unit: s, samples/s, bytes, bytes/s
  std::optional<double> spread;     ///< one standard deviation, same unit
  bool fit = false;                 ///< use = fit
  std::string group, source;
  SourceRef where;
};

/// Reads `id,hw,model,stack,precision,gpus,nodes,network,batch_per_gpu,seq_len,exchange,optimizer,input,options,metric,
/// unit,measured,spread,use,group,source`. Columns `id,hw,model,metric,unit,measured` are required, others optional.
/// Errors, all at once: unknown column or metric (suggestion), unit that does not belong to the metric, not a number,
/// zero or negative measurement, `use` other than fit or validation, repeated id, malformed `options`.
[[nodiscard]] Result<std::vector<MeasuredRun>> read_measured_table(const std::string& path);

}  // namespace tbdsim
