#include "model/memory/blob_plan.hpp"

#include <algorithm>
#include <cstdint>

namespace tbdsim {
namespace {

constexpr std::int32_t kNone = -1;

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Operators by number, a bit each.
class OpSet {
 public:
  explicit OpSet(std::size_t operators) : words_((operators + kBits - 1) / kBits) {}
  void insert(OpId id) { words_[index(id.value) / kBits] |= std::uint64_t{1} << (index(id.value) % kBits); }
  void insert(const OpSet& all) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= all.words_[i];
  }
  [[nodiscard]] bool holds(OpId id) const { return (words_[index(id.value) / kBits] >> (index(id.value) % kBits) & 1U) != 0; }

 private:
  static constexpr std::size_t kBits = 64;
  std::vector<std::uint64_t> words_;
};

bool is_view(const Op& op) { return info(op.kind).view == ViewRule::always; }

class Planner {
 public:
  Planner(const OpGraph& graph, double batch, Bytes element) : graph_(graph), batch_(batch), element_(element) {
    parts_.resize(graph.tensors.size());
    before_.assign(graph.ops.size(), OpSet(graph.ops.size()));
  }

  std::vector<Blob> run() {
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) forward(OpId{static_cast<std::int32_t>(i)});
    for (std::size_t i = graph_.ops.size(); i-- > 0;) backward(OpId{static_cast<std::int32_t>(i)});
    for (const Shared& s : shared_) blobs_.push_back(s.blob);
    return std::move(blobs_);
  }

 private:
  /// An array for gradients.
  struct Shared {
    Blob blob;
    int holders = 0;          ///< gradients that are in it and still needed
    int uses = 0;             ///< gradients that were ever in it
    std::vector<OpId> users;  ///< operators that wrote or read it
  };

  [[nodiscard]] Bytes size(TensorId tensor) const {
    return batch_ * static_cast<double>(elements(graph_.tensor(tensor).shape)) * element_;
  }

  void forward(OpId id) {
    const Op& op = graph_.op(id);
    if (op.kind == OpKind::input) return;
    if (is_loss(op.kind)) blobs_.push_back({size(op.inputs.front()), MemoryPart::feature_maps, id});
    if (!op.inplace && !is_view(op)) blobs_.push_back({size(op.output), MemoryPart::feature_maps, id});
  }

  /// Whether Caffe2 computes a gradient of `tensor`, read by an operator that has a backward pass.
  [[nodiscard]] bool wanted(TensorId tensor) const { return graph_.op(graph_.tensor(tensor).producer).kind != OpKind::input; }

  void backward(OpId id) {
    const Op& op = graph_.op(id);
    if (op.kind == OpKind::input) return;
    for (const OpId reader : graph_.tensor(op.output).consumers)
      if (has_backward(reader)) before_[index(id.value)].insert(before_[index(reader.value)]);
    before_[index(id.value)].insert(id);
    const std::int32_t incoming = summed(op.output, id);
    if (!has_backward(id)) return release(incoming);
    const bool passes = incoming != kNone && (op.inplace || info(op.kind).gradient == GradientRule::passed);
    for (const TensorId input : op.inputs) {
      if (!wanted(input)) continue;
      if (passes) ++shared_[index(incoming)].holders;
      parts_[index(input.value)].push_back(passes ? incoming : make(size(input), graph_.tensor(input).producer, id));
    }
    if (incoming != kNone && !passes) shared_[index(incoming)].users.push_back(id);
    release(incoming);
  }

  [[nodiscard]] bool has_backward(OpId id) const {
    const Op& op = graph_.op(id);
    return graph_.tensor(op.output).needs_gradient && info(op.kind).gradient != GradientRule::none;
  }

  /// The gradient of `tensor`, when all its readers have run.
  std::int32_t summed(TensorId tensor, OpId id) {
    std::vector<std::int32_t>& parts = parts_[index(tensor.value)];
    if (parts.empty()) return kNone;
    if (parts.size() == 1) return parts.front();
    const std::int32_t sum = make(size(tensor), id, id);
    for (const std::int32_t part : parts) {
      shared_[index(part)].users.push_back(id);
      release(part);
    }
    return sum;
  }

  /// An array of at least `bytes` for a gradient that `writer` computes.
  std::int32_t make(Bytes bytes, OpId owner, OpId writer) {
    std::int32_t best = kNone;
    for (std::size_t i = 0; i < shared_.size(); ++i) {
      const Shared& s = shared_[i];
      const auto comes_before = [&](OpId user) { return before_[index(writer.value)].holds(user); };
      if (s.holders > 0 || !std::all_of(s.users.rbegin(), s.users.rend(), comes_before)) continue;
      if (best == kNone || s.uses > shared_[index(best)].uses) best = static_cast<std::int32_t>(i);
    }
    if (best == kNone) {
      best = static_cast<std::int32_t>(shared_.size());
      shared_.push_back({{bytes, MemoryPart::dynamic, owner}, 0, 0, {}});
    }
    Shared& s = shared_[index(best)];
    if (bytes > s.blob.bytes) s.blob = {bytes, MemoryPart::dynamic, owner};
    s.holders = 1;
    ++s.uses;
    s.users.push_back(writer);
    return best;
  }

  void release(std::int32_t shared) {
    if (shared != kNone) --shared_[index(shared)].holders;
  }

  const OpGraph& graph_;
  double batch_;
  Bytes element_;
  std::vector<Blob> blobs_;
  std::vector<Shared> shared_;
  std::vector<std::vector<std::int32_t>> parts_;  ///< gradients of each tensor by its readers
  std::vector<OpSet> before_;                     ///< of each operator: whose backward has run when its own runs
};

}  // namespace

std::vector<Blob> plan_blobs(const OpGraph& graph, double batch, Bytes element) { return Planner(graph, batch, element).run(); }

}  // namespace tbdsim
