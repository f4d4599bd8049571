#pragma once
#include <string>
#include <string_view>

#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// How a framework runs stages of a pipeline.
struct PipelineSettings {
  bool blocking_hops = false;  ///< a stage waits until what it sends has arrived
  bool scatters_hops = false;  ///< GPUs of the tensor axis that all have the same rows send a share of them each, gathered behind
  std::string schedules{};     ///< that it has, between blanks; empty: all
  [[nodiscard]] bool has(std::string_view schedule) const;
};

/// Its keys of a [parallel] table.
[[nodiscard]] PipelineSettings read_pipeline_settings(TomlTable& table);

}  // namespace tbdsim
