#include "model/cli/command.hpp"
#include "model/cli/output.hpp"
#include "model/report/network_report.hpp"

namespace tbdsim {

int run(const NetworkArguments& arguments, const Catalogue& catalogue) {
  const auto session = open_session(catalogue);
  const auto profile = profile_network(*session, {arguments.options, arguments.target.value_or(0.9)});
  if (!profile) return report(profile.error());
  report_notices(profile->job.notices);
  switch (arguments.format) {
    case Format::json:
      return write_result(network_json(*profile));
    case Format::csv:
      return write_result(network_csv(*profile));
    case Format::table:
      break;
  }
  return write_result(network_table(*profile, arguments.top.value_or(20)));
}

}  // namespace tbdsim
