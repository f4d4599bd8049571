#pragma once
#include <array>
#include <cstddef>

#include "model/input/toml_reader.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// Operators that an eager framework issues alike.
enum class IssueClass {
  view,         ///< another shape of the same memory: no kernel
  elementwise,  ///< one kernel of the framework's own: activations, sums, pools, softmax, losses
  dropout,      ///< the same with a state of random numbers
  row_norm,     ///< layer norm and its relatives: a kernel forward, two backward
  batch_norm,
  convolution,
  product,    ///< matrix products
  attention,  ///< fused
};
inline constexpr std::size_t kIssueClasses = static_cast<std::size_t>(IssueClass::attention) + 1;

/// What an eager framework (PyTorch) spends to issue an operator, on the reference host (`Host::single_thread` of 1).
///
/// An operator costs the framework's own work (Python, dispatcher, autograd, creation of the result), which a host without a
/// GPU shows, and what lies below: a kernel of the framework's own (allocator, iterator, launch) or a call of a library.
struct IssueSettings {
  std::array<Seconds, kIssueClasses> forward{}, backward{};  ///< the framework's work, by class
  Seconds module;       ///< call of a module and look-up of its children, for each operator with a module of its own
  Seconds kernel;       ///< a kernel of the framework's own
  Seconds convolution;  ///< a call of the convolution library: forward, gradient of the input, gradient of the filters
  Seconds batch_norm;   ///< a call of that library's batch norm
  Seconds product;      ///< a call of the matrix library
  Seconds cast;         ///< work of autocast for an array that it casts, beside the kernel
  Seconds update;       ///< a kernel of an optimiser's loop over arrays, with the loop's own work
  Seconds listed;       ///< script's part of an optimiser over lists of arrays, for each array
  Seconds replica;      ///< script's part of a replica of `nn.DataParallel`, for each array

  [[nodiscard]] Seconds framework(IssueClass kind, bool forward_pass) const {
    return (forward_pass ? forward : backward)[static_cast<std::size_t>(kind)];
  }
  /// An elementwise operator forward, which the stack's `dispatch` is: others take as many of it.
  [[nodiscard]] Seconds unit() const { return framework(IssueClass::elementwise, true) + module + kernel; }
};

/// Reads a [host.issue] table.
[[nodiscard]] IssueSettings read_issue_settings(TomlTable table);

}  // namespace tbdsim
