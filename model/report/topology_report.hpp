#pragma once
#include <string>
#include <vector>

#include "model/analysis/topology_survey.hpp"

namespace tbdsim {

/// The pair matrix as `nvidia-smi topo -m` draws it, relays of GPUs that are not linked, rings and their bandwidth,
/// then the ways of one transfer, if any.
[[nodiscard]] std::string topology_table(const TopologySurvey& survey, const std::vector<TransferWay>& ways);

/// One object of schema "tbdsim.topology/1".
[[nodiscard]] std::string topology_json(const TopologySurvey& survey, const std::vector<TransferWay>& ways);

/// One row per ordered pair of GPUs.
[[nodiscard]] std::string topology_csv(const TopologySurvey& survey);

}  // namespace tbdsim
