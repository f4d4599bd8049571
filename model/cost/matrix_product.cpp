#include "model/cost/matrix_product.hpp"

#include <cassert>

namespace tbdsim {
namespace {

MatrixProducts linear_products(const OpGraph& graph, const Op& op, Pass pass, double batch) {
  const Shape& x = graph.input_shape(op);
  const auto in = static_cast<double>(x.back()), out = static_cast<double>(graph.output_shape(op).back());
  // Leading dimensions of a sequence count as further rows.
  const double rows = batch * static_cast<double>(elements(x)) / in;
  MatrixProducts products;
  if (pass == Pass::backward_data)
    products.add({rows, in, out});
  else if (pass == Pass::backward_weights)
    products.add({out, in, rows});
  else
    products.add({rows, out, in, 1, true});  // frameworks keep weights as [out, in]
  return products;
}

MatrixProducts stacked_products(const OpGraph& graph, const Op& op, Pass pass, double batch) {
  const Shape& a = graph.input_shape(op);
  const Shape& c = graph.output_shape(op);
  const auto m = static_cast<double>(a[a.size() - 2]), k = static_cast<double>(a.back()), n = static_cast<double>(c.back());
  const double count = batch * static_cast<double>(elements(c)) / (m * n);
  MatrixProducts products;
  if (pass == Pass::forward) {
    products.add({m, n, k, count});
    return products;
  }
  if (graph.tensor(op.inputs[0]).needs_gradient) products.add({m, k, n, count});
  if (graph.tensor(op.inputs[1]).needs_gradient) products.add({k, n, m, count});
  return products;
}

}  // namespace

MatrixProducts matrix_products(const OpGraph& graph, const Op& op, Pass pass, double batch) {
  assert(op.kind == OpKind::linear || op.kind == OpKind::matmul);
  return op.kind == OpKind::matmul ? stacked_products(graph, op, pass, batch) : linear_products(graph, op, pass, batch);
}

}  // namespace tbdsim
