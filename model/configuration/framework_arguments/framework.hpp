#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/support/result.hpp"

namespace tbdsim {

/// How a framework's settings are written: `--key value`, TOML, JSON, `key=value`.
enum class SettingsForm { arguments, toml, json, overrides };

/// What the value of a setting is.
enum class SettingRule {
  value,            ///< the option's own
  factor,           ///< of the number of GPUs: nodes, GPUs of each
  sharded_copies,   ///< copies of the network over which states are divided; -1: all that are left
  replicas,         ///< of these copies
  keeps_gathered,   ///< weights that they divide stay gathered from forward to backward
  layers,           ///< of the network, for `layers_per_part`
  layers_per_part,  ///< of what one GPU has several of in a pipeline
  first_counts,     ///< the table of words counts as a layer of the first stage
  last_counts,      ///< the head counts as one of the last
};

/// (theirs, ours): "full", "layer". Theirs `*`: any other value; ours `*`: as theirs; ours empty: it says nothing.
using SettingValues = std::vector<std::pair<std::string, std::string>>;

/// One setting of a framework and what it means here: an option of the job, a value of the stack's [parallel] table, or
/// something that changes the cost and is not modelled. Several rows may share a key, each with values of its own, and several an
/// option, of which the first that is stated holds.
struct SettingRow {
  std::string key;                ///< "tensor-model-parallel-size", "parallelism.tensor_parallel_degree"
  std::vector<std::string> also;  ///< other names of it, of other releases
  std::string option;             ///< without its dashes; empty: none
  std::string parallel;           ///< key of the stack's [parallel] table; empty: none
  SettingRule rule = SettingRule::value;
  bool flag = false;                            ///< true where it stands, without a value
  SettingValues values;                         ///< empty: ours is theirs
  double each = 0.0;                            ///< bytes that a unit of the value stands for; 0: it is no size
  std::optional<std::string> absent;            ///< theirs, which holds where it is not stated
  std::pair<std::string, std::string> when;     ///< only beside this setting with this value; empty: always
  std::pair<std::string, std::string> against;  ///< beside this setting with this value the framework refuses it; empty: none
  SettingValues beside;                         ///< settings that are written with it
  bool written = true;                          ///< false: read only, for older releases
  std::string unmodelled;             ///< what it changes that is not modelled, with any value or one of `values`; empty: it is
  std::vector<std::string> harmless;  ///< values with which it does not
};

/// A training framework as hardware/frameworks/*.toml describes it.
struct TrainingFramework {
  std::string name;   ///< "megatron"
  std::string title;  ///< "Megatron-LM"
  std::string stack;  ///< where the user names none
  SettingsForm form = SettingsForm::arguments;
  std::vector<SettingRow> rows;
  std::vector<std::string> network;  ///< settings that describe the network, which `--model` names; `x*`: all that begin so
  std::vector<std::string> no_cost;  ///< settings that do not change the cost of a step
  bool divides_layers = false;       ///< layers have to divide over the parts of an interleaved pipeline
  SettingValues unsaid;              ///< (option, value) that it has no setting for and needs none; value `*`: any
  std::string source;
};

/// Keys compare without case, `_` as `-`, and without the prefixes that launchers put before them.
[[nodiscard]] std::string folded_key(std::string_view key);
/// Whether a list of keys, some ending in `*`, holds a folded key.
[[nodiscard]] bool lists_key(const std::vector<std::string>& list, std::string_view folded);

/// Errors: no such framework (with those there are), or all problems of its file.
[[nodiscard]] Result<TrainingFramework> load_framework(const std::string& root, const std::string& name);
/// All of the catalogue, by name. Errors: of all files.
[[nodiscard]] Result<std::vector<TrainingFramework>> load_frameworks(const std::string& root);

}  // namespace tbdsim
