#pragma once
#include <string>
#include <vector>

#include "model/survey/collective_survey.hpp"
#include "model/survey/topology_survey.hpp"

namespace tbdsim {

/// What was asked of transfers inside a node: the ways of one, or several at once; or nothing.
struct Transfers {
  std::vector<TransferWay> ways;
  std::vector<SharedTransfer> together;
};

/// The pair matrix as `nvidia-smi topo -m` draws it, relays of GPUs that are not linked, rings and their bandwidth,
/// what copies of pairs reach, then the transfers asked for, if any.
[[nodiscard]] std::string topology_table(const TopologySurvey& survey, const Transfers& transfers);

/// One object of schema "tbdsim.topology/1", with the rows of a collective where one was asked for.
[[nodiscard]] std::string topology_json(const TopologySurvey& survey, const Transfers& transfers,
                                        const CollectiveSurvey* collective);

/// Times and bandwidths of a collective by size, as nccl-tests prints them.
[[nodiscard]] std::string collective_table(const CollectiveSurvey& survey);
[[nodiscard]] std::string collective_csv(const CollectiveSurvey& survey);

/// One row per ordered pair of GPUs.
[[nodiscard]] std::string topology_csv(const TopologySurvey& survey);

}  // namespace tbdsim
