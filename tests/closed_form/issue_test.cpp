// The worked example "Host that issues operators" of model/cost/README.md, by hand and by the model.
#include "model/cost/issue.hpp"

#include <algorithm>

#include "model/workload/graph_builder.hpp"
#include "tests/catch.hpp"
#include "tests/closed_form/cost_example.hpp"

using namespace tbdsim;
using Catch::Matchers::WithinRel;
using example::documented;

TEST_CASE("worked example: a convolution on a CPU of half the reference's speed") {
  GraphBuilder g("two", "torchvision", "image", {8, 8, 8}, 4);
  const TensorId first = g.convolution(g.input(), {8, 3, 3, 1, 1, 1, 1, 1, 1, false}, "first");
  g.softmax_loss(g.flatten(g.convolution(first, {8, 3, 3, 1, 1, 1, 1, 1, 1, false}, "second"), "flat"), "loss");
  const OpGraph graph = std::move(g).finish().value();
  const auto found = std::find_if(graph.ops.begin(), graph.ops.end(), [](const Op& op) { return op.name == "second"; });
  REQUIRE(found != graph.ops.end());

  Stack stack;
  stack.host.eager = true;
  IssueSettings issue;
  const auto convolution = static_cast<std::size_t>(IssueClass::convolution);
  issue.forward[convolution] = Seconds(4.2e-6);
  issue.backward[convolution] = Seconds(4.1e-6);
  issue.module = Seconds(0.55e-6);
  issue.kernel = Seconds(8e-6);
  issue.convolution = Seconds(48e-6);
  stack.host.dispatch = issue.unit();
  stack.host.issue = issue;
  Host host;
  host.single_thread = 0.5;

  const double scale = issue_scale(host, stack.host) * stack.host.dispatch.base();
  const double forward = scale * issued_operators(graph, *found, Pass::forward, true, stack);
  const double backward = scale * (issued_operators(graph, *found, Pass::backward_data, true, stack) +
                                   issued_operators(graph, *found, Pass::backward_weights, true, stack));
  CHECK_THAT(forward, WithinRel((4.2e-6 + 0.55e-6 + 48e-6) / 0.5, 1e-12));
  CHECK_THAT(backward, WithinRel((4.1e-6 + 2 * 48e-6) / 0.5, 1e-12));
  CHECK(documented("= 105.5 us"));
  CHECK(documented("= 200.2 us"));
}
