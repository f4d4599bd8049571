// Host time by class of operator, on invented costs of powers of two, so that every sum tells its parts.
#include "model/cost/issue.hpp"

#include "tests/cost/invented_board.hpp"

using namespace tbdsim;
using namespace tbdsim::invented;
using Catch::Matchers::WithinRel;

namespace {

constexpr double kUs = 1e-6;

IssueSettings costs() {
  IssueSettings issue;
  for (std::size_t i = 0; i < kIssueClasses; ++i) {
    issue.forward[i] = Seconds((10 + static_cast<double>(i)) * kUs);
    issue.backward[i] = Seconds((30 + static_cast<double>(i)) * kUs);
  }
  issue.module = Seconds(0.5 * kUs);
  issue.kernel = Seconds(100 * kUs);
  issue.convolution = Seconds(1000 * kUs);
  issue.batch_norm = Seconds(2000 * kUs);
  issue.product = Seconds(4000 * kUs);
  issue.cast = Seconds(3 * kUs);
  issue.update = Seconds(8 * kUs);
  issue.listed = Seconds(2 * kUs);
  issue.replica = Seconds(7 * kUs);
  return issue;
}

Stack eager() {
  Stack s = stack();
  s.host.eager = true;
  s.host.issue = costs();
  s.host.dispatch = costs().unit();
  s.operators.fusion.separate_bias = true;
  return s;
}

/// convolution with bias -> batch norm -> ReLU6 in place -> convolution -> sum with what was before -> classes
OpGraph small_network() {
  GraphBuilder g("network", "torchvision", "image", {3, 8, 8}, 4);
  const TensorId norm = g.batch_norm(g.convolution(g.input(), {4, 3, 3, 1, 1, 1, 1, 1, 1, true}, "first"), "norm");
  const TensorId clipped = g.add(OpKind::activation, {norm}, ActivationAttributes{ActivationKind::relu6}, "relu6", true);
  const TensorId second = g.convolution(clipped, {4, 3, 3, 1, 1, 1, 1, 1, 1, false}, "second");
  g.softmax_loss(g.linear(g.flatten(g.plus(clipped, second, "sum"), "flat"), 10, "fc"), "loss");
  return std::move(g).finish().value();
}

double microseconds(const OpGraph& graph, const char* name, Pass pass, bool launches, const Stack& s = eager()) {
  for (const Op& op : graph.ops)
    if (op.name == name) return issued_operators(graph, op, pass, launches, s) * costs().unit().base() / kUs;
  FAIL("no operator " << name);
  return 0;
}

}  // namespace

TEST_CASE("forward: the framework's work, the module, and what lies below") {
  const OpGraph g = small_network();
  CHECK_THAT(microseconds(g, "first", Pass::forward, true), WithinRel(15 + 0.5 + 1000 + 100, 1e-12));  // a bias of its own
  CHECK_THAT(microseconds(g, "second", Pass::forward, true), WithinRel(15 + 0.5 + 1000, 1e-12));
  CHECK_THAT(microseconds(g, "norm", Pass::forward, true), WithinRel(14 + 0.5 + 2000 + 100, 1e-12));  // and its counter
  CHECK_THAT(microseconds(g, "fc", Pass::forward, true), WithinRel(16 + 0.5 + 4000, 1e-12));
  CHECK_THAT(microseconds(g, "sum", Pass::forward, true), WithinRel(11 + 100, 1e-12));  // a call, no module
  CHECK_THAT(microseconds(g, "flat", Pass::forward, false), WithinRel(10, 1e-12));      // a view
}

TEST_CASE("backward: the two gradients of a layer share the framework's work, the first layer has one") {
  const OpGraph g = small_network();
  CHECK_THAT(microseconds(g, "second", Pass::backward_data, true), WithinRel(35 / 2.0 + 1000, 1e-12));
  CHECK_THAT(microseconds(g, "second", Pass::backward_weights, true), WithinRel(35 / 2.0 + 1000, 1e-12));
  CHECK_THAT(microseconds(g, "first", Pass::backward_weights, true), WithinRel(35 + 1000 + 100, 1e-12));
  CHECK_THAT(microseconds(g, "fc", Pass::backward_weights, true), WithinRel(36 / 2.0 + 4000 + 100, 1e-12));
  CHECK_THAT(microseconds(g, "norm", Pass::backward, true), WithinRel(34 + 2000, 1e-12));
  CHECK_THAT(microseconds(g, "sum", Pass::backward, false), WithinRel(30, 1e-12));  // gradients are passed on
}

TEST_CASE("the gradient of a concatenation is cut into a view for each input") {
  GraphBuilder g("joined", "torchvision", "image", {4, 8, 8}, 4);
  const TensorId a = g.convolution(g.input(), {4, 1, 1, 1, 1, 0, 0, 1, 1, false}, "a");
  g.softmax_loss(g.flatten(g.concat({a, a, a}, "cat")), "loss");
  const OpGraph graph = std::move(g).finish().value();
  CHECK_THAT(microseconds(graph, "cat", Pass::backward, false), WithinRel((1.5 + 3 * 0.62) * 30, 1e-12));
  CHECK_THAT(microseconds(graph, "cat", Pass::forward, true), WithinRel(11 + 100, 1e-12));
}

TEST_CASE("ReLU6 in place copies its input first") {
  OpGraph g = small_network();
  for (Op& op : g.ops)
    if (op.name == "relu6") op.inplace = false;
  const double apart = microseconds(g, "relu6", Pass::forward, true);
  for (Op& op : g.ops)
    if (op.name == "relu6") op.inplace = true;
  CHECK_THAT(microseconds(g, "relu6", Pass::forward, true) - apart, WithinRel(100, 1e-9));
}

TEST_CASE("without classes every operator is one, and the two gradients of a layer are one") {
  const OpGraph g = small_network();
  Stack plain = eager();
  plain.host.issue.reset();
  const double unit = costs().unit().base() / kUs;
  CHECK_THAT(microseconds(g, "first", Pass::forward, true, plain), WithinRel(unit, 1e-12));
  CHECK_THAT(microseconds(g, "second", Pass::backward_data, true, plain), WithinRel(unit / 2, 1e-12));
  CHECK(issued_sum(plain.host) == 1.0);
  CHECK(issued_cast(plain.host) == 1.0);
  CHECK(issued_attention(7, true, plain.host) == 7.0);
  CHECK(listed_array(plain.host) == 0.0);
}

TEST_CASE("casts, sums, lists and replicas") {
  const HostSettings host = eager().host;
  const double unit = costs().unit().base() / kUs;
  CHECK_THAT(issued_sum(host), WithinRel(100 / unit, 1e-12));
  CHECK_THAT(issued_cast(host), WithinRel(103 / unit, 1e-12));
  CHECK_THAT(listed_array(host), WithinRel(2.0 / 8.0, 1e-12));
  CHECK_THAT(replica_array(host).base(), WithinRel(7 * kUs, 1e-12));
  // Two products and five kernels forward; four products backward.
  CHECK_THAT(issued_attention(7, false, host), WithinRel((2 * 16 + 2 * 4000 + 5 * (11 + 100)) / unit, 1e-12));
  CHECK_THAT(issued_attention(7, true, host), WithinRel((2 * 36 + 4 * 4000 + 3 * (31 + 100)) / unit, 1e-12));
}

TEST_CASE("a faster thread issues faster, where the stack's times are the reference host's") {
  Host host;
  host.dispatch_scale = 3;
  CHECK_THAT(issue_scale(host, eager().host), WithinRel(3 / kUsualSingleThread, 1e-12));
  CHECK_FALSE(knows_single_thread(host));
  host.single_thread = 0.5;
  host.single_thread_source = "measured: a test";
  CHECK(knows_single_thread(host));
  CHECK_THAT(issue_scale(host, eager().host), WithinRel(6, 1e-12));
  CHECK(issue_scale(host, HostSettings{}) == 3.0);
  host.single_thread_source = "assumed: a test";
  CHECK_FALSE(knows_single_thread(host));
}
