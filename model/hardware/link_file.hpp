#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/hardware/topology.hpp"
#include "model/input/toml_reader.hpp"

namespace tbdsim {

/// Reads every [link.NAME] table of `root` and adds its wires to `topology`, whose vertices are there already. An end
/// that is no vertex is a problem of the file, with the nearest name as suggestion.
/// False if a wire was refused, so that who lacks links cannot be told.
bool read_links(TomlTable& root, Topology& topology, bool peer_access);

/// The link types of [link.NAME] tables, without wires: the bundle of each has no ends.
[[nodiscard]] std::vector<LinkBundle> read_link_types(TomlTable& root, bool peer_access);

/// A copy of `type` between two vertices.
[[nodiscard]] LinkBundle wire(const LinkBundle& type, const Topology& topology, VertexId a, VertexId b, int count = 1);

}  // namespace tbdsim
