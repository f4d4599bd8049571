#pragma once
#include <string>
#include <vector>

#include "model/configuration/configuration.hpp"
#include "model/configuration/framework_arguments/framework.hpp"

namespace tbdsim {

/// A job as the settings of a framework.
struct FrameworkArguments {
  std::string text;               ///< as the framework reads them, one a line
  std::vector<std::string> lost;  ///< options of the job that it has no setting for, such as "--zero 2"
  int gpus = 1, nodes = 1;        ///< to start it on
};

/// Writes a job's layout, batches, precision, recomputation and exchange as settings. What the framework does where it is told
/// nothing is left out. The network, its data and its training schedule are the user's to add.
[[nodiscard]] FrameworkArguments framework_arguments(const TrainingFramework& framework, const Configuration& job);

/// What a job's options are by name, as far as a framework may have settings for them: ("tensor-parallel", "8").
[[nodiscard]] std::vector<std::pair<std::string, std::string>> layout_values(const Configuration& job);

/// Values of the stack's [parallel] table that a framework may set, as text by key.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> parallel_values(const ParallelSettings& parallel);

}  // namespace tbdsim
