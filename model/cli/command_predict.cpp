#include <fmt/format.h>

#include "model/cli/command.hpp"
#include "model/cli/output.hpp"
#include "model/report/csv.hpp"
#include "model/report/json.hpp"
#include "model/report/predict_table.hpp"

namespace tbdsim {
namespace {

std::string formatted(Format format, const Prediction& prediction, const PredictParts& parts) {
  switch (format) {
    case Format::json:
      return predict_json(prediction, parts);
    case Format::csv:
      return predict_csv(prediction);
    case Format::table:
      break;
  }
  return predict_table(prediction, parts);
}

}  // namespace

int run(const PredictArguments& arguments, const Catalogue& catalogue) {
  if (arguments.epochs && !arguments.samples) return report({Error{"--epochs needs --samples, the size of the data set"}});
  PredictOptions options = arguments.options;
  options.detail = arguments.layers || arguments.kernels || arguments.links || !arguments.trace.empty();
  const auto session = open_session(catalogue);
  const auto prediction = predict(*session, options);
  if (!prediction) return report(prediction.error());
  report_notices(prediction->notices);
  if (!arguments.trace.empty()) {
    if (const auto written = write_file(arguments.trace, chrome_trace(*prediction)); !written) return report(written.error());
  }
  PredictParts parts{arguments.layers, arguments.kernels, arguments.links, std::nullopt};
  if (arguments.samples) parts.epochs = estimate_epochs(*prediction, *arguments.samples, arguments.epochs.value_or(1));
  return write_result(formatted(arguments.format, *prediction, parts));
}

}  // namespace tbdsim
