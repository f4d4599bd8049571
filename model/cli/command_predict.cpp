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

Result<Answer> answer(const PredictArguments& arguments, Session& session) {
  if (arguments.epochs && !arguments.samples) return fail("--epochs needs --samples, the size of the data set");
  PredictOptions options = arguments.options;
  options.detail = arguments.layers || arguments.kernels || arguments.links || !arguments.trace.empty();
  const auto prediction = predict(session, options);
  if (!prediction) return tl::make_unexpected(prediction.error());
  if (!arguments.trace.empty()) {
    if (const auto written = write_file(arguments.trace, chrome_trace(*prediction)); !written)
      return tl::make_unexpected(written.error());
  }
  PredictParts parts{arguments.layers, arguments.kernels, arguments.links, std::nullopt};
  if (arguments.samples) parts.epochs = estimate_epochs(*prediction, *arguments.samples, arguments.epochs.value_or(1));
  return Answer{formatted(arguments.format, *prediction, parts), prediction->notices};
}

int run(const PredictArguments& arguments, const Catalogue& catalogue) {
  return deliver(answer(arguments, *open_session(catalogue)));
}

}  // namespace tbdsim
