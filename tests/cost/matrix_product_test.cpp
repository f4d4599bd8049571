// Products of linear and matmul operators: their shapes, and that they hold the FLOP that the workload counts.
#include "model/cost/matrix_product.hpp"

#include "model/workload/graph_builder.hpp"
#include "model/workload/op_counts.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

/// Embedded tokens through one attention of one head: scores and context are products of two tensors.
OpGraph attention() {
  GraphBuilder g("attention", "file", "sentence", {7}, 1);
  const TensorId states = g.add(OpKind::embedding, {g.input()}, EmbeddingAttributes{100, 6});
  const TensorId query = g.linear(states, 4, "query"), key = g.linear(states, 4, "key");
  const TensorId value = g.linear(states, 5, "value");
  const TensorId scores = g.add(OpKind::matmul, {query, key}, MatmulAttributes{true}, "scores");
  const TensorId weights = g.add(OpKind::softmax, {scores});
  (void)g.add(OpKind::matmul, {weights, value}, MatmulAttributes{false}, "context");
  return std::move(g).finish().value();
}

const Op& named(const OpGraph& graph, std::string_view name) {
  for (const Op& op : graph.ops)
    if (op.name == name) return op;
  FAIL("no operator " << name);
  return graph.ops.front();
}

bool same(const GemmShape& a, const GemmShape& b) { return a.m == b.m && a.n == b.n && a.k == b.k && a.count == b.count; }

}  // namespace

TEST_CASE("shapes of products: three passes of a linear layer, one and two products of a matmul") {
  const OpGraph graph = attention();
  const Op& value = named(graph, "value");
  // 3 sentences of 7 tokens are 21 rows of 6 columns.
  CHECK(same(matrix_products(graph, value, Pass::forward, 3).shapes[0], {21, 5, 6, 1}));
  CHECK(same(matrix_products(graph, value, Pass::backward_data, 3).shapes[0], {21, 6, 5, 1}));
  CHECK(same(matrix_products(graph, value, Pass::backward_weights, 3).shapes[0], {5, 6, 21, 1}));
  const Op& context = named(graph, "context");  // 7x7 times 7x5
  const MatrixProducts forward = matrix_products(graph, context, Pass::forward, 3);
  CHECK(forward.count == 1);
  CHECK(same(forward.shapes[0], {7, 5, 7, 3}));
  const MatrixProducts backward = matrix_products(graph, context, Pass::backward, 3);
  REQUIRE(backward.count == 2);
  CHECK(same(backward.shapes[0], {7, 7, 5, 3}));
  CHECK(same(backward.shapes[1], {7, 5, 7, 3}));
}

TEST_CASE("a matmul has a product only for operands that need a gradient") {
  GraphBuilder g("half", "file", "matrix", {4, 6}, 1);
  const TensorId projected = g.linear(g.input(), 5, "projected");
  (void)g.add(OpKind::matmul, {g.input(), projected}, MatmulAttributes{}, "bad");
  CHECK_FALSE(g.problems().empty());
  GraphBuilder h("half", "file", "matrix", {6, 6}, 1);
  const TensorId right = h.linear(h.input(), 5, "right");
  (void)h.add(OpKind::matmul, {h.input(), right}, MatmulAttributes{}, "product");  // 6x6 times 6x5
  const OpGraph graph = std::move(h).finish().value();
  const MatrixProducts backward = matrix_products(graph, named(graph, "product"), Pass::backward, 2);
  REQUIRE(backward.count == 1);
  CHECK(same(backward.shapes[0], {6, 5, 6, 2}));
}

TEST_CASE("products hold the FLOP that the workload counts") {
  const OpGraph graph = attention();
  const TrainingStep step = training_step(graph);
  for (const auto* nodes : {&step.forward, &step.backward}) {
    for (const StepNode& node : *nodes) {
      const Op& op = graph.op(node.op);
      if (info(op.kind).family != OpFamily::gemm || node.pass == Pass::gradient_sum) continue;
      INFO(op.name << " " << name(node.pass));
      double flop = 0.0;
      const MatrixProducts products = matrix_products(graph, op, node.pass, 4.0);
      for (const GemmShape& s : products.calls()) flop += 2.0 * s.m * s.n * s.k * s.count;
      CHECK(flop == 4.0 * flop_per_sample(graph, node).base());
    }
  }
}
