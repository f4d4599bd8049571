#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "model/hardware/topology.hpp"

namespace tbdsim {

/// Answers many questions about one topology, which is indexed once and must outlive it. A question costs what lies between the
/// two vertices, not what else hangs on them. Not to be shared between threads.
class RouteFinder {
 public:
  explicit RouteFinder(const Topology& topology);

  [[nodiscard]] const Topology& topology() const { return topology_; }
  /// As `find_route`.
  [[nodiscard]] std::optional<Route> find(VertexId a, VertexId b, Via via = Via::any);
  /// As `relation`.
  [[nodiscard]] PairRelation relation(VertexId a, VertexId b);
  /// `relation` to each of `others`, by one search; that to `a` itself is empty.
  [[nodiscard]] std::vector<PairRelation> relations(VertexId a, const std::vector<VertexId>& others);

 private:
  struct Edge {
    std::int32_t to = 0, link = 0;
  };
  /// Edges of every vertex, one after the other, in the order of the links.
  struct Edges {
    std::vector<std::size_t> begin;
    std::vector<Edge> all;
  };
  /// How far a vertex is from the start, and the widest of the shortest ways to it.
  struct Reach {
    std::int32_t search = 0, hops = 0, before = 0;
    double width = 0.0;  ///< B/s
  };

  const Topology& topology_;
  Edges any_, gpu_, host_;            ///< all links; those between GPUs and their switches; all others
  Edges through_gpu_, through_host_;  ///< of the last two, to vertices through which a way may go on that holds no GPU inside
  std::vector<Reach> reach_;
  std::int32_t search_ = 0;
  std::vector<std::int32_t> at_, next_;

  template <class Keep>
  [[nodiscard]] Edges edges(const Keep& keep) const;
  [[nodiscard]] Edges passable(const Edges& edges) const;
  [[nodiscard]] static const Edge* first(const Edges& edges, std::int32_t v);
  [[nodiscard]] static const Edge* last(const Edges& edges, std::int32_t v);
  [[nodiscard]] double width(std::int32_t link) const;
  [[nodiscard]] bool is_gpu(std::int32_t v) const;
  /// Goes from `a` until `b` is reached, or everywhere.
  void search(VertexId a, std::optional<VertexId> b, Via via);
  void step(std::int32_t from, const Edge& edge);
  [[nodiscard]] bool reached(VertexId v) const;
  [[nodiscard]] Route route_to(VertexId a, VertexId b, Via via) const;
  [[nodiscard]] std::int32_t widest_between(const Edges& edges, std::int32_t u, std::int32_t v) const;
  [[nodiscard]] int links_between(std::int32_t u, std::int32_t v) const;
  [[nodiscard]] PairRelation linked(VertexId a, VertexId b) const;
  void add_host_way(const Route& route, PairRelation& pair) const;
  [[nodiscard]] int gpu_hops(const Route& route) const;
};

}  // namespace tbdsim
