#include "model/analysis/session.hpp"
#include "model/cli/command.hpp"
#include "model/cli/output.hpp"
#include "model/report/scale_report.hpp"

namespace tbdsim {

int run(const ScaleArguments& arguments, const Catalogue& catalogue) {
  if (arguments.weak && arguments.fixed_global_batch)
    return report(
        {Error{"--weak and --fixed-global-batch exclude each other: one grows the data set, the other keeps the batch"}});
  ScaleOptions options{arguments.options, arguments.gpus, arguments.nodes, arguments.samples.value_or(0), Scaling::strong};
  if (arguments.weak) options.scaling = Scaling::weak;
  if (arguments.fixed_global_batch) options.scaling = Scaling::fixed_global_batch;
  const auto session = open_session(catalogue);
  const auto study = scale(*session, options);
  if (!study) return report(study.error());
  report_notices(study->notices);
  switch (arguments.format) {
    case Format::json:
      return write_result(scale_json(*study));
    case Format::csv:
      return write_result(scale_csv(*study));
    case Format::table:
      break;
  }
  return write_result(scale_table(*study));
}

}  // namespace tbdsim
