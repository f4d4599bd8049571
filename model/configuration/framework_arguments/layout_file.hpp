#pragma once
#include <optional>
#include <string>
#include <vector>

#include "model/configuration/framework_arguments/framework.hpp"
#include "model/configuration/framework_arguments/settings_file.hpp"
#include "model/configuration/option_table.hpp"

namespace tbdsim {

/// An option of the job that a framework's file states.
struct StatedOption {
  const OptionRow* option = nullptr;
  std::string value;
  std::string key;  ///< of the setting, as the file writes it
  SourceRef where;  ///< line 0: it holds because the file states nothing else
  bool implied = false;
};

/// A value of the stack's [parallel] table that it states, as an assignment of `--set`.
struct StatedSetting {
  std::string assignment;  ///< "stack.parallel.clips=false"
  std::string key;
  bool implied = false;
};

/// What a framework's file says of a job.
struct LayoutFile {
  std::string file, sha256;
  std::string framework, title;
  std::string stack;  ///< of the framework, where the user names none
  std::vector<StatedOption> options;
  std::vector<StatedSetting> parallel;
  std::optional<int> gpus;    ///< it starts on
  std::optional<int> copies;  ///< of the network that it asks for
  std::optional<int> layers;  ///< of its network
  std::optional<int> layers_per_part;
  bool first_counts = false, last_counts = false;  ///< table of words and head count as layers of their stages
  std::vector<std::string> notices;                ///< settings that are not known, or said by `--model`
  Errors unmodelled;                               ///< settings that change the cost and are not modelled, each with its place
};

/// Reads a file of settings by the framework that knows most of them. Errors: a file that cannot be read, of no framework; values
/// that a setting does not take, with place and those it does.
[[nodiscard]] Result<LayoutFile> read_layout_file(const std::string& root, const std::string& path);

/// The same of settings of one framework; `file` is what messages call theirs.
[[nodiscard]] Result<LayoutFile> translate(const TrainingFramework& framework, const std::vector<Setting>& settings,
                                           const std::string& file);

}  // namespace tbdsim
