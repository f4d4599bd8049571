#include "model/workload/op.hpp"

#include <algorithm>
#include <set>

#include "model/workload/graph_builder.hpp"
#include "model/workload/onnx/rules.hpp"
#include "model/workload/op_counts.hpp"
#include "model/workload/operators/operator_row.hpp"
#include "model/workload/saved_tensors.hpp"
#include "model/workload/shape_inference.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

bool multiplies(const OperatorRow& row) {
  return row.family == OpFamily::convolution || row.family == OpFamily::gemm || row.family == OpFamily::recurrent ||
         row.family == OpFamily::attention || row.family == OpFamily::experts || row.kind == OpKind::pair_products;
}

/// The passes of a framework that fuses nothing, and issues kernels one by one or from a graph.
Passes passes_of(const OperatorRow& row, bool eager) {
  if (row.framework_passes == nullptr) return row.passes;
  Op op;
  op.kind = row.kind;
  op.inputs.resize(static_cast<std::size_t>(row.min_inputs));
  if (row.attributes != nullptr) op.attributes = row.attributes();
  return row.framework_passes(op, {eager, 3, 5, 3, 3, 3});
}

/// Collects the keys that attributes name.
struct KeyNames {
  std::vector<std::string> names;
  void operator()(std::monostate&) {}
  template <class Attributes>
  void operator()(Attributes& attributes) {
    attributes.keys(*this);
  }
  template <class... Rest>
  void note(const char* key, Rest&&...) {
    names.emplace_back(key);
  }
  template <class... A>
  void required(A&&... a) {
    note(a...);
  }
  template <class... A>
  void integer(A&&... a) {
    note(a...);
  }
  template <class... A>
  void pair(A&&... a) {
    note(a...);
  }
  template <class... A>
  void flag(A&&... a) {
    note(a...);
  }
  template <class... A>
  void fraction(A&&... a) {
    note(a...);
  }
  template <class... A>
  void list(A&&... a) {
    note(a...);
  }
  template <class... A>
  void word(A&&... a) {
    note(a...);
  }
};

}  // namespace

TEST_CASE("every row of the table of operators agrees with itself: names and inputs") {
  std::set<std::string_view> names, types;
  int expected = 0;
  for (const OperatorRow& row : op_kinds()) {
    INFO(row.name);
    CHECK(static_cast<int>(row.kind) == expected++);  // in the order of the enumeration
    CHECK(&info(row.kind) == &row);
    CHECK_FALSE(row.name.empty());
    CHECK(std::all_of(row.name.begin(), row.name.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; }));
    CHECK(names.insert(row.name).second);
    CHECK_FALSE(row.takes.empty());
    CHECK(row.min_inputs <= row.max_inputs);
    CHECK((row.min_inputs == 0) == (row.kind == OpKind::input));
    for (const std::string_view type : row.onnx) {
      INFO(type);
      CHECK(types.insert(type).second);
      const onnx::Rule* rule = onnx::find_rule(type);
      REQUIRE(rule != nullptr);
      CHECK(rule->emit != nullptr);
    }
    // The page of file formats names every key.
    KeyNames keys;
    OpAttributes attributes = row.attributes == nullptr ? OpAttributes{} : row.attributes();
    std::visit(keys, attributes);
    for (const std::string& key : keys.names)
      if (row.keys.substr(0, 3) != "as ") CHECK(row.keys.find("`" + key + "`") != std::string_view::npos);
    if (row.may_overwrite) CHECK(row.keys.find("`inplace`") != std::string_view::npos);
  }
  CHECK(op_kinds().size() == kOpKindCount);
}

TEST_CASE("every row of the table of operators agrees with itself: work, memory and placement") {
  for (const OperatorRow& row : op_kinds()) {
    INFO(row.name);
    const bool bound = row.family == OpFamily::memory_bound, product = multiplies(row);
    CHECK(row.moves_data() == (bound || product));
    // Work: products count multiply-adds in both directions, everything else passes over its arrays.
    CHECK((row.macs != nullptr) == product);
    CHECK((row.backward_macs != nullptr || row.splits_backward) == product);
    CHECK_FALSE((row.backward_macs != nullptr && row.splits_backward));
    CHECK((passes_of(row, false).forward_inputs + passes_of(row, false).forward_output > 0.0) == bound);
    if (row.splits_backward) CHECK(row.has_parameters());
    if (row.family == OpFamily::convolution || row.family == OpFamily::recurrent) CHECK(row.has_parameters());
    // Attention may own scores of its heads, but multiplies by none.
    CHECK(row.multiplies_activations == (product && (!row.has_parameters() || row.family == OpFamily::attention)));
    if (row.multiplies_activations) CHECK(row.min_inputs >= 2);
    if (row.has_parameters()) CHECK(row.moves_data());
    if (row.normalizes) CHECK((bound && row.has_parameters()));
    if (row.reduces) CHECK((bound && passes_of(row, true).rows == RowKernel::none));
    if (row.access != ElementAccess::single) CHECK(bound);
    // Width: products narrow; sums over rows and losses in fp32.
    CHECK((row.autocast == AutocastRule::narrow) == product);
    if (row.loss || passes_of(row, false).rows != RowKernel::none) CHECK(row.autocast == AutocastRule::wide);
    // Memory: a view launches nothing and hands its gradient back; what has no backward keeps nothing.
    if (row.view == ViewRule::always) CHECK((!row.moves_data() && row.gradient == GradientRule::passed));
    if (row.gradient != GradientRule::made) CHECK(row.saved == nullptr);
    if (row.gradient == GradientRule::none) CHECK(passes_of(row, true).backward_inputs == 0.0);
    // Placement.
    CHECK((row.placement == Placement::heads) == (row.family == OpFamily::attention));
    if (row.placement == Placement::product) CHECK((product && row.has_parameters() && row.splits_backward));
    CHECK((row.placement == Placement::experts) == (row.family == OpFamily::experts));
    if (row.gradient_inputs < row.max_inputs) CHECK(row.gradient_inputs > 0);
    if (row.placement == Placement::follows) CHECK_FALSE(row.has_parameters());
    if (row.placement == Placement::sum) CHECK((row.min_inputs >= 2 && row.gradient == GradientRule::passed));
    if (row.placement == Placement::vocabulary) CHECK((row.has_parameters() && row.autocast == AutocastRule::joined));
  }
}

namespace {

struct Example {
  OpKind kind;
  OpAttributes attributes;
  std::vector<Shape> inputs;
  Shape output;
  std::size_t arrays;
};

/// One legal use of every kind, with its output and parameter arrays.
std::vector<Example> examples() {
  const Shape image{4, 8, 6};
  return {
      {OpKind::convolution, ConvolutionAttributes{6, 3, 3, 2, 1, 1, 1, 1, 2, true}, {image}, {6, 4, 6}, 2},
      {OpKind::linear, LinearAttributes{5, true}, {{7}}, {5}, 2},
      {OpKind::batch_norm, BatchNormAttributes{}, {image}, image, 2},
      {OpKind::activation, ActivationAttributes{}, {image}, image, 0},
      {OpKind::pool, PoolAttributes{PoolKind::max, 3, 3, 2, 2, 0, 0, true}, {image}, {4, 4, 3}, 0},
      {OpKind::global_average_pool, {}, {image}, {4, 1, 1}, 0},
      {OpKind::add, {}, {image, image, image}, image, 0},
      {OpKind::multiply, {}, {image, {4, 1, 1}}, image, 0},
      {OpKind::concat, {}, {image, {3, 8, 6}}, {7, 8, 6}, 0},
      {OpKind::slice, SliceAttributes{0, 1, 3}, {image}, {2, 8, 6}, 0},
      {OpKind::reshape, {}, {image}, {192}, 0},
      {OpKind::dropout, DropoutAttributes{0.1}, {image}, image, 0},
      {OpKind::local_response_norm, LocalResponseNormAttributes{}, {image}, image, 0},
      {OpKind::channel_shuffle, ShuffleAttributes{2}, {image}, image, 0},
      {OpKind::pad, PadAttributes{1, 2, 3, 4}, {image}, {4, 11, 13}, 0},
      {OpKind::softmax_loss, {}, {{7}}, {7}, 0},
      {OpKind::embedding, EmbeddingAttributes{100, 16}, {{9}}, {9, 16}, 1},
      {OpKind::lstm, RecurrentAttributes{8, 2, true, true}, {{9, 16}}, {9, 16}, 16},
      {OpKind::gru, RecurrentAttributes{8, 1, false, false}, {{9, 16}}, {9, 8}, 2},
      {OpKind::vanilla_rnn, RecurrentAttributes{8, 1, false, true}, {{9, 16}}, {9, 8}, 4},
      {OpKind::layer_norm, {}, {{9, 16}}, {9, 16}, 2},
      {OpKind::softmax, {}, {{9, 16}}, {9, 16}, 0},
      {OpKind::matmul, MatmulAttributes{true}, {{9, 16}, {5, 16}}, {9, 5}, 0},
      {OpKind::identity, {}, {image}, image, 0},
      {OpKind::transpose, TransposeAttributes{{2, 0, 1}}, {image}, {6, 4, 8}, 0},
      {OpKind::mask, {}, {{2, 9, 9}}, {2, 9, 9}, 0},
      {OpKind::learned_bias, LearnedBiasAttributes{12}, {{9, 16}}, {9, 16}, 1},
      {OpKind::learned_scale, {}, {{9, 16}}, {9, 16}, 1},
      {OpKind::prepend_token, {}, {{9, 16}}, {10, 16}, 1},
      {OpKind::gather, GatherAttributes{3}, {{9, 16}}, {3, 16}, 0},
      {OpKind::reduce, ReduceAttributes{1}, {{9, 16}}, {9}, 0},
      {OpKind::group_norm, GroupNormAttributes{2}, {image}, image, 2},
      {OpKind::pairwise_add, {}, {{9, 16}, {7, 16}}, {9, 7, 16}, 0},
      {OpKind::upsample, UpsampleAttributes{2}, {image}, {4, 16, 12}, 0},
      {OpKind::transposed_convolution, ConvolutionAttributes{2, 2, 2, 2, 2, 0, 0, 1, 1, true}, {image}, {2, 16, 12}, 2},
      {OpKind::proposals, ProposalAttributes{1000, 100}, {image}, {100, 4}, 0},
      {OpKind::roi_pool, RoiPoolAttributes{100, 7}, {image}, {4, 700, 7}, 0},
      {OpKind::element_loss, {}, {{7}}, {7}, 0},
      {OpKind::ctc_loss, {}, {{9, 16}}, {9, 16}, 0},
      {OpKind::attention, AttentionAttributes{4, true, 0, 3, 2, true}, {{9, 16}, {7, 16}, {7, 8}}, {9, 8}, 1},
      {OpKind::sequence_reverse, {}, {{9, 16}}, {9, 16}, 0},
      {OpKind::rms_norm, {}, {{9, 16}}, {9, 16}, 1},
      {OpKind::rope, {}, {{9, 16}}, {9, 16}, 0},
      {OpKind::gated, ActivationAttributes{ActivationKind::silu}, {{9, 16}, {9, 16}}, {9, 16}, 0},
      {OpKind::repeat, RepeatAttributes{3}, {{2, 9, 4}}, {6, 9, 4}, 0},
      {OpKind::route, RouteAttributes{2}, {{9, 16}, {9, 4}}, {18, 16}, 0},
      {OpKind::grouped_linear, GroupedLinearAttributes{4, 5, true}, {{18, 16}}, {18, 5}, 2},
      {OpKind::combine, {}, {{18, 16}, {9, 4}}, {9, 16}, 0},
      {OpKind::latent_keys, LatentKeysAttributes{4}, {{9, 16}, {9, 2}}, {9, 24}, 0},
      {OpKind::pair_products, PairProductsAttributes{8}, {{9, 16}, {16}}, {56}, 0},
      {OpKind::collective,
       CollectiveAttributes{CollectiveKind::all_gather, CollectiveKind::reduce_scatter, Axis::tensor, true},
       {{9, 16}},
       {9, 16},
       0},
      {OpKind::by_bytes, ByBytesAttributes{{9, 3}, {{16, 3}}}, {{9, 16}, {4}}, {9, 3}, 1},
  };
}

}  // namespace

TEST_CASE("every kind infers its shape and owns what the table says") {
  std::set<OpKind> seen;
  for (const Example& e : examples()) {
    INFO(info(e.kind).name);
    seen.insert(e.kind);
    std::vector<const Shape*> inputs;
    for (const Shape& shape : e.inputs) inputs.push_back(&shape);
    const auto output = infer_shape(e.kind, e.attributes, inputs);
    REQUIRE(output);
    CHECK(*output == e.output);
    CHECK(parameters_of(e.kind, e.attributes, e.inputs.front(), false).size() == e.arrays);
    CHECK((e.arrays > 0) == info(e.kind).has_parameters());
  }
  CHECK(seen.size() + 1 == op_kinds().size());  // all but the input
}

TEST_CASE("every kind goes through a training step: work, what backward keeps, and a share that is the whole") {
  for (const Example& e : examples()) {
    const OperatorRow& row = info(e.kind);
    INFO(row.name);
    GraphBuilder builder("one", "file", "sample", e.inputs.front(), 1);
    std::vector<TensorId> inputs{builder.input()};
    for (std::size_t i = 1; i < e.inputs.size(); ++i) inputs.push_back(builder.another_input(e.inputs[i], "more"));
    // A trainable bias upstream: every input but tokens needs a gradient.
    if (e.kind != OpKind::embedding)
      for (TensorId& input : inputs) input = builder.add(OpKind::learned_bias, {input}, LearnedBiasAttributes{});
    const TensorId output = builder.add(e.kind, inputs, e.attributes, "it");
    const OpGraph graph = std::move(builder).finish().value();
    const OpId id = graph.tensor(output).producer;
    const Op& op = graph.op(id);
    CHECK(graph.tensor(output).needs_gradient == (row.gradient != GradientRule::none));
    CHECK(op.parameters.size() == e.arrays);
    Flop forward, backward;
    int backward_nodes = 0;
    const TrainingStep step = training_step(graph);
    for (const StepNode& node : step.forward)
      if (node.op == id) forward += flop_per_sample(graph, node);
    for (const StepNode& node : step.backward)
      if (node.op == id) backward += flop_per_sample(graph, node), ++backward_nodes;
    CHECK((forward > Flop(0.0)) == multiplies(row));
    CHECK((backward > forward) == multiplies(row));
    if (row.splits_backward) CHECK((backward_nodes == 2 && backward == 2.0 * forward));
    for (const SavingRules rules : {SavingRules::autograd, SavingRules::autograd_cuda, SavingRules::mxnet,
                                    SavingRules::mxnet_later, SavingRules::tensorflow}) {
      const SavedByOp saved = saved_by_ops(graph, rules)[static_cast<std::size_t>(id.value)];
      for (const TensorId tensor : saved.tensors)
        CHECK((tensor == output || std::find(op.inputs.begin(), op.inputs.end(), tensor) != op.inputs.end()));
      CHECK(saved.extra_per_sample >= Bytes(0.0));
      CHECK(saved.extra_fixed >= Bytes(0.0));
      if (row.saved == nullptr) CHECK((saved.tensors.empty() && saved.extra_per_sample + saved.extra_fixed == Bytes(0.0)));
    }
    if (row.view == ViewRule::always) CHECK(elements(e.output) == elements(e.inputs.front()));
    if (row.may_overwrite) CHECK(e.output == e.inputs.front());
    if (row.placement != Placement::sequence) continue;
    // Position by position: twice the rows make twice the output, of arrays that stay.
    const Shape longer{2 * e.inputs.front().front(), e.inputs.front().back()};
    CHECK(elements(infer_shape(e.kind, row.attributes == nullptr ? OpAttributes{} : row.attributes(), {&longer}).value()) ==
          2 * elements(e.output));
  }
}

TEST_CASE("a root-mean-square norm keeps one statistic of a row where layer norm keeps two") {
  // 9 rows of 16: what they read, 4 B each, and statistics of 4 B.
  const auto kept = [](OpKind kind) {
    GraphBuilder builder("one", "file", "sample", {9, 16}, 1);
    const TensorId sum = builder.add(OpKind::learned_bias, {builder.input()}, LearnedBiasAttributes{});
    builder.add(kind, {sum}, {}, "norm");
    return saved_bytes(std::move(builder).finish().value(), SavingRules::autograd_cuda).per_sample;
  };
  CHECK(kept(OpKind::layer_norm) == Bytes(9 * 16 * 4 + 9 * 8));
  CHECK(kept(OpKind::rms_norm) == Bytes(9 * 16 * 4 + 9 * 4));
}

// Scores of 4 experts for each of 9 tokens, 2 experts a token. The choice of experts has no gradient: that of the scores is the
// one of `combine`, and nothing is added up.
TEST_CASE("routing, experts and combination by hand: work, gradients and what backward keeps") {
  GraphBuilder builder("experts", "file", "sample", {9, 16}, 1);
  const TensorId x = builder.add(OpKind::learned_bias, {builder.input()}, LearnedBiasAttributes{});
  const TensorId scores = builder.linear(x, 4, "scores", false);
  const TensorId rows = builder.add(OpKind::route, {x, scores}, RouteAttributes{2}, "route");
  const TensorId made = builder.add(OpKind::grouped_linear, {rows}, GroupedLinearAttributes{4, 16}, "product");
  builder.softmax_loss(builder.add(OpKind::combine, {made, scores}, {}, "combine"), "loss");
  const OpGraph graph = std::move(builder).finish().value();
  CHECK(graph.parameter_elements() == 16 + 4 * 16 + 4 * 16 * 16);
  // A token meets its scores' weights and those of two experts.
  CHECK(macs_per_sample(graph).forward == 9 * 16 * 4 + 9 * 2 * 16 * 16);
  CHECK(macs_per_sample(graph).backward == 2 * macs_per_sample(graph).forward);
  std::vector<std::string> sums;
  for (const StepNode& node : training_step(graph).backward)
    if (node.pass == Pass::gradient_sum) sums.push_back(graph.op(node.op).name);
  CHECK(sums == std::vector<std::string>{"learned_bias0"});
  // x; 4 probabilities of a token, 4 B each; two indices of 8 B and a weight of 4 B for each of 18 rows; these rows of 16
  // features before and after the product.
  CHECK(saved_bytes(graph, SavingRules::autograd_cuda, Bytes(2.0)).per_sample ==
        Bytes(9 * 16 * 2 + 9 * 4 * 4 + 18 * 20 + 2 * 18 * 16 * 2));
}

TEST_CASE("attention in a window: work of the keys that are seen, values of another width") {
  const auto macs = [](std::int64_t window) {
    GraphBuilder builder("one", "file", "sample", {100, 16}, 1);
    const TensorId x = builder.add(OpKind::learned_bias, {builder.input()}, LearnedBiasAttributes{});
    const TensorId v = builder.linear(x, 8, "values", false);
    builder.add(OpKind::attention, {x, x, v}, AttentionAttributes{4, true, 0, window, 2}, "attention");
    return macs_per_sample(std::move(builder).finish().value()).forward - 100 * 16 * 8;
  };
  CHECK(macs(0) == 100 * 100 * (16 + 8));
  CHECK(macs(100) == macs(0));
  CHECK(macs(30) == 100 * 30 * (16 + 8));
}

TEST_CASE("impossible operators are refused with their reason") {
  const auto reason = [](OpKind kind, OpAttributes attributes, std::vector<Shape> shapes) -> std::string {
    std::vector<const Shape*> inputs;
    for (const Shape& shape : shapes) inputs.push_back(&shape);
    const auto output = infer_shape(kind, attributes, inputs);
    return output ? "accepted as " + to_text(*output) : output.error();
  };
  const auto convolution = [](std::int64_t kernel, std::int64_t pad, std::int64_t dilation, std::int64_t groups) {
    return ConvolutionAttributes{4, kernel, kernel, 1, 1, pad, pad, dilation, groups, false};
  };
  using K = OpKind;
  // Both sides of each limit.
  CHECK(reason(K::convolution, convolution(7, 0, 1, 1), {{3, 7, 7}}) == "accepted as 4x1x1");
  CHECK(reason(K::convolution, convolution(8, 0, 1, 1), {{3, 7, 7}}) == "kernel 8x8 is larger than the padded input 7x7");
  CHECK(reason(K::convolution, convolution(3, 0, 3, 1), {{3, 7, 7}}) == "accepted as 4x1x1");
  CHECK(reason(K::convolution, convolution(3, 0, 4, 1), {{3, 7, 7}}) == "kernel 9x9 is larger than the padded input 7x7");
  CHECK(reason(K::convolution, convolution(8, 1, 1, 1), {{3, 7, 7}}) == "accepted as 4x2x2");
  CHECK(reason(K::convolution, convolution(1, 0, 1, 2), {{3, 7, 7}}) ==
        "3 input and 4 output channels do not divide into 2 groups");
  CHECK(reason(K::convolution, convolution(1, 0, 1, 1), {{3}}) == "expects an image (CxHxW), got 3");
  const auto pool = [](std::int64_t kernel, std::int64_t pad) {
    return PoolAttributes{PoolKind::max, kernel, kernel, 1, 1, pad, pad, false};
  };
  CHECK(reason(K::pool, pool(6, 0), {{1024, 6, 6}}) == "accepted as 1024x1x1");
  CHECK(reason(K::pool, pool(7, 0), {{1024, 6, 6}}) == "kernel 7x7 is larger than the padded input 6x6");
  CHECK(reason(K::pool, pool(2, 1), {{1, 6, 6}}) == "accepted as 1x7x7");
  CHECK(reason(K::pool, pool(2, 2), {{1, 6, 6}}) == "padding 2x2 must be between 0 and half of the kernel 2x2");
  CHECK(reason(K::linear, LinearAttributes{5, true}, {{2, 3, 4}}) ==
        "expects a vector or a sequence, got 2x3x4; flatten it first");
  CHECK(reason(K::add, {}, {{64, 56, 56}, {64, 28, 28}}) == "shapes 64x56x56 and 64x28x28 differ");
  CHECK(reason(K::add, {}, {{64}}) == "add takes at least 2 inputs, got 1");
  CHECK(reason(K::multiply, {}, {{1}, {1}, {1}}) == "multiply takes at most 2 inputs, got 3");
  CHECK(reason(K::dropout, DropoutAttributes{0.5}, {}) == "dropout takes 1 input, got 0");
  CHECK(reason(K::dropout, DropoutAttributes{1.0}, {{3}}) == "probability must be at least 0 and below 1, got 1");
  CHECK(reason(K::concat, {}, {{3, 4, 4}, {3, 4, 5}}) == "shapes 3x4x4 and 3x4x5 differ outside the joined dimension");
  CHECK(reason(K::slice, SliceAttributes{0, 0, 3}, {{3}}) == "accepted as 3");
  CHECK(reason(K::slice, SliceAttributes{0, 0, 4}, {{3}}) == "range 0..4 is empty or outside dimension 0 of 3");
  CHECK(reason(K::slice, SliceAttributes{1, 0, 1}, {{3}}) == "axis 1 is outside the 1 dimensions of 3");
  CHECK(reason(K::matmul, MatmulAttributes{}, {{9, 16}, {5, 16}}) == "inner dimensions 16 and 5 of 9x16 and 5x16 differ");
  CHECK(reason(K::lstm, RecurrentAttributes{4, 1, false, true}, {{9}}) == "expects a sequence (TxH), got 9");
  CHECK(reason(K::reshape, ReshapeAttributes{{4, 6}}, {{2, 3, 4}}) == "accepted as 4x6");
  CHECK(reason(K::reshape, ReshapeAttributes{{5, 5}}, {{2, 3, 4}}) == "2x3x4 has 24 elements, 5x5 does not");
  CHECK(reason(K::reshape, ReshapeAttributes{{24, 0}}, {{24}}) == "dimensions must be at least 1, got 24x0");
  CHECK(reason(K::concat, ConcatAttributes{0}, {{3, 5}, {4, 5}}) == "accepted as 7x5");
  CHECK(reason(K::concat, ConcatAttributes{2}, {{3, 5}, {4, 5}}) == "axis 2 is outside the 2 dimensions of 3x5");
  CHECK(reason(K::transpose, TransposeAttributes{{1, 1}}, {{3, 5}}) == "order [1, 1] does not permute the dimensions of 3x5");
  CHECK(reason(K::learned_bias, LearnedBiasAttributes{9}, {{9, 4}}) == "accepted as 9x4");
  CHECK(reason(K::learned_bias, LearnedBiasAttributes{8}, {{9, 4}}) == "a table of 8 positions is too short for 9x4");
  CHECK(reason(K::learned_bias, LearnedBiasAttributes{17, false, 4}, {{8, 9, 9}}) == "accepted as 8x9x9");
  CHECK(reason(K::learned_bias, LearnedBiasAttributes{17, false, 3}, {{8, 9, 9}}) ==
        "expects `rows` and products of 3 heads, got 8x9x9");
  CHECK(reason(K::learned_bias, LearnedBiasAttributes{0, false, 4}, {{8, 9, 9}}) ==
        "expects `rows` and products of 4 heads, got 8x9x9");
  CHECK(reason(K::prepend_token, {}, {{9}}) == "expects a sequence (TxH), got 9");
  CHECK(reason(K::gather, GatherAttributes{0}, {{9, 4}}) == "rows must be at least 1, got 0");
  CHECK(reason(K::reduce, ReduceAttributes{0}, {{9}}) == "accepted as 1");
  CHECK(reason(K::reduce, ReduceAttributes{1}, {{9}}) == "axis 1 is outside the 1 dimensions of 9");
  CHECK(reason(K::group_norm, GroupNormAttributes{3}, {{4, 8, 8}}) == "4 channels do not divide into 3 groups");
  CHECK(reason(K::attention, AttentionAttributes{4, false}, {{9, 16}, {7, 16}, {6, 16}}) ==
        "expects queries, keys and values of one width, as many keys as values, got 9x16, 7x16 and 6x16");
  CHECK(reason(K::attention, AttentionAttributes{3, false}, {{9, 16}, {7, 16}, {7, 16}}) ==
        "width 16 does not divide into 3 heads");
  CHECK(reason(K::rope, {}, {{9, 15}}) == "expects an even number of features, got 15");
  CHECK(reason(K::attention, AttentionAttributes{4, true, 2}, {{9, 16}, {7, 8}, {7, 8}}) == "accepted as 9x16");
  CHECK(reason(K::attention, AttentionAttributes{4, true, 3}, {{9, 16}, {7, 12}, {7, 12}}) ==
        "4 heads of queries do not share 3 heads of keys and values evenly");
  CHECK(reason(K::attention, AttentionAttributes{4, true, 2}, {{9, 16}, {7, 16}, {7, 16}}) ==
        "2 heads of 4 features expect 8 of keys and values, got 16");
  CHECK(reason(K::attention, AttentionAttributes{4, true, 0, 0, 3}, {{9, 16}, {7, 16}, {7, 12}}) == "accepted as 9x12");
  CHECK(reason(K::attention, AttentionAttributes{4, true, 0, 0, 3}, {{9, 16}, {7, 16}, {7, 16}}) ==
        "expects queries, keys and values of one width, as many keys as values, got 9x16, 7x16 and 7x16");
  CHECK(reason(K::rms_norm, RmsNormAttributes{4}, {{9, 16}}) == "accepted as 9x16");
  CHECK(reason(K::rms_norm, RmsNormAttributes{5}, {{9, 16}}) == "16 features do not divide into groups of 5");
  CHECK(reason(K::route, RouteAttributes{4}, {{9, 16}, {9, 4}}) == "accepted as 36x16");
  CHECK(reason(K::route, RouteAttributes{5}, {{9, 16}, {9, 4}}) == "a row cannot go to 5 of 4 experts");
  CHECK(reason(K::route, RouteAttributes{4, 4, 2}, {{9, 16}, {9, 8}}) == "accepted as 36x16");
  CHECK(reason(K::route, RouteAttributes{4, 4, 1}, {{9, 16}, {9, 8}}) == "a row cannot go to 4 of 8 experts in 1 of 4 groups");
  CHECK(reason(K::route, RouteAttributes{4, 3, 2}, {{9, 16}, {9, 8}}) == "a row cannot go to 4 of 8 experts in 2 of 3 groups");
  CHECK(reason(K::route, RouteAttributes{4, 4, 0}, {{9, 16}, {9, 8}}) == "a row cannot go to 4 of 8 experts in 0 of 4 groups");
  CHECK(reason(K::route, RouteAttributes{1}, {{9, 16}, {8, 4}}) ==
        "expects a sequence and its rows' scores of all experts, got 9x16 and 8x4");
  CHECK(reason(K::grouped_linear, GroupedLinearAttributes{0, 5}, {{9, 16}}) ==
        "experts and features must be at least 1, got 0 and 5");
  CHECK(reason(K::combine, {}, {{18, 16}, {4, 4}}) == "expects equally many rows for each row of scores, got 18x16 and 4x4");
  CHECK(reason(K::latent_keys, LatentKeysAttributes{3}, {{9, 16}, {9, 2}}) == "width 16 does not divide into 3 heads");
  CHECK(reason(K::embedding, EmbeddingAttributes{100, 16, false, 3}, {{9}}) == "accepted as 3x16");
  CHECK(reason(K::embedding, EmbeddingAttributes{100, 16, false, 2}, {{9}}) == "bags of 2 tokens: 9 is no multiple of 2");
  CHECK(reason(K::embedding, EmbeddingAttributes{100, 16, true, 1, true}, {{9}}) == "tied: sparse is said where the table is");
  CHECK(reason(K::embedding, EmbeddingAttributes{100, 16, false, 3, true, true}, {{9}}) ==
        "joint needs sparse = true and bag = 1");
  CHECK(reason(K::pair_products, PairProductsAttributes{1}, {{9, 16}, {16}}) == "accepted as 52");
  CHECK(reason(K::pair_products, PairProductsAttributes{0}, {{9, 16}, {16}}) == "multiple must be at least 1, got 0");
  CHECK(reason(K::pair_products, PairProductsAttributes{}, {{9, 16}, {9, 16}}) ==
        "expects a matrix and a vector, got 9x16 and 9x16");
  CHECK(reason(K::repeat, RepeatAttributes{0}, {{9, 4}}) == "times must be 1 to 1000000, got 0");
  CHECK(reason(K::pairwise_add, {}, {{9, 4}, {7, 5}}) == "expects two sequences of equal width, got 9x4 and 7x5");
  CHECK(reason(K::upsample, UpsampleAttributes{0}, {{4, 8, 8}}) == "factor must be at least 1, got 0");
  CHECK(reason(K::transposed_convolution, ConvolutionAttributes{4, 1, 1, 1, 1, 1, 1, 1, 1, true}, {{4, 2, 2}}) ==
        "padding 1x1 leaves nothing of 4x2x2");
  CHECK(reason(K::proposals, ProposalAttributes{9, 10}, {{4, 8, 8}}) ==
        "expects at least 1 box kept of as many candidates or more, got 10 of 9");
  CHECK(reason(K::roi_pool, RoiPoolAttributes{0, 7}, {{4, 8, 8}}) == "regions and size must be at least 1, got 0 and 7");
  CHECK(reason(K::channel_shuffle, ShuffleAttributes{2}, {{3, 1, 1}}) == "3 channels do not divide into 2 groups");
}

TEST_CASE("a ceiling pool has no window that starts in the padding") {
  // PyTorch: 6 pixels, kernel 3, stride 2, no padding: floor gives 2 windows, ceil 3 (the last from pixel 4, one short).
  const auto width = [](std::int64_t extent, std::int64_t kernel, std::int64_t stride, std::int64_t pad, bool ceil_mode) {
    const Shape x{1, extent, extent};
    const PoolAttributes a{PoolKind::max, kernel, kernel, stride, stride, pad, pad, ceil_mode};
    return infer_shape(OpKind::pool, a, {&x}).value()[1];
  };
  CHECK(width(6, 3, 2, 0, false) == 2);
  CHECK(width(6, 3, 2, 0, true) == 3);
  CHECK(width(7, 3, 2, 0, true) == 3);
  // 5 pixels, kernel 2, stride 2, padding 1: ceil would be 4 windows, but the fourth starts at pixel 5.
  CHECK(width(5, 2, 2, 1, true) == 3);
}
