#include "model/analysis/session.hpp"
#include "model/cli/command.hpp"
#include "model/cli/output.hpp"
#include "model/report/scale_report.hpp"

namespace tbdsim {
namespace {

std::string formatted(Format format, const ScaleStudy& study) {
  switch (format) {
    case Format::json:
      return scale_json(study);
    case Format::csv:
      return scale_csv(study);
    case Format::table:
      break;
  }
  return scale_table(study);
}

}  // namespace

Result<Answer> answer(const ScaleArguments& arguments, Session& session) {
  if (arguments.weak && arguments.fixed_global_batch)
    return fail("--weak and --fixed-global-batch exclude each other: one grows the data set, the other keeps the batch");
  ScaleOptions options{arguments.options, arguments.gpus, arguments.nodes, arguments.samples.value_or(0), Scaling::strong};
  if (arguments.weak) options.scaling = Scaling::weak;
  if (arguments.fixed_global_batch) options.scaling = Scaling::fixed_global_batch;
  return scale(session, options).map([&](const ScaleStudy& study) {
    return Answer{formatted(arguments.format, study), study.notices};
  });
}

int run(const ScaleArguments& arguments, const Catalogue& catalogue) {
  return deliver(answer(arguments, *open_session(catalogue)));
}

}  // namespace tbdsim
