#include <fmt/format.h>

#include <algorithm>

#include "model/cli/command.hpp"
#include "model/cli/framework_settings.hpp"
#include "model/cli/output.hpp"
#include "model/configuration/configure.hpp"
#include "model/configuration/framework_arguments/apply_layout_file.hpp"
#include "model/configuration/network_notices.hpp"
#include "model/input/output_file.hpp"
#include "model/prediction/memory_hint.hpp"
#include "model/prediction/run/run_estimate.hpp"
#include "model/report/chakra_trace.hpp"
#include "model/report/csv.hpp"
#include "model/report/json.hpp"
#include "model/report/pipeline_trace.hpp"
#include "model/report/predict_page.hpp"
#include "model/report/predict_table.hpp"
#include "model/report/replay_report.hpp"

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
  for (int gpus = 1; gpus < whole.job.gpus; gpus *= 2) {
    options.gpus = gpus;
    if (auto point = predict(session, options)) points.push_back(std::move(*point));
  }
  if (!points.empty()) points.push_back(whole);
  return points;
}

/// Options with a flag that tells whether they were given.
using Given = std::vector<std::pair<const char*, bool>>;

/// Those of a step's prediction, which settings and replayed traces say nothing of.
Given of_step(const PredictArguments& a) {
  return {{"--layers", a.layers},
          {"--kernels", a.kernels},
          {"--links", a.links},
          {"--host", a.host},
          {"--profiling", a.profiling},
          {"--skip", a.skip.has_value()},
          {"--iterations", a.iterations.has_value()},
          {"--samples", a.samples.has_value()},
          {"--epochs", a.epochs.has_value()},
          {"--tokens", a.tokens.has_value()},
          {"--seed", a.options.seed != PredictOptions{}.seed},
          {"--trace", !a.trace.empty()},
          {"--report", a.report.asked()},
          {"--prices", !a.prices.empty()}};
}

/// A problem for each option that was given and says nothing of what is asked.
Errors refused(const Given& options, const char* why) {
  Errors errors;
  for (const auto& [flag, given] : options)
    if (given) errors.push_back({fmt::format("{}: {}", flag, why)});
  return errors;
}

/// Options of how samples are loaded and gradients exchanged, for which no training framework has a setting.
Given unsettled(const PredictOptions& o) {
  return {{"--exchange", !o.exchange.empty() && o.exchange != info(Exchange::allreduce).name},
          {"--input", !o.input.empty()},
          {"--storage", !o.storage.empty()},
          {"--workers", o.workers.has_value()},
          {"--input-hosts", o.input_hosts.has_value()},
          {"--mock-loader", o.mock_loader},
          {"--mock-trainer", o.mock_trainer},
          {"--buckets", o.buckets}};
}

/// Whether the changes of a job leave all that is predicted as it was.
bool without_effect(Session& session, const PredictOptions& options, Prediction changed) {
  if (options.set.empty() || options.run) return false;
  PredictOptions plain = options;
  plain.set.clear();
  plain.detail = false;
  auto before = predict(session, plain);
  if (!before) return false;
  for (Prediction* p : {&*before, &changed}) {
    p->notices.clear();
    p->files = {};
    p->detail = {};
  }
  return predict_json(*before, {}) == predict_json(changed, {});
}

/// Listed rates of the GPU, for the precision of the job.
Result<Roofs> roofs_of(Session& session, const PredictOptions& options) {
  const auto job = configure(session, options);
  if (!job) return tl::make_unexpected(job.error());
  const Device& device = (*job->system)->device;
  const PeakRates& peak = device.peak;
  const auto tensor = [&]() -> std::optional<FlopPerSecond> {
    switch (job->precision) {
      case Precision::fp32:
        return std::nullopt;
      case Precision::tf32:
        return peak.tf32_tensor;
      case Precision::bf16:
        return peak.bf16_tensor;
      case Precision::fp8:
      case Precision::mxfp8:
        return peak.fp8_tensor;
      case Precision::fp16:
      case Precision::amp:
        break;
    }
    return peak.fp16_tensor;
  };
  return Roofs{peak.fp32, tensor(), device.memory_bandwidth};
}

/// The job as settings of a framework, in place of its prediction.
Result<Answer> settings(const PredictArguments& arguments, Session& session) {
  Given more = of_step(arguments);
  more.insert(more.end(), {{"--from-trace", !arguments.from_trace.empty()}, {"--format", arguments.format != Format::table}});
  Errors errors = refused(more, "says nothing of a job's settings; leave it or --as");
  const Errors lost = refused(unsettled(arguments.options), "no training framework has a setting for it; leave it or --as");
  errors.insert(errors.end(), lost.begin(), lost.end());
  if (!errors.empty()) return tl::make_unexpected(std::move(errors));
  return framework_settings(session, arguments.options, arguments.framework).map([](FrameworkSettings settings) {
    return std::move(settings.answer);
  });
}

/// Chrome's JSON, or by the file's ending Chakra's form.
Result<void> write_trace(const std::string& path, const Prediction& prediction, const std::vector<std::string>& inputs) {
  if (!names_chakra(path)) return OutputFile{path, std::string(kTraceMark), inputs}.write(chrome_trace(prediction));
  if (prediction.job.gpus > 1 && prediction.job.exchange != Exchange::allreduce)
    return fail(
        fmt::format("--trace {}: Chakra's form has collectives alone, and gradients are exchanged by {}; use --exchange "
                    "allreduce or write .json",
                    path, info(prediction.job.exchange).name));
  return OutputFile{path, std::string(kChakraMark), inputs}.write(chakra_trace(prediction));
}

/// The measured steps of a trace, in place of the predicted one.
Result<Answer> replayed(const PredictArguments& arguments, Session& session) {
  if (Errors errors = refused(of_step(arguments), "says nothing of a replayed trace; leave it or --from-trace"); !errors.empty())
    return tl::make_unexpected(std::move(errors));
  return replay(session, arguments.options, arguments.from_trace).map([&](const StepReplay& result) {
    switch (arguments.format) {
      case Format::json:
        return Answer{replay_json(result), result.notices};
      case Format::csv:
        return Answer{replay_csv(result), result.notices};
      case Format::table:
        break;
    }
    return Answer{replay_table(result), result.notices};
  });
}

}  // namespace

// Long because every option that adds to the answer has its place in one order.
Result<Answer> answer(const PredictArguments& arguments, Session& session) {
  if (!arguments.framework.empty()) return settings(arguments, session);
  if (!arguments.from_trace.empty()) return replayed(arguments, session);
  if (const auto priced = session_with_prices(session, arguments.prices)) return answer(arguments, *priced);
  if (arguments.epochs && !arguments.samples) return fail("--epochs needs --samples, the size of the data set");
  if ((arguments.skip || arguments.iterations) && !arguments.profiling)
    return fail("--skip and --iterations need --profiling, which they are about");
  if (!arguments.trace.empty() && arguments.trace == arguments.report.path)
    return fail("--trace and --report name the same file");
  const int tables = arguments.layers + arguments.kernels + arguments.links + arguments.host + (arguments.samples ? 1 : 0);
  if (arguments.format == Format::csv && arguments.tokens) return fail("--tokens has no CSV table: ask for --format json");
  if (arguments.format == Format::csv && (tables > 1 || arguments.profiling))
    return fail(
        arguments.profiling
            ? "--profiling has no CSV table: ask for --format json"
            : "--layers, --kernels, --links, --host and --samples have a CSV table each: ask for one, or for --format json");
  PredictOptions options = arguments.options;
  options.run = arguments.tokens.has_value();
  options.detail = arguments.profiling || arguments.layers || arguments.kernels || arguments.links || arguments.host ||
                   !arguments.trace.empty() || arguments.report.asked();
  auto prediction = predict(session, options);
  if (!prediction) return tl::make_unexpected(prediction.error());
  if (prediction->division.by_layers && arguments.profiling)
    return fail(
        "--profiling: reckons with the order of a step's kernels, and of a step that is simulated layer by layer (a divided "
        "network, sharded states, a stack made for these) none is kept; --kernels tells its launches, --trace draws its passes");
  const auto tells = [](const std::string& notice) { return !no_effect_reason(notice).empty(); };
  if (std::none_of(prediction->notices.begin(), prediction->notices.end(), tells) &&
      without_effect(session, options, *prediction))
    prediction->notices.emplace_back("the changed values are without effect on this prediction");
  PredictOptions filled = options;
  if (!options.layout_from.empty())
    if (auto known = fill_from_layout_file(session, options)) filled = std::move(known->options);
  if (std::string hint = memory_hint(session, filled, *prediction); !hint.empty()) prediction->notices.push_back(std::move(hint));
  const std::vector<std::string> inputs{prediction->files.hardware.path, prediction->files.workload.path,
                                        prediction->files.stack.path, prediction->files.layout.path};
  const StepDrawing& drawing = prediction->detail.drawing;
  if ((!arguments.trace.empty() || arguments.report.asked()) && drawing.drawn < drawing.micro_batches)
    prediction->notices.push_back(fmt::format("the timeline draws {}", drawn_text(drawing)));
  if (!arguments.trace.empty()) {
    if (const auto written = write_trace(arguments.trace, *prediction, inputs); !written)
      return tl::make_unexpected(written.error());
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
  auto store = store_cost(session, options, *prediction);
  if (!store) return tl::make_unexpected(store.error());
  parts.store = std::move(*store);
  if (arguments.samples) parts.epochs = estimate_epochs(*prediction, *arguments.samples, arguments.epochs.value_or(1));
  if (arguments.tokens) {
    auto run = estimate_run(session, options, *prediction, *arguments.tokens);
    if (!run) return tl::make_unexpected(run.error());
    parts.run = std::move(*run);
  }
  if (arguments.report.asked()) {
    const auto roofs = roofs_of(session, options);
    if (!roofs) return tl::make_unexpected(roofs.error());
    const std::string data = predict_page_data(*prediction, parts, scaling_points(session, options, *prediction), *roofs);
    if (const auto written = arguments.report.write("predict", data, prediction->notices, inputs); !written)
      return tl::make_unexpected(written.error());
  }
  return Answer{formatted(arguments.format, *prediction, parts), prediction->notices};
}

int run(const PredictArguments& arguments, const Catalogue& catalogue) {
  return deliver(answer(arguments, *open_session(catalogue)));
}

}  // namespace tbdsim
