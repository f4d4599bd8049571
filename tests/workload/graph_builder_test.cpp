#include "model/workload/graph_builder.hpp"

#include "model/workload/saved_tensors.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

TEST_CASE("operators without a name are numbered per kind") {
  GraphBuilder g("auto", "mxnet", "image", {3, 8, 8}, 2);
  TensorId x = g.relu(g.relu(g.input()));
  g.softmax_loss(g.linear(g.flatten(x), 2));
  const OpGraph graph = std::move(g).finish().value();
  CHECK(graph.ops[1].name == "activation0");
  CHECK(graph.ops[2].name == "activation1");
  CHECK(graph.ops[4].name == "linear0");
  CHECK(graph.default_batch == 2);
}

TEST_CASE("parameters are named as the variant's framework names them, fixed gammas are kept by MXNet alone") {
  const auto names = [](const std::string& variant) {
    GraphBuilder g("names", variant, "image", {3, 8, 8}, 1);
    TensorId x = g.convolution(g.input(), {4, 1, 1, 1, 1, 0, 0, 1, 1, true}, "conv");
    x = g.batch_norm(x, "bn", {false});
    g.softmax_loss(x);
    const OpGraph graph = std::move(g).finish().value();
    std::string all;
    for (const Parameter& p : graph.parameters) all += p.name + " " + to_text(p.shape) + "; ";
    return all;
  };
  CHECK(names("mxnet") == "conv_weight 4x3x1x1; conv_bias 4; bn_gamma 4; bn_beta 4; ");
  CHECK(names("torchvision") == "conv.weight 4x3x1x1; conv.bias 4; bn.bias 4; ");
  CHECK(names("tf") == "conv/weights 4x3x1x1; conv/biases 4; bn/beta 4; ");
}

TEST_CASE("after an impossible operator the builder stops, and says which it was") {
  GraphBuilder g("broken", "torchvision", "image", {3, 4, 4}, 1);
  const TensorId good = g.relu(g.input(), "good");
  const TensorId bad = g.convolution(good, {4, 5, 5, 1, 1, 0, 0, 1, 1, false}, "bad");
  CHECK(bad == good);
  CHECK(g.linear(bad, 2, "never") == good);
  CHECK(g.problems() == std::vector<std::string>{"bad: kernel 5x5 is larger than the padded input 4x4"});
  const auto graph = std::move(g).finish();
  REQUIRE_FALSE(graph);
  CHECK(graph.error().front().text() == "bad: kernel 5x5 is larger than the padded input 4x4");
}

TEST_CASE("an input without pixels is refused") {
  GraphBuilder g("empty", "torchvision", "image", {3, 0, 0}, 1);
  const auto graph = std::move(g).finish();
  REQUIRE_FALSE(graph);
  CHECK(graph.error().front().message == "input: every dimension must be at least 1, got \"3x0x0\"");
}

namespace {

/// conv -> batch norm -> ReLU -> max pool -> flatten -> dropout -> linear -> loss, on 2x4x4 images.
OpGraph chain(bool inplace) {
  GraphBuilder g("chain", "torchvision", "image", {2, 4, 4}, 1);
  TensorId x = g.convolution(g.input(), {3, 3, 3, 1, 1, 1, 1, 1, 1, false}, "conv");
  x = g.relu(g.batch_norm(x, "bn"), "relu", inplace);
  x = g.pool(x, {}, "pool");
  x = g.dropout(g.flatten(x, "flat"), 0.5, "drop");
  g.softmax_loss(g.linear(x, 2, "fc"), "loss");
  return std::move(g).finish().value();
}

}  // namespace

TEST_CASE("bytes saved for the backward pass of a chain, by hand") {
  // Image 32, convolution output 48 (batch norm's input), ReLU output 48, pool: 12 indices of 8 B and no output (flat
  // is a view that dropout does not keep), dropout mask 12, dropout output 12 (linear's input).
  const SavedBytes cpu = saved_bytes(chain(true), SavingRules::autograd);
  CHECK(cpu.per_sample.base() == 4.0 * (32 + 48 + 48 + 12 + 12) + 8.0 * 12);
  CHECK(cpu.fixed.base() == 4.0 * 2 * 3);
  // A ReLU out of place keeps the same output; its input is the batch norm's output, which nobody keeps.
  CHECK(saved_bytes(chain(false), SavingRules::autograd).per_sample.base() == cpu.per_sample.base());
  const SavedBytes cuda = saved_bytes(chain(true), SavingRules::autograd_cuda);
  CHECK(cuda.per_sample.base() == cpu.per_sample.base() - 3.0 * 12);
  // MXNet also keeps the batch norm's output (ReLU's input) and the pool's output, but no indices.
  CHECK(saved_bytes(chain(true), SavingRules::mxnet).per_sample.base() == 4.0 * (32 + 48 + 48 + 48 + 12 + 12 + 12));
  // Half precision halves tensors, not statistics or indices.
  CHECK(saved_bytes(chain(true), SavingRules::autograd_cuda, Bytes(2.0)).per_sample.base() ==
        2.0 * (32 + 48 + 48 + 12) + 12.0 + 8.0 * 12);
}

TEST_CASE("what single operators keep") {
  const OpGraph graph = chain(true);
  const auto saved = saved_by_ops(graph, SavingRules::autograd);
  CHECK(saved[0].tensors.empty());                                        // the input
  CHECK(saved[1].tensors == std::vector<TensorId>{TensorId{0}});          // convolution: its input
  CHECK(saved[2].extra_fixed.base() == 24.0);                             // batch norm: mean and deviation of 3 channels
  CHECK(saved[3].tensors == std::vector<TensorId>{graph.ops[3].output});  // ReLU: its output
  CHECK(saved[4].tensors == std::vector<TensorId>{graph.ops[3].output});  // max pool: its input
  CHECK(saved[4].extra_per_sample.base() == 96.0);
  CHECK(saved.back().tensors == std::vector<TensorId>{graph.ops.back().output});  // loss: log-probabilities
  const auto storage = storage_of(graph, SavingRules::autograd);
  CHECK(storage[3] == TensorId{2});  // ReLU in place overwrites the batch norm's output
  CHECK(storage[5] == TensorId{4});  // flatten is a view of the pool's output
  CHECK(storage_of(graph, SavingRules::mxnet)[3] == TensorId{3});
}

TEST_CASE("activations that differentiate at their input keep a copy when in place") {
  const auto saved = [](ActivationKind kind, bool inplace) {
    GraphBuilder g("one", "torchvision", "vector", {8}, 1);
    g.softmax_loss(g.activation(g.linear(g.input(), 8, "fc"), kind, "act", inplace));
    return saved_by_ops(std::move(g).finish().value(), SavingRules::autograd)[2];
  };
  CHECK(saved(ActivationKind::hardswish, false).tensors == std::vector<TensorId>{TensorId{1}});
  CHECK(saved(ActivationKind::hardswish, true).tensors.empty());
  CHECK(saved(ActivationKind::hardswish, true).extra_per_sample.base() == 32.0);
  CHECK(saved(ActivationKind::relu6, false).tensors == std::vector<TensorId>{TensorId{1}});
  CHECK(saved(ActivationKind::relu6, true).tensors == std::vector<TensorId>{TensorId{2}});
  CHECK(saved(ActivationKind::tanh, false).tensors == std::vector<TensorId>{TensorId{2}});
}
