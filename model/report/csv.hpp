#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/prediction/epoch.hpp"
#include "model/prediction/predict.hpp"
#include "model/validation/accuracy.hpp"

namespace tbdsim {

/// Fields of one line of CSV (RFC 4180), quoted where they must be, with a newline (LF) at the end.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& fields);

/// A header and one row, with the columns of an epoch if `epochs` is given. Columns carry units; numbers read back to the same
/// double.
[[nodiscard]] std::string predict_csv(const Prediction& prediction, const std::optional<EpochEstimate>& epochs = std::nullopt);
/// A header and one row per layer, kernel or link, of a prediction made with `detail`, under the names of the JSON.
[[nodiscard]] std::string layers_csv(const Prediction& prediction);
[[nodiscard]] std::string kernels_csv(const Prediction& prediction);
[[nodiscard]] std::string host_csv(const Prediction& prediction);
[[nodiscard]] std::string links_csv(const Prediction& prediction);

/// A header and every row of the assessed tables. A skipped row has no figures.
[[nodiscard]] std::string accuracy_csv(const Accuracy& accuracy);

}  // namespace tbdsim
