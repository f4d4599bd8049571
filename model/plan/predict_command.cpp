#include "model/plan/predict_command.hpp"

#include <fmt/format.h>

#include <optional>

namespace tbdsim::plan {

std::string predict_command(const PredictOptions& options) {
  std::string command = "tbdsim predict";
  const auto text = [&](const char* flag, const std::string& value) {
    if (value.empty()) return;
    const bool plain = value.find_first_of(" '\"$&|;<>()*?[]{}#~!`\\") == std::string::npos;
    command += fmt::format(" --{} {}", flag, plain ? value : "'" + value + "'");
  };
  const auto number = [&](const char* flag, const std::optional<int>& value) {
    if (value) command += fmt::format(" --{} {}", flag, *value);
  };
  text("hw", options.hardware);
  text("model", options.model);
  text("stack", options.stack);
  number("gpus", options.gpus);
  number("nodes", options.nodes);
  text("network", options.network);
  number("batch", options.batch);
  number("seq-len", options.seq_len);
  text("precision", options.precision);
  text("optimizer", options.optimizer);
  text("recompute", options.recompute);
  number("tensor-parallel", options.tensor_parallel);
  text("sequence-parallel", options.sequence_parallel);
  number("context-parallel", options.context_parallel);
  number("expert-parallel", options.expert_parallel);
  number("expert-tensor-parallel", options.expert_tensor_parallel);
  number("pipeline-parallel", options.pipeline_parallel);
  number("virtual-stages", options.virtual_stages);
  text("schedule", options.schedule);
  number("first-stage-layers", options.first_stage_layers);
  number("last-stage-layers", options.last_stage_layers);
  text("stage-layers", options.stage_layers);
  number("zero", options.zero);
  text("offload", options.offload);
  text("offload-share", options.offload_share);
  number("offload-layers", options.offload_layers);
  text("attention", options.attention);
  number("global-batch", options.global_batch);
  for (const std::string& assignment : options.set) text("set", assignment);
  return command;
}

}  // namespace tbdsim::plan
