#include "model/hardware/topology.hpp"

#include <algorithm>
#include <array>

namespace tbdsim {
namespace {

constexpr std::array<std::string_view, 5> kVertexNames = {"gpu", "cpu", "pcie_switch", "nvswitch", "nic"};
constexpr std::array<std::string_view, 7> kLinkNames = {"nvlink", "xgmi", "pcie", "cpu_link", "network", "storage", "internal"};

/// The numbers inside a name, so that gpu10 comes after gpu9.
std::vector<int> numbers_in(std::string_view name) {
  std::vector<int> numbers;
  bool inside = false;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !inside) numbers.push_back(0);
    if (digit) numbers.back() = numbers.back() * 10 + (c - '0');
    inside = digit;
  }
  return numbers;
}

}  // namespace

std::string_view name(VertexKind kind) { return kVertexNames[static_cast<std::size_t>(kind)]; }
std::string_view name(LinkKind kind) { return kLinkNames[static_cast<std::size_t>(kind)]; }

std::optional<LinkKind> parse_link_kind(std::string_view text) {
  const auto found = std::find(kLinkNames.begin(), kLinkNames.end(), text);
  if (found == kLinkNames.end()) return std::nullopt;
  return static_cast<LinkKind>(found - kLinkNames.begin());
}

std::vector<VertexId> Topology::gpus() const {
  std::vector<std::pair<std::vector<int>, VertexId>> found;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (vertices[i].kind == VertexKind::gpu)
      found.emplace_back(numbers_in(vertices[i].name), VertexId{static_cast<std::int32_t>(i)});
  }
  std::sort(found.begin(), found.end());
  std::vector<VertexId> ids;
  ids.reserve(found.size());
  for (const auto& [numbers, id] : found) ids.push_back(id);
  return ids;
}

std::optional<VertexId> Topology::find(std::string_view wanted) const {
  const auto found = std::find_if(vertices.begin(), vertices.end(), [&](const Vertex& vertex) { return vertex.name == wanted; });
  if (found == vertices.end()) return std::nullopt;
  return VertexId{static_cast<std::int32_t>(found - vertices.begin())};
}

}  // namespace tbdsim
