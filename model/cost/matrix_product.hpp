#pragma once
#include <array>
#include <span>

#include "model/cost/tiled_gemm.hpp"
#include "model/workload/training_step.hpp"

namespace tbdsim {

/// The products that one pass of a linear or matmul operator runs, one library call each.
struct MatrixProducts {
  std::array<GemmShape, 2> shapes;
  std::size_t count = 0;
  [[nodiscard]] std::span<const GemmShape> calls() const& { return {shapes.data(), count}; }
  std::span<const GemmShape> calls() const&& = delete;  // the span would outlive the shapes
  void add(const GemmShape& shape) { shapes[count++] = shape; }
};

/// Row-major shapes of `pass`:
///
///   linear   y[r,out] = x[r,in] W, rows r = batch x leading dimensions:
///            forward (r, out, in); backward data (r, in, out); backward weights (out, in, r)
///   matmul   c[m,n] = a[m,k] b[k,n], `count` = batch x stack: forward (m, n, k); backward (m, k, n) for the gradient of a
///            and (k, n, m) for that of b, each only where the operand needs one
///
/// Transposed operands change no shape. Expects a linear or matmul operator.
[[nodiscard]] MatrixProducts matrix_products(const OpGraph& graph, const Op& op, Pass pass, double batch);

}  // namespace tbdsim
