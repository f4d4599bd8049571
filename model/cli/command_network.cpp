#include "model/cli/command.hpp"
#include "model/cli/output.hpp"
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

}  // namespace

Result<Answer> answer(const NetworkArguments& arguments, Session& session) {
  if (arguments.top && arguments.format != Format::table) return fail("--top: csv and json hold every array");
  return profile_network(session, {arguments.options, arguments.target.value_or(0.9)}).map([&](const NetworkProfile& profile) {
    return Answer{formatted(arguments, profile), profile.job.notices};
  });
}

int run(const NetworkArguments& arguments, const Catalogue& catalogue) {
  return deliver(answer(arguments, *open_session(catalogue)));
}

}  // namespace tbdsim
