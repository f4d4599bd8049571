#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/configuration/row_options.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

/// One measured run (one row of a table, DESIGN section 6).
struct MeasuredRun : RowSettings {
  std::string id;
  std::string metric, unit;
  double measured = 0.0;         ///< in the row's unit: s, samples/s, bytes, bytes/s
  std::optional<double> spread;  ///< one standard deviation, same unit
  bool fit = false;              ///< use = fit
  std::string group, source;
  std::string refused;  ///< why it cannot be compared as it stands; empty: it can
  SourceRef where;
};

/// Reads `id,hw,model,stack,precision,gpus,nodes,network,batch_per_gpu,seq_len,exchange,optimizer,input,options,metric,
/// unit,measured,spread,use,group,source`. Columns `id,hw,model,metric,unit,measured` are required
/// (`model` not for bus_bandwidth), others optional.
/// `use` defaults to validation, `group` to the file's name and the row's hardware ("table/k80").
/// Errors, all at once: no rows, unknown column or metric (suggestion), unit that does not belong to the metric, not a
/// number, zero or negative measurement, `use` other than fit or validation, repeated id, malformed `options`, a
/// bus_bandwidth row without `--collective` and `--bytes`. Options that say nothing about the row's metric make it one that is
/// refused. Files that `hw`, `model`, `stack` and `network` name lie beside the table, as do those of `name` below.
[[nodiscard]] Result<std::vector<MeasuredRun>> read_measured_table(const std::string& path);
/// The same from memory; `name` is what messages call the file.
[[nodiscard]] Result<std::vector<MeasuredRun>> parse_measured_table(std::string text, std::string name);

}  // namespace tbdsim
