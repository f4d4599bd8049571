#include "model/cli/framework_settings.hpp"

#include <fmt/format.h>

#include "model/configuration/configure.hpp"
#include "model/configuration/framework_arguments/apply_layout_file.hpp"
#include "model/configuration/framework_arguments/settings_file.hpp"
#include "model/configuration/framework_arguments/write_arguments.hpp"

namespace tbdsim {
namespace {

/// What the settings alone say of the job, on the same GPUs and with the changes of input files, by a stack.
Result<Prediction> read_back(Session& session, const TrainingFramework& framework, const std::string& stack,
                             const PredictOptions& written, const std::string& text) {
  const std::string name = framework.form == SettingsForm::json   ? "settings.json"
                           : framework.form == SettingsForm::toml ? "settings.toml"
                                                                  : "settings.txt";
  const auto settings = read_settings(text, name);
  if (!settings) return tl::make_unexpected(settings.error());
  const auto file = translate(framework, *settings, name);
  if (!file) return tl::make_unexpected(file.error());
  PredictOptions job;
  job.hardware = written.hardware;
  job.model = written.model;
  job.network = written.network;
  job.gpus = written.gpus;
  job.nodes = written.nodes;
  job.seq_len = written.seq_len;
  job.set = written.set;
  job.stack = stack;
  job.layout_from = name;
  job.unmodelled = "allow";
  const auto filled = fill_from(session, *file, job);
  if (!filled) return tl::make_unexpected(filled.error());
  return predict(session, filled->options);
}

}  // namespace

Result<FrameworkSettings> framework_settings(Session& session, const PredictOptions& options, const std::string& framework,
                                             bool reads_back) {
  const auto named = load_framework(session.catalogue().root, framework);
  if (!named) return tl::make_unexpected(named.error());
  const auto job = configure(session, options);
  if (!job) return tl::make_unexpected(job.error());
  const FrameworkArguments written = framework_arguments(*named, *job);
  FrameworkSettings settings{{written.text, job->notices}, named->title, written.lost, named->stack, {}};
  std::vector<std::string>& notices = settings.answer.notices;
  notices.push_back(fmt::format("to start on {} GPU(s) of {} node(s); network, data and training schedule are yours to add",
                                written.gpus, written.nodes));
  if (!written.lost.empty())
    notices.push_back(fmt::format("{} has no setting for {}", named->title, fmt::join(written.lost, ", ")));
  if (job->stack.id != named->stack)
    notices.push_back(
        fmt::format("the settings name no stack, and --layout-from reads them as those of {}; --stack {} beside it "
                    "names this one",
                    named->stack, job->stack.id));
  // The frameworks' own stacks are of NVIDIA's GPUs; on others the job's stack reads its settings.
  if (job->hardware().device.vendor != Vendor::nvidia) settings.stack = job->stack.id;
  if (reads_back) settings.read_back = read_back(session, *named, settings.stack, options, written.text);
  return settings;
}

}  // namespace tbdsim
