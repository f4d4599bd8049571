#include "model/trace/owners.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tbdsim::trace {
namespace {

/// What is open at a moment of one thread.
class Stack {
 public:
  void reach(Nanoseconds moment) {
    while (!open_.empty() && open_.back()->span.end <= moment) open_.pop_back();
  }
  void open(const HostSpan& span) { open_.push_back(&span); }
  void clear() { open_.clear(); }

  [[nodiscard]] std::int32_t innermost_module() const {
    const auto found = std::find_if(open_.rbegin(), open_.rend(), [](const HostSpan* s) { return s->module; });
    return found == open_.rend() ? -1 : (*found)->name;
  }
  [[nodiscard]] const HostSpan* outermost_op() const {
    const auto found = std::find_if(open_.begin(), open_.end(), [](const HostSpan* s) { return !s->module; });
    return found == open_.end() ? nullptr : *found;
  }
  /// Of the innermost operator that has one.
  [[nodiscard]] std::int64_t sequence() const {
    const auto found = std::find_if(open_.rbegin(), open_.rend(), [](const HostSpan* s) { return s->sequence >= 0; });
    return found == open_.rend() ? -1 : (*found)->sequence;
  }

 private:
  std::vector<const HostSpan*> open_;
};

/// Calls `visit(stack, i)` for each moment (thread, time, index), in order.
template <class Moments, class Visit>
void sweep(const std::vector<HostSpan>& spans, const Moments& moments, const Visit& visit) {
  Stack stack;
  std::size_t next = 0;
  std::int64_t thread = 0;
  bool first = true;
  for (const auto& [of, at, index] : moments) {
    if (first || of != thread) stack.clear();
    first = false;
    thread = of;
    while (next < spans.size() && spans[next].thread < of) ++next;
    for (; next < spans.size() && spans[next].thread == of && spans[next].span.start <= at; ++next) {
      stack.reach(spans[next].span.start);
      stack.open(spans[next]);
    }
    stack.reach(at);
    visit(stack, index);
  }
}

}  // namespace

void find_owners(std::vector<HostSpan>& spans, std::vector<HostCall>& calls) {
  std::sort(spans.begin(), spans.end(), [](const HostSpan& a, const HostSpan& b) {
    return std::tuple(a.thread, a.span.start, -a.span.end, a.name) < std::tuple(b.thread, b.span.start, -b.span.end, b.name);
  });
  using Moment = std::tuple<std::int64_t, Nanoseconds, std::size_t>;
  // Modules of the forward operators, by sequence number.
  std::unordered_map<std::int64_t, std::int32_t> module_of;
  std::vector<Moment> forward;
  for (std::size_t i = 0; i < spans.size(); ++i)
    if (spans[i].sequence >= 0 && !spans[i].backward) forward.emplace_back(spans[i].thread, spans[i].span.start, i);
  sweep(spans, forward, [&](const Stack& stack, std::size_t i) {
    if (const std::int32_t module = stack.innermost_module(); module >= 0) module_of.try_emplace(spans[i].sequence, module);
  });
  std::vector<Moment> moments;
  for (std::size_t i = 0; i < calls.size(); ++i) moments.emplace_back(calls[i].thread, calls[i].span.start, i);
  std::sort(moments.begin(), moments.end());
  sweep(spans, moments, [&](const Stack& stack, std::size_t i) {
    if (const HostSpan* const op = stack.outermost_op()) calls[i].op = op->name;
    calls[i].module = stack.innermost_module();
    if (calls[i].module >= 0) return;
    if (const auto found = module_of.find(stack.sequence()); found != module_of.end()) calls[i].module = found->second;
  });
}

}  // namespace tbdsim::trace
