#include "model/cli/framework_settings.hpp"

#include <fmt/format.h>

#include "model/configuration/configure.hpp"
#include "model/configuration/framework_arguments/write_arguments.hpp"

namespace tbdsim {

Result<Answer> framework_settings(Session& session, const PredictOptions& options, const std::string& framework) {
  const auto named = load_framework(session.catalogue().root, framework);
  if (!named) return tl::make_unexpected(named.error());
  const auto job = configure(session, options);
  if (!job) return tl::make_unexpected(job.error());
  const FrameworkArguments written = framework_arguments(*named, *job);
  Answer answer{written.text, job->notices};
  answer.notices.push_back(fmt::format(
      "to start on {} GPU(s) of {} node(s); network, data and training schedule are yours to add", written.gpus, written.nodes));
  if (!written.lost.empty())
    answer.notices.push_back(fmt::format("{} has no setting for {}", named->title, fmt::join(written.lost, ", ")));
  return answer;
}

}  // namespace tbdsim
