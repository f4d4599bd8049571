#pragma once
#include "model/configuration/study_grid.hpp"

namespace tbdsim {

class Session;

/// Every hardware, network, stack and interconnect name of a grid that cannot be read, and every file of a network, of a
/// framework's settings or of multipliers, so that a slip of the pen ends a study before it begins. Whether they go together is a
/// matter of each point. Empty: all can.
[[nodiscard]] Errors unknown_names(Session& session, const StudyGrid& grid);

}  // namespace tbdsim
