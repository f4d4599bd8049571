#include <fmt/format.h>

#include "model/cli/command.hpp"
#include "model/cli/output.hpp"
#include "model/input/output_file.hpp"
#include "model/prediction/memory_hint.hpp"
#include "model/report/csv.hpp"
#include "model/report/html.hpp"
#include "model/report/json.hpp"
#include "model/report/predict_table.hpp"

namespace tbdsim {
namespace {

std::string formatted(Format format, const Prediction& prediction, const PredictParts& parts) {
  switch (format) {
    case Format::json:
      return predict_json(prediction, parts);
    case Format::csv:
      return parts.layers    ? layers_csv(prediction)
             : parts.kernels ? kernels_csv(prediction)
             : parts.links   ? links_csv(prediction)
             : parts.host    ? host_csv(prediction)
                             : predict_csv(prediction, parts.epochs);
    case Format::table:
      break;
  }
  return predict_table(prediction, parts);
}

/// The same job on 1, 2, 4, ... GPUs up to its own number; numbers that do not fill nodes are left out.
std::vector<Prediction> scaling_points(Session& session, PredictOptions options, const Prediction& whole) {
  std::vector<Prediction> points;
  options.detail = false;
  options.nodes.reset();
  options.devices.clear();
  for (int gpus = 1; gpus < whole.gpus; gpus *= 2) {
    options.gpus = gpus;
    if (auto point = predict(session, options)) points.push_back(std::move(*point));
  }
  if (!points.empty()) points.push_back(whole);
  return points;
}

/// What is asked of single kernels and calls, where layers of each class stand for all.
Errors asked_of_kernels(const PredictArguments& arguments) {
  const std::pair<const char*, bool> kAsked[] = {{"--kernels", arguments.kernels},
                                                 {"--links", arguments.links},
                                                 {"--host", arguments.host},
                                                 {"--trace", !arguments.trace.empty()},
                                                 {"--profiling", arguments.profiling}};
  Errors errors;
  for (const auto& [flag, asked] : kAsked)
    if (asked)
      errors.push_back({fmt::format(
          "{}: this step is simulated layer by layer (a divided network, sharded states, a stack made for these), which keeps no "
          "kernels and calls of the whole; --layers tells its operators, the table what travels along each axis",
          flag)});
  return errors;
}

}  // namespace

Result<Answer> answer(const PredictArguments& arguments, Session& session) {
  if (const auto priced = session_with_prices(session, arguments.prices)) return answer(arguments, *priced);
  if (arguments.epochs && !arguments.samples) return fail("--epochs needs --samples, the size of the data set");
  if ((arguments.skip || arguments.iterations) && !arguments.profiling)
    return fail("--skip and --iterations need --profiling, which they are about");
  if (!arguments.trace.empty() && arguments.trace == arguments.report) return fail("--trace and --report name the same file");
  const int tables = arguments.layers + arguments.kernels + arguments.links + arguments.host + (arguments.samples ? 1 : 0);
  if (arguments.format == Format::csv && (tables > 1 || arguments.profiling))
    return fail(
        arguments.profiling
            ? "--profiling has no CSV table: ask for --format json"
            : "--layers, --kernels, --links, --host and --samples have a CSV table each: ask for one, or for --format json");
  PredictOptions options = arguments.options;
  options.detail = arguments.profiling || arguments.layers || arguments.kernels || arguments.links || arguments.host ||
                   !arguments.trace.empty() || !arguments.report.empty();
  auto prediction = predict(session, options);
  if (!prediction) return tl::make_unexpected(prediction.error());
  if (prediction->by_layers)
    if (Errors errors = asked_of_kernels(arguments); !errors.empty()) return tl::make_unexpected(std::move(errors));
  if (std::string hint = memory_hint(session, options, *prediction); !hint.empty())
    prediction->notices.push_back(std::move(hint));
  const std::vector<std::string> inputs{prediction->hardware_file, prediction->workload_file, prediction->stack_file};
  if (!arguments.trace.empty()) {
    const OutputFile file{arguments.trace, std::string(kTraceMark), inputs};
    if (const auto written = file.write(chrome_trace(*prediction)); !written) return tl::make_unexpected(written.error());
  }
  PredictParts parts{arguments.layers, arguments.kernels, arguments.links, std::nullopt, std::nullopt, arguments.host};
  if (arguments.profiling) {
    ProfilingPlan plan;
    plan.skip = arguments.skip.value_or(plan.skip);
    plan.iterations = arguments.iterations.value_or(plan.iterations);
    const auto cost = profiling_cost(session, options, *prediction, plan);
    if (!cost) return tl::make_unexpected(cost.error());
    parts.profiling = *cost;
  }
  auto change = network_change(session, options, *prediction);
  if (!change) return tl::make_unexpected(change.error());
  parts.change = std::move(*change);
  if (arguments.samples) parts.epochs = estimate_epochs(*prediction, *arguments.samples, arguments.epochs.value_or(1));
  if (!arguments.report.empty()) {
    const std::string page = html_report(*prediction, parts, scaling_points(session, options, *prediction));
    const OutputFile file{arguments.report, std::string(kHtmlMark), inputs};
    if (const auto written = file.write(page); !written) return tl::make_unexpected(written.error());
  }
  return Answer{formatted(arguments.format, *prediction, parts), prediction->notices};
}

int run(const PredictArguments& arguments, const Catalogue& catalogue) {
  return deliver(answer(arguments, *open_session(catalogue)));
}

}  // namespace tbdsim
