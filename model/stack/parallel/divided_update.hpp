#pragma once
#include "model/input/toml_reader.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// How the weights of a divided network are updated and reach the ranks.
struct DividedUpdate {
  bool clips = true;             ///< gradients are read for their norm and scaled before
  Bytes moves{0.0};              ///< for each parameter; 0: as [update] says
  bool overlaps_gather = false;  ///< updated weights are gathered while the next forward runs
  bool broadcasts = false;       ///< each rank broadcasts the part that it has updated, one after the other
};

/// Its keys of a [parallel] table.
[[nodiscard]] DividedUpdate read_divided_update(TomlTable& table);

}  // namespace tbdsim
