#pragma once
#include <cstdint>
#include <vector>

#include "model/trace/trace.hpp"

namespace tbdsim::trace {

/// Something that a thread of the host was at: an operator, a module, a mark of the user's.
struct HostSpan {
  Span span;
  std::int64_t thread = 0;
  std::int32_t name = 0;
  bool module = false;         ///< a layer of the network; else an operator
  std::int64_t sequence = -1;  ///< joins an operator of the forward pass with that of the backward pass; -1: none
  bool backward = false;
};

/// A call of the host that issued something.
struct HostCall {
  Span span;
  std::int64_t thread = 0;
  std::int32_t op = -1, module = -1;  ///< filled in by `find_owners`
};

/// The outermost operator and the innermost module around each call. An operator of the backward pass belongs to the module of
/// that of the forward pass which has the same sequence number. Sorts `spans`; calls keep their order. Spans that cross instead
/// of nesting end where the outer one does.
void find_owners(std::vector<HostSpan>& spans, std::vector<HostCall>& calls);

}  // namespace tbdsim::trace
