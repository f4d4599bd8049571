#include "model/cli/command.hpp"
#include "model/cli/output.hpp"
#include "model/report/axis_report.hpp"
#include "model/report/network_report.hpp"

namespace tbdsim {
namespace {

std::string formatted(const NetworkArguments& arguments, const NetworkProfile& profile) {
  switch (arguments.format) {
    case Format::json:
      return network_json(profile);
    case Format::csv:
      return network_csv(profile);
    case Format::table:
      break;
  }
  return network_table(profile, arguments.top.value_or(20));
}

std::string formatted(Format format, const AxisProfile& profile) {
  return format == Format::json ? axes_json(profile) : format == Format::csv ? axes_csv(profile) : axes_table(profile);
}

}  // namespace

Result<Answer> answer(const NetworkArguments& arguments, Session& session) {
  if (arguments.top && arguments.format != Format::table) return fail("--top: csv and json hold every array");
  const NetworkOptions asked{arguments.options, arguments.target.value_or(0.9)};
  const auto axes = profile_axes(session, asked);
  if (!axes) return tl::make_unexpected(axes.error());
  if (*axes) {
    if (arguments.top) return fail("--top: of arrays; the step of this job is simulated layer by layer, and its axes are few");
    return with_page(
        arguments.report, "network", [&] { return axes_json(**axes); },
        Answer{formatted(arguments.format, **axes), (*axes)->predicted.notices});
  }
  return profile_network(session, asked).and_then([&](const NetworkProfile& profile) {
    return with_page(
        arguments.report, "network", [&] { return network_json(profile); },
        Answer{formatted(arguments, profile), profile.predicted.notices});
  });
}

int run(const NetworkArguments& arguments, const Catalogue& catalogue) {
  return deliver(answer(arguments, *open_session(catalogue)));
}

}  // namespace tbdsim
