#include "model/memory/planner_mxnet.hpp"

#include <algorithm>
#include <map>

namespace tbdsim {
namespace {

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

class Planner {
 public:
  Planner(const PlanGraph& graph, StoragePlan& plan) : graph_(graph), plan_(plan), readers_(graph.entries.size(), 0) {
    plan_.storage.assign(graph.entries.size(), kNone);
    for (const std::int32_t node : plan_.order)
      for (const std::int32_t entry : graph.nodes[index(node)].inputs) ++readers_[index(entry)];
    for (const std::int32_t head : graph.heads) ++readers_[index(head)];
  }

  void run() {
    for (const std::int32_t id : plan_.order) {
      const PlanNode& node = graph_.nodes[index(id)];
      reuse_inputs(node);
      request_outputs(node);
      release(node);
      ++position_;
    }
    for (std::size_t block = 0; block < occupant_.size(); ++block)
      if (references_[block] > 0) end_occupancy(static_cast<std::int32_t>(block), position_);
  }

 private:
  static constexpr std::int32_t kNone = -1;
  static constexpr double kMatchRange = 16.0;  // NNVM_EXEC_MATCH_RANGE

  void reuse_inputs(const PlanNode& node) {
    taken_.assign(node.inputs.size(), false);
    for (const InplacePair& pair : node.inplace) {
      const std::int32_t in = node.inputs[index(pair.input)], out = node.first_output + pair.output;
      const std::int32_t block = plan_.storage[index(in)];
      const PlanEntry& made = graph_.entries[index(out)];
      if (taken_[index(pair.input)] || block == kNone || plan_.storage[index(out)] != kNone || made.external) continue;
      if (!(references_[index(block)] == 1 || pair.identity) || readers_[index(out)] == 0) continue;
      if (made.bytes != graph_.entries[index(in)].bytes) continue;
      taken_[index(pair.input)] = true;
      plan_.storage[index(out)] = block;
      references_[index(block)] += readers_[index(out)];
      end_occupancy(block, position_);
      begin_occupancy(block, out);
    }
  }

  /// Largest first; of equal ones the last.
  void request_outputs(const PlanNode& node) {
    wanted_.clear();
    for (std::int32_t out = node.first_output; out < node.first_output + node.outputs; ++out)
      if (plan_.storage[index(out)] == kNone && !graph_.entries[index(out)].external) wanted_.push_back(out);
    std::stable_sort(wanted_.begin(), wanted_.end(), [&](std::int32_t a, std::int32_t b) {
      return graph_.entries[index(a)].bytes < graph_.entries[index(b)].bytes;
    });
    for (auto out = wanted_.rbegin(); out != wanted_.rend(); ++out) {
      const std::int32_t block = request(graph_.entries[index(*out)].bytes);
      plan_.storage[index(*out)] = block;
      references_[index(block)] = readers_[index(*out)];
      begin_occupancy(block, *out);
    }
  }

  std::int32_t request(Bytes bytes) {
    auto found = free_.lower_bound(bytes);
    if (found == free_.end() || found->first > bytes * kMatchRange) {
      if (found == free_.begin() || std::prev(found)->first < bytes / kMatchRange) {
        plan_.blocks.push_back(bytes);
        references_.push_back(0);
        occupant_.push_back(kNone);
        return static_cast<std::int32_t>(plan_.blocks.size()) - 1;
      }
      --found;
    }
    const std::int32_t block = found->second;
    free_.erase(found);
    plan_.blocks[index(block)] = std::max(plan_.blocks[index(block)], bytes);
    return block;
  }

  void release(const PlanNode& node) {
    for (const std::int32_t in : node.inputs) {
      const std::int32_t block = plan_.storage[index(in)];
      if (block != kNone && --references_[index(block)] == 0) give_back(block);
    }
    for (std::int32_t out = node.first_output; out < node.first_output + node.outputs; ++out) {
      const std::int32_t block = plan_.storage[index(out)];
      if (block != kNone && references_[index(block)] == 0 && occupant_[index(block)] != kNone) give_back(block);
    }
  }

  void give_back(std::int32_t block) {
    end_occupancy(block, position_ + 1);
    free_.emplace(plan_.blocks[index(block)], block);
  }

  void begin_occupancy(std::int32_t block, std::int32_t entry) {
    const PlanEntry& made = graph_.entries[index(entry)];
    occupant_[index(block)] = static_cast<std::int32_t>(plan_.lifetimes.size());
    plan_.lifetimes.push_back({made.bytes, made.part, made.op, position_, position_});
  }

  void end_occupancy(std::int32_t block, std::int32_t position) {
    plan_.lifetimes[index(occupant_[index(block)])].death = position;
    occupant_[index(block)] = kNone;
  }

  const PlanGraph& graph_;
  StoragePlan& plan_;
  std::vector<std::int32_t> readers_;        ///< of each entry
  std::vector<std::int32_t> references_;     ///< of each block: reads to come
  std::vector<std::int32_t> occupant_;       ///< of each block: its lifetime, none when free
  std::multimap<Bytes, std::int32_t> free_;  ///< equal sizes in the order in which they were returned
  std::vector<std::int32_t> wanted_;
  std::vector<bool> taken_;
  std::int32_t position_ = 0;
};

}  // namespace

std::int32_t PlanGraph::add(PlanNode node, std::span<const PlanEntry> made) {
  node.first_output = static_cast<std::int32_t>(entries.size());
  node.outputs = static_cast<std::int32_t>(made.size());
  entries.insert(entries.end(), made.begin(), made.end());
  producer.resize(entries.size(), static_cast<std::int32_t>(nodes.size()));
  nodes.push_back(std::move(node));
  return nodes.back().first_output;
}

Bytes StoragePlan::total() const {
  Bytes sum;
  for (const Bytes block : blocks) sum += block;
  return sum;
}

std::vector<std::int32_t> execution_order(const PlanGraph& graph) {
  struct Visit {
    std::int32_t node;
    std::size_t next;
  };
  std::vector<std::int32_t> order;
  order.reserve(graph.nodes.size());
  std::vector<bool> seen(graph.nodes.size(), false);
  std::vector<Visit> stack;
  const auto enter = [&](std::int32_t node) {
    if (node < 0 || seen[index(node)]) return;
    seen[index(node)] = true;
    stack.push_back({node, 0});
  };
  for (const std::int32_t head : graph.heads) {
    enter(graph.producer[index(head)]);
    while (!stack.empty()) {
      Visit& visit = stack.back();
      const PlanNode& node = graph.nodes[index(visit.node)];
      const std::size_t next = visit.next++;
      if (next < node.inputs.size()) {
        enter(graph.producer[index(node.inputs[next])]);
      } else if (next == node.inputs.size()) {
        enter(node.after);
      } else {
        order.push_back(visit.node);
        stack.pop_back();
      }
    }
  }
  return order;
}

StoragePlan plan_storage(const PlanGraph& graph) {
  StoragePlan plan;
  plan.order = execution_order(graph);
  Planner(graph, plan).run();
  return plan;
}

}  // namespace tbdsim
