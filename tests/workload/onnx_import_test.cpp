// What becomes of nodes, from files written here byte by byte; and what hostile files are told. Long because every kind of node
// that is refused has its own file and message.
#include "model/workload/onnx_import.hpp"

#include <algorithm>
#include <cmath>

#include "model/workload/op_counts.hpp"
#include "tests/catch.hpp"
#include "tests/workload/onnx_bytes.hpp"

using namespace tbdsim;
using onnx_bytes::File;

namespace {

const onnx_bytes::Dimensions kImage{"N", 3, 8, 8}, kVector{"N", 12}, kSequence{"N", 6, 8}, kTokens{"N", 6};

ImportedNetwork import(const File& file, const OnnxSizes& sizes = {}) {
  auto network = import_onnx(file.bytes(), "x.onnx", "x", sizes);
  if (!network) FAIL(to_text(network.error()));
  return std::move(*network);
}

/// Why bytes are refused.
std::string refusal(const std::string& bytes, const OnnxSizes& sizes = {}) {
  const auto network = import_onnx(bytes, "x.onnx", "x", sizes);
  if (network) return "accepted";
  return network.error().front().text();
}
std::string refusal(const File& file) { return refusal(file.bytes()); }

/// Kinds of the operators after the inputs, before the losses: "convolution activation".
std::string kinds(const OpGraph& graph) {
  std::string text;
  for (const Op& op : graph.ops)
    if (op.kind != OpKind::input && !is_loss(op.kind)) text += (text.empty() ? "" : " ") + std::string(info(op.kind).name);
  return text;
}

std::string kinds(const File& file) { return kinds(import(file).graph); }

File with_input(const onnx_bytes::Dimensions& dims, int type = onnx_bytes::kReal) {
  File file;
  return file.input("x", dims, type);
}

}  // namespace

TEST_CASE("a small convolutional network has the counts of its arithmetic") {
  File file = with_input(kImage);
  file.input("conv.weight", {4, 3, 3, 3}).input("conv.bias", {4}).input("fc.weight", {10, 256}).input("fc.bias", {10});
  file.node("Conv", {"x", "conv.weight", "conv.bias"}, {"c"}, {onnx_bytes::list("pads", {1, 1, 1, 1})});
  file.node("Relu", {"c"}, {"r"}).node("Flatten", {"r"}, {"f"});
  file.node("Gemm", {"f", "fc.weight", "fc.bias"}, {"y"}, {onnx_bytes::single("transB", 1)}).output("y");
  const OpGraph graph = import(file).graph;
  CHECK(kinds(graph) == "convolution activation reshape linear");
  CHECK(graph.parameter_elements() == 4 * 27 + 4 + 2560 + 10);
  CHECK(macs_per_sample(graph).forward == 64 * 4 * 27 + 2560);
  CHECK(graph.ops[1].name == "conv");
  CHECK(graph.ops[2].inplace);
  CHECK(graph.input_unit == "image");
}

TEST_CASE("weights are told from data with initial values too, and never read") {
  // The weights of 400 MB are named, not there: a file of this size could not hold them.
  File file = with_input(kVector);
  file.weight("w", {12, 8000000}).node("MatMul", {"x", "w"}, {"y"}).output("y");
  CHECK(import(file).graph.parameter_elements() == 96000000);
  // Kept beside the file, which is missing.
  File outside = with_input(kVector);
  outside.constant(onnx_bytes::number(1, 12) + onnx_bytes::number(1, 5) + onnx_bytes::number(2, 1) + onnx_bytes::text(8, "w") +
                   onnx_bytes::text(13, onnx_bytes::text(1, "location") + onnx_bytes::text(2, "missing.bin")) +
                   onnx_bytes::number(14, 1));
  outside.node("MatMul", {"x", "w"}, {"y"}).output("y");
  CHECK(import(outside).graph.parameter_elements() == 60);
}

TEST_CASE("the digest of a file leaves its weights out") {
  const auto digest = [](char fill, int size) {
    File file = with_input(kVector);
    file.constant(onnx_bytes::number(1, 12) + onnx_bytes::number(1, 500) + onnx_bytes::number(2, 1) + onnx_bytes::text(8, "w") +
                  onnx_bytes::text(9, std::string(static_cast<std::size_t>(size), fill)));
    return import(file.node("MatMul", {"x", "w"}, {"y"}).output("y")).sha256;
  };
  CHECK(digest('a', 24000) == digest('b', 24000));
  CHECK(digest('a', 4096) != digest('b', 4096));  // short enough to be structure
}

TEST_CASE("a file for one batch size is read with a notice, its reshapes too") {
  File file;
  file.input("x", {2, 3, 4}).weight("w", {12, 5}).constant(onnx_bytes::integers("to", {2, 12}));
  file.node("Reshape", {"x", "to"}, {"f"}).node("MatMul", {"f", "w"}, {"y"}).output("y");
  const ImportedNetwork network = import(file);
  CHECK(kinds(network.graph) == "reshape linear");
  CHECK(network.notices.front() == "the file fixes the first dimension of its inputs to 2: taken as the batch");
}

TEST_CASE("shape arithmetic is folded, with the batch in it") {
  File file = with_input(kSequence);
  file.constant(onnx_bytes::integers("zero", {0}, true)).constant(onnx_bytes::integers("two", {2}, true));
  file.constant(onnx_bytes::integers("axis", {0})).constant(onnx_bytes::integers("rest", {-1}));
  file.node("Shape", {"x"}, {"s"}).node("Gather", {"s", "zero"}, {"n"}).node("Mul", {"n", "two"}, {"n2"});
  file.node("Unsqueeze", {"n2", "axis"}, {"n2v"}).node("Concat", {"n2v", "rest"}, {"to"}, {onnx_bytes::single("axis", 0)});
  file.node("Reshape", {"x", "to"}, {"r"}).node("Tanh", {"r"}, {"y"}).output("y");
  const OpGraph graph = import(file).graph;
  CHECK(kinds(graph) == "reshape activation");
  CHECK(to_text(graph.output_shape(graph.ops[2])) == "2x24");  // [2N, 24]
}

TEST_CASE("groups of nodes become the operators that frameworks run") {
  const auto scalar = [](File& file, const char* name, float value) { file.constant(onnx_bytes::scalar(name, value)); };
  SECTION("layer norm, with its scale and shift") {
    File file = with_input(kSequence);
    scalar(file, "two", 2.0F), scalar(file, "eps", 1e-5F);
    file.weight("gamma", {8}).weight("beta", {8});
    file.node("ReduceMean", {"x"}, {"m"}, {onnx_bytes::list("axes", {-1})}).node("Sub", {"x", "m"}, {"d"});
    file.node("Pow", {"d", "two"}, {"q"}).node("ReduceMean", {"q"}, {"v"}, {onnx_bytes::list("axes", {-1})});
    file.node("Add", {"v", "eps"}, {"e"}).node("Sqrt", {"e"}, {"r"}).node("Div", {"d", "r"}, {"n"});
    file.node("Mul", {"n", "gamma"}, {"g"}).node("Add", {"g", "beta"}, {"y"}).output("y");
    CHECK(kinds(file) == "layer_norm");
    file.output("v");  // someone reads what is inside: no longer one operator
    CHECK(kinds(file) != "layer_norm");
  }
  SECTION("a norm without mean and shift, as ONNX and as its runtime call it") {
    for (const char* type : {"RMSNormalization", "SimplifiedLayerNormalization"}) {
      File file = with_input(kSequence);
      file.weight("gamma", {8}).node(type, {"x", "gamma"}, {"y"}, {onnx_bytes::single("axis", -1)}).output("y");
      const OpGraph graph = import(file).graph;
      CHECK(kinds(graph) == "rms_norm");
      CHECK(graph.parameter_elements() == 8);
    }
    File other = with_input(kSequence);  // over two axes: no rows
    other.weight("gamma", {8}).node("RMSNormalization", {"x", "gamma"}, {"y"}, {onnx_bytes::single("axis", 1)}).output("y");
    CHECK(kinds(other) == "by_bytes");
  }
  SECTION("GELU by erf") {
    File file = with_input(kSequence);
    scalar(file, "root", 1.4142F), scalar(file, "one", 1.0F), scalar(file, "half", 0.5F);
    file.node("Div", {"x", "root"}, {"d"}).node("Erf", {"d"}, {"e"}).node("Add", {"e", "one"}, {"p"});
    file.node("Mul", {"x", "p"}, {"m"}).node("Mul", {"m", "half"}, {"y"}).output("y");
    CHECK(kinds(file) == "activation");
  }
  SECTION("SiLU") {
    File file = with_input(kSequence);
    CHECK(kinds(file.node("Sigmoid", {"x"}, {"s"}).node("Mul", {"x", "s"}, {"y"}).output("y")) == "activation");
  }
  SECTION("the bias of a product") {
    File file = with_input(kSequence);
    file.weight("w", {8, 5}).weight("b", {5});
    CHECK(kinds(file.node("MatMul", {"x", "w"}, {"p"}).node("Add", {"b", "p"}, {"y"}).output("y")) == "linear");
  }
  SECTION("a transposed second factor") {
    File file = with_input(kSequence);
    file.node("Transpose", {"x"}, {"t"}, {onnx_bytes::list("perm", {0, 2, 1})});
    CHECK(kinds(file.node("MatMul", {"x", "t"}, {"y"}).output("y")) == "matmul");
  }
  SECTION("moving the batch about, and copying for nothing") {
    File file = with_input(kSequence);
    file.node("Transpose", {"x"}, {"t"}, {onnx_bytes::list("perm", {1, 0, 2})}).node("Identity", {"t"}, {"i"});
    file.node("Transpose", {"i"}, {"u"}, {onnx_bytes::list("perm", {1, 0, 2})});
    CHECK(kinds(file.node("Tanh", {"u"}, {"y"}).output("y")) == "activation");
  }
}

TEST_CASE("attention is one operator where the exporter's framework has one") {
  File file = with_input(kSequence);
  file.constant(onnx_bytes::integers("split", {0, 6, 2, 4})).constant(onnx_bytes::integers("join", {0, 6, 8}));
  file.constant(onnx_bytes::scalar("scale", 0.7F));
  for (const char* p : {"q", "k", "v"}) {
    const std::string n(p);
    file.weight(n + ".weight", {8, 8})
        .node("MatMul", {"x", n + ".weight"}, {n + "1"})
        .node("Reshape", {n + "1", "split"}, {n + "2"});
    file.node("Transpose", {n + "2"}, {n + "3"}, {onnx_bytes::list("perm", {0, 2, n == "k" ? 3 : 1, n == "k" ? 1 : 3})});
  }
  file.node("Mul", {"q3", "scale"}, {"q4"}).node("Mul", {"k3", "scale"}, {"k4"}).node("MatMul", {"q4", "k4"}, {"s"});
  file.node("Softmax", {"s"}, {"a"}, {onnx_bytes::single("axis", -1)}).node("MatMul", {"a", "v3"}, {"c"});
  file.node("Transpose", {"c"}, {"t"}, {onnx_bytes::list("perm", {0, 2, 1, 3})})
      .node("Reshape", {"t", "join"}, {"y"})
      .output("y");
  const OpGraph apart = import(file).graph;
  CHECK(std::count_if(apart.ops.begin(), apart.ops.end(), [](const Op& op) { return op.kind == OpKind::matmul; }) == 2);
  file.producer = "pytorch", file.version = "2.1.0";
  const OpGraph fused = import(file).graph;
  CHECK(kinds(fused) == "linear linear linear attention");
  CHECK(std::get<AttentionAttributes>(fused.ops[4].attributes).heads == 2);
  CHECK(macs_per_sample(fused).forward == macs_per_sample(apart).forward);
  CHECK(macs_per_sample(fused).backward == macs_per_sample(apart).backward);
  CHECK(fused.parameter_elements() == apart.parameter_elements());
}

namespace {

/// x turned by positions, as transformers' apply_rotary_pos_emb: features of which the second half changes its sign.
void turn(File& file, const std::string& x, const std::string& y, std::int64_t width) {
  file.constant(onnx_bytes::integers(y + "0", {0})).constant(onnx_bytes::integers(y + "half", {width / 2}));
  file.constant(onnx_bytes::integers(y + "all", {width})).constant(onnx_bytes::integers(y + "last", {3}));
  file.constant(onnx_bytes::scalar(y + "cos", 0.5F)).constant(onnx_bytes::scalar(y + "sin", 0.5F));
  file.node("Slice", {x, y + "0", y + "half", y + "last"}, {y + "a"})
      .node("Slice", {x, y + "half", y + "all", y + "last"}, {y + "b"});
  file.node("Neg", {y + "b"}, {y + "n"}).node("Concat", {y + "n", y + "a"}, {y + "t"}, {onnx_bytes::single("axis", -1)});
  file.node("Mul", {x, y + "cos"}, {y + "c"}).node("Mul", {y + "t", y + "sin"}, {y + "s"}).node("Add", {y + "c", y + "s"}, {y});
}

/// 6 tokens of 16 features: 4 heads of 4 for queries, 2 for keys and values, each copied for two.
File grouped_attention() {
  File file = with_input({"N", 6, 16});
  file.constant(onnx_bytes::integers("four", {0, 6, 4, 4})).constant(onnx_bytes::integers("two", {0, 6, 2, 4}));
  file.constant(onnx_bytes::integers("join", {0, 6, 16})).constant(onnx_bytes::integers("heads", {0, 4, 6, 4}));
  file.constant(onnx_bytes::integers("copies", {1, 2, 2, 6, 4})).constant(onnx_bytes::integers("axis", {2}));
  file.constant(onnx_bytes::scalar("scale", 0.5F));
  for (const char* p : {"q", "k", "v"}) {
    const std::string n(p);
    const bool shared = n != "q";
    file.weight(n + ".weight", {16, shared ? 8 : 16}).node("MatMul", {"x", n + ".weight"}, {n + "1"});
    file.node("Reshape", {n + "1", shared ? "two" : "four"}, {n + "2"});
    file.node("Transpose", {n + "2"}, {n + "3"}, {onnx_bytes::list("perm", {0, 2, 1, 3})});
    if (n != "v") turn(file, n + "3", n + "4", 4);
    if (!shared) continue;
    file.node("Unsqueeze", {n == "v" ? "v3" : "k4", "axis"}, {n + "5"}).node("Expand", {n + "5", "copies"}, {n + "6"});
    file.node("Reshape", {n + "6", "heads"}, {n + "7"});
  }
  file.node("Transpose", {"k7"}, {"k8"}, {onnx_bytes::list("perm", {0, 1, 3, 2})});
  file.node("Mul", {"q4", "scale"}, {"q9"}).node("Mul", {"k8", "scale"}, {"k9"}).node("MatMul", {"q9", "k9"}, {"s"});
  file.node("Softmax", {"s"}, {"a"}, {onnx_bytes::single("axis", -1)}).node("MatMul", {"a", "v7"}, {"c"});
  file.node("Transpose", {"c"}, {"t"}, {onnx_bytes::list("perm", {0, 2, 1, 3})})
      .node("Reshape", {"t", "join"}, {"y"})
      .output("y");
  return file;
}

}  // namespace

TEST_CASE("a root-mean-square norm is one operator, by a reciprocal root or over the root") {
  for (const char* const way : {"Reciprocal", "one over", "over"}) {
    INFO(way);
    File file = with_input({"N", 6, 16});
    file.weight("w", {16}).constant(onnx_bytes::scalar("two", 2.0F)).constant(onnx_bytes::scalar("e", 1e-6F));
    file.constant(onnx_bytes::scalar("one", 1.0F));
    file.node("Pow", {"x", "two"}, {"p"}).node("ReduceMean", {"p"}, {"m"}, {onnx_bytes::list("axes", {-1})});
    file.node("Add", {"m", "e"}, {"g"}).node("Sqrt", {"g"}, {"r"});
    const std::string how(way);
    if (how == "Reciprocal") file.node("Reciprocal", {"r"}, {"i"});
    if (how == "one over") file.node("Div", {"one", "r"}, {"i"});
    if (how == "over")
      file.node("Div", {"x", "r"}, {"n"});
    else
      file.node("Mul", {"x", "i"}, {"n"});
    const OpGraph graph = import(file.node("Mul", {"w", "n"}, {"y"}).output("y")).graph;
    CHECK(kinds(graph) == "rms_norm");
    CHECK(graph.parameter_elements() == 16);
  }
}

TEST_CASE("positions that turn heads are one operator, shared heads of keys and values belong to attention") {
  File file = grouped_attention();
  const OpGraph apart = import(file).graph;
  CHECK(std::count_if(apart.ops.begin(), apart.ops.end(), [](const Op& op) { return op.kind == OpKind::rope; }) == 2);
  file.producer = "pytorch", file.version = "2.4.0";
  const OpGraph fused = import(file).graph;
  CHECK(kinds(fused) == "linear linear linear rope rope attention");
  const auto& attention = std::get<AttentionAttributes>(fused.ops[6].attributes);
  CHECK(attention.heads == 4);
  CHECK(attention.kv_heads == 2);
  CHECK(macs_per_sample(fused).forward == macs_per_sample(apart).forward);
  CHECK(fused.parameter_elements() == 16 * (16 + 8 + 8));
}

TEST_CASE("layers of a recurrent stack are one operator, and its last state is picked where it is read") {
  File file = with_input(kTokens, onnx_bytes::kInteger);
  file.weight("e.weight", {100, 16});
  file.node("Gather", {"e.weight", "x"}, {"g"}).node("Transpose", {"g"}, {"s0"}, {onnx_bytes::list("perm", {1, 0, 2})});
  file.constant(onnx_bytes::integers("one", {1})).constant(onnx_bytes::integers("zero", {0}));
  for (const char* i : {"0", "1"}) {
    const std::string n(i), next = n == "0" ? "s1" : "s2";
    file.weight("rnn.weight_ih_l" + n, {1, 32, n == "0" ? 16 : 8}).weight("rnn.weight_hh_l" + n, {1, 32, 8});
    file.weight("rnn.bias_ih_l" + n, {1, 64});
    file.node("LSTM", {"s" + n, "rnn.weight_ih_l" + n, "rnn.weight_hh_l" + n, "rnn.bias_ih_l" + n}, {"y" + n, "h" + n},
              {onnx_bytes::single("hidden_size", 8)});
    file.node("Squeeze", {"y" + n, "one"}, {next});
  }
  file.weight("fc.weight", {8, 3})
      .node("Squeeze", {"h1", "zero"}, {"h"})
      .node("MatMul", {"h", "fc.weight"}, {"out"})
      .output("out");
  const OpGraph graph = import(file).graph;
  CHECK(kinds(graph) == "embedding lstm gather reshape linear");
  CHECK(std::get<RecurrentAttributes>(graph.ops[2].attributes).layers == 2);
  CHECK(graph.parameter_elements() == 100 * 16 + 32 * (16 + 8) + 64 + 32 * (8 + 8) + 64 + 24);
  CHECK(graph.part_unit == "token");
}

TEST_CASE("one array in two places is trained once, and frozen ones never") {
  File file = with_input(kTokens, onnx_bytes::kInteger);
  file.weight("e.weight", {100, 16}).node("Gather", {"e.weight", "x"}, {"h"});
  file.node("Transpose", {"e.weight"}, {"t"}).node("MatMul", {"h", "t"}, {"y"}).output("y");
  CHECK(import(file).graph.parameter_elements() == 1600);
  CHECK(macs_per_sample(import(file).graph).backward == 2 * 6 * 1600);
  file.rest = onnx_bytes::text(14, onnx_bytes::text(1, "tbdsim.frozen") + onnx_bytes::text(2, "other\ne.weight"));
  CHECK(import(file).graph.parameter_elements() == 0);
}

TEST_CASE("parts of one array that several products use add up to the array") {
  File file = with_input(kSequence);
  file.weight("in_proj_weight", {8, 24}).node("Split", {"in_proj_weight"}, {"q", "k", "v"}, {onnx_bytes::single("axis", 1)});
  for (const char* part : {"q", "k", "v"})
    file.node("MatMul", {"x", part}, {std::string("y") + part}).output(std::string("y") + part);
  CHECK(import(file).graph.parameter_elements() == 192);
}

TEST_CASE("an operator without a rule is named, taken by its bytes, and widens the range") {
  File file = with_input(kSequence);
  file.node("Mystery", {"x"}, {"m"}, {}, "layer3/odd").node("Tanh", {"m"}, {"y"}).output("y");
  const ImportedNetwork network = import(file);
  CHECK(kinds(network.graph) == "by_bytes activation");
  CHECK(network.notices == std::vector<std::string>{"Mystery has no model of its own and is taken by the bytes it moves: node 0 "
                                                    "(Mystery \"layer3/odd\"); the range is wider"});
  CHECK(network.extra_spread == 0.25);  // one of four operators
}

TEST_CASE("symbolic lengths are given by option, and only where the file leaves them open") {
  File file;
  file.input("x", {"N", "T"}, onnx_bytes::kInteger).weight("e", {10, 4}).node("Gather", {"e", "x"}, {"y"}).output("y");
  CHECK(refusal(file) == "x.onnx: input \"x\": dimension 1 is symbolic (\"T\"); give it a size with --seq-len");
  const OpGraph graph = import(file, {std::nullopt, 7}).graph;
  CHECK(to_text(graph.output_shape(graph.ops[1])) == "7x4");
  CHECK(refusal(file.bytes(), {32, 7}) == "--image: x.onnx fixes the size of its inputs");
}

TEST_CASE("symbolic channels are no size of the image") {
  File file;
  file.input("x", {"N", "C", "H", "W"}).node("Relu", {"x"}, {"y"}).output("y");
  CHECK(refusal(file.bytes(), {32, std::nullopt}) ==
        "x.onnx: input \"x\": dimension 1, the channels, is symbolic (\"C\"); export it with their number");
}

TEST_CASE("hostile files are told what is wrong, and where") {
  const std::string hint = "export with dynamic_axes, as model/workload/export_onnx.py does";
  CHECK(refusal("") == "x.onnx: not an ONNX file: it holds no graph");
  CHECK(refusal("schema = 1\nname = \"a\"\n").substr(0, 32) == "x.onnx: not an ONNX file, or cut");
  SECTION("cut short anywhere: an error or a smaller network, never a crash") {
    File file = with_input(kImage);
    file.weight("w", {4, 3, 3, 3}).node("Conv", {"x", "w"}, {"c"}).node("Relu", {"c"}, {"y"}).output("y");
    const std::string bytes = file.bytes();
    for (std::size_t size = 0; size < bytes.size(); ++size) CHECK_FALSE(refusal(bytes.substr(0, size)).empty());
    CHECK(refusal(bytes) == "accepted");
  }
  SECTION("a cycle") {
    File file = with_input(kVector);
    file.node("Add", {"x", "b"}, {"a"}).node("Tanh", {"a"}, {"b"}).output("b");
    CHECK(refusal(file) == "x.onnx: node 0 (Add \"/a\") depends on itself: the nodes form a cycle");
  }
  SECTION("names") {
    File file = with_input(kVector);
    file.node("Tanh", {"gone"}, {"y"}).output("y");
    CHECK(refusal(file) == "x.onnx: node 0 (Tanh \"/y\"): nothing makes its input \"gone\"");
    File twice = with_input(kVector);
    twice.node("Tanh", {"x"}, {"y"}).node("Tanh", {"x"}, {"y"}).output("y");
    CHECK(refusal(twice) == "x.onnx: node 1 (Tanh \"/y\"): \"y\" is already made elsewhere");
    File ends = with_input(kVector);
    CHECK(refusal(ends.node("Tanh", {"x"}, {"y"})) == "x.onnx: the graph has no outputs");
    CHECK(refusal(with_input(kVector).output("x")) == "x.onnx: the graph has no nodes");
  }
  SECTION("no batch") {
    File file = with_input({3, 4});
    CHECK(refusal(file.node("Tanh", {"x"}, {"y"}).output("y")) ==
          "x.onnx: no input has a symbolic first dimension, the batch: " + hint);
  }
  SECTION("dimensions") {
    File negative = with_input({"N", -4});
    CHECK(refusal(negative.node("Tanh", {"x"}, {"y"}).output("y")) ==
          "x.onnx: input \"x\": dimension 1 is -4, expected at least 1");
    File huge = with_input({"N", 2000000000, 2000000000, 2000000000});
    CHECK(refusal(huge.node("Tanh", {"x"}, {"y"}).output("y")) ==
          "x.onnx: input \"x\": one sample of [N, 2000000000, 2000000000, 2000000000] is too large to simulate");
    File wide = with_input({"N", 1000000});
    wide.input("w", {1000000, 2000000}).node("MatMul", {"x", "w"}, {"y"}, {}, "fc").output("y");
    CHECK(refusal(wide) ==
          "x.onnx: node 0 (MatMul \"fc\"): cannot multiply [N, 1000000] by [1000000, 2000000]: too large to simulate, or not "
          "known");
    File apart = with_input(kSequence);
    apart.input("w", {9, 4}).node("MatMul", {"x", "w"}, {"y"}, {}, "fc").output("y");
    CHECK(refusal(apart) == "x.onnx: node 0 (MatMul \"fc\"): inner dimensions of [N, 6, 8] and [9, 4] differ");
  }
  SECTION("attributes out of range") {
    File file = with_input(kImage);
    file.input("w", {4, 3, 3, 3}).node("Conv", {"x", "w"}, {"y"}, {onnx_bytes::list("strides", {0, 1})}, "c").output("y");
    CHECK(refusal(file) ==
          "x.onnx: node 0 (Conv \"c\"): kernel, strides, paddings, dilations and groups must be positive and fit the input");
  }
  SECTION("attributes that contradict") {
    File kernel = with_input(kImage);
    kernel.input("w", {4, 3, 3, 3}).node("Conv", {"x", "w"}, {"y"}, {onnx_bytes::list("kernel_shape", {5, 5})}, "c").output("y");
    CHECK(refusal(kernel) ==
          "x.onnx: node 0 (Conv \"c\"): its attribute \"kernel_shape\" is not that of its weights [4, 3, 3, 3]");
    File padding = with_input(kImage);
    padding.input("w", {4, 3, 3, 3}).node("Conv", {"x", "w"}, {"y"}, {onnx_bytes::word("auto_pad", "SAME")}, "c").output("y");
    CHECK(
        refusal(padding) ==
        "x.onnx: node 0 (Conv \"c\"): its attribute \"auto_pad\" is \"SAME\", expected NOTSET, SAME_UPPER, SAME_LOWER or VALID");
  }
  SECTION("attributes and inputs of another type") {
    File window = with_input(kImage);
    window.input("w", {4, 3, 3, 3}).node("Conv", {"x", "w"}, {"y"}, {onnx_bytes::single("strides", 1)}, "c").output("y");
    CHECK(refusal(window) == "x.onnx: node 0 (Conv \"c\"): its attribute \"strides\" is of another type, expected whole numbers");
    File words = with_input(kImage);
    CHECK(refusal(words.node("Softmax", {"x"}, {"y"}, {onnx_bytes::word("axis", "last")}, "s").output("y")) ==
          "x.onnx: node 0 (Softmax \"s\"): its attribute \"axis\" is of another type, expected a whole number");
    File texts;
    texts.input("x", {"N", 4}, 8).node("Tanh", {"x"}, {"y"}).output("y");
    CHECK(refusal(texts) == "x.onnx: input \"x\" holds texts, expected numbers");
  }
  SECTION("axes beyond the dimensions, orders that are none, two unknowns") {
    for (const int axis : {3, -4}) {
      File fits = with_input(kSequence);
      CHECK(refusal(fits.node("Softmax", {"x"}, {"y"}, {onnx_bytes::single("axis", axis)}).output("y")) == "accepted");
    }
    File far = with_input(kSequence);
    CHECK(refusal(far.node("Softmax", {"x"}, {"y"}, {onnx_bytes::single("axis", 4)}, "s").output("y")) ==
          "x.onnx: node 0 (Softmax \"s\"): its axis 4 is beyond the dimensions of [N, 6, 8]");
    for (const std::vector<std::int64_t>& order : {std::vector<std::int64_t>{0, 1, 1}, {0, 1}, {0, 1, 3}}) {
      File file = with_input(kSequence);
      CHECK(refusal(file.node("Transpose", {"x"}, {"y"}, {onnx_bytes::list("perm", order)}, "t").output("y")) ==
            "x.onnx: node 0 (Transpose \"t\"): its attribute \"perm\" is no order of the axes of [N, 6, 8]");
    }
    File open = with_input(kSequence);
    open.constant(onnx_bytes::integers("to", {-1, -1})).node("Reshape", {"x", "to"}, {"y"}, {}, "r").output("y");
    CHECK(refusal(open) ==
          "x.onnx: node 0 (Reshape \"r\"): the shape of its output \"y\" cannot be derived: nothing is known of it");
  }
  SECTION("ranges, parts and joins that are none") {
    const auto sliced = [](const std::vector<std::int64_t>& starts, std::int64_t end, std::int64_t axis, std::int64_t step) {
      File file = with_input(kSequence);
      file.constant(onnx_bytes::integers("s", starts)).constant(onnx_bytes::integers("e", {end}));
      file.constant(onnx_bytes::integers("a", {axis})).constant(onnx_bytes::integers("d", {step}));
      return refusal(file.node("Slice", {"x", "s", "e", "a", "d"}, {"y"}, {}, "s").output("y"));
    };
    const std::string slice = "x.onnx: node 0 (Slice \"s\"): ";
    constexpr std::int64_t kEnd = INT64_MAX;
    CHECK(sliced({1}, kEnd, 1, 1) == "accepted");
    CHECK(sliced({-1}, -9, -2, -1) == "accepted");
    CHECK(sliced({0}, kEnd, 0, 1) == "accepted");
    CHECK(sliced({0}, 4, 1, 0) == slice + "its step is 0");
    CHECK(sliced({0}, 4, 3, 1) == slice + "its axis 3 is beyond the dimensions of [N, 6, 8]");
    CHECK(sliced({0, 0}, 4, 1, 1) == slice + "its starts, ends, axes and steps differ in number");
    CHECK(sliced({1}, kEnd, 0, 1) == slice + "picks samples of the batch, which cannot be predicted");
    CHECK(sliced({0}, 3, 0, 1) == slice + "picks samples of the batch, which cannot be predicted");
    const auto parts = [](int axis, const std::vector<std::int64_t>& sizes, std::optional<int> stated = {}) {
      File file = with_input(kSequence);
      std::vector<std::string> attributes{onnx_bytes::single("axis", axis)}, inputs{"x"};
      if (stated) attributes.push_back(onnx_bytes::single("num_outputs", *stated));
      if (!sizes.empty()) inputs.emplace_back("q");
      file.constant(onnx_bytes::integers("q", sizes)).node("Split", inputs, {"a", "b", "c"}, attributes, "p");
      return refusal(file.output("a").output("c"));
    };
    const std::string split = "x.onnx: node 0 (Split \"p\"): ";
    CHECK(parts(1, {}, 3) == "accepted");
    CHECK(parts(1, {1, 2, 3}) == "accepted");
    CHECK(parts(1, {}, 7) == split + "its attribute \"num_outputs\" is 7, it has 3 outputs");
    CHECK(parts(1, {3, 3}) == split + "it has 2 sizes for 3 outputs");
    CHECK(parts(1, {3, 3, 3}) == split + "its sizes [3, 3, 3] do not sum to the 6 elements");
    CHECK(parts(1, {-3, 3, 6}) == split + "its sizes [-3, 3, 6] hold a negative one");
    CHECK(parts(3, {}) == split + "its axis is beyond the dimensions of [N, 6, 8]");
    File many;
    many.input("x", {"N", 2}).node("Split", {"x"}, {"a", "b", "c"}, {onnx_bytes::single("axis", 1)}, "p").output("a");
    CHECK(refusal(many) == split + "it makes 3 parts of 2 elements");
    const auto joined = [](int axis) {
      File file = with_input(kSequence);
      file.node("Relu", {"x"}, {"r"}).node("Concat", {"x", "r"}, {"y"}, {onnx_bytes::single("axis", axis)}, "c");
      return refusal(file.output("y"));
    };
    CHECK(joined(2) == "accepted");
    CHECK(joined(0) == "x.onnx: node 1 (Concat \"c\"): joins along the batch, which cannot be predicted");
  }
  SECTION("what lies in another file that is not there") {
    const auto outside = [](const std::string& name, int type, std::int64_t rows, std::int64_t columns) {
      const std::string where = onnx_bytes::text(1, "location") + onnx_bytes::text(2, "gone.bin");
      const std::string size = onnx_bytes::text(1, "length") + onnx_bytes::text(2, "2147483648");
      return onnx_bytes::number(1, rows) + (columns > 0 ? onnx_bytes::number(1, columns) : "") + onnx_bytes::number(2, type) +
             onnx_bytes::text(8, name) + onnx_bytes::text(13, where) + onnx_bytes::text(13, size) + onnx_bytes::number(14, 1);
    };
    // 2 GiB of weights are never read.
    File weights = with_input({"N", 16384});
    weights.constant(outside("w", onnx_bytes::kReal, 16384, 32768)).node("MatMul", {"x", "w"}, {"y"}).output("y");
    CHECK(refusal(weights) == "accepted");
    File shape = with_input(kSequence);
    shape.constant(outside("to", onnx_bytes::kInteger, 2, 0)).node("Reshape", {"x", "to"}, {"y"}, {}, "r").output("y");
    CHECK(refusal(shape) ==
          "x.onnx: node 0 (Reshape \"r\"): the shape of its output \"y\" cannot be derived: nothing is known of it; its input "
          "\"to\" lies in another file, which is not read");
  }
  SECTION("the batch is mixed up with something else") {
    File file = with_input(kSequence);
    file.constant(onnx_bytes::integers("to", {1, -1})).input("w", {48, 4}).node("Reshape", {"x", "to"}, {"r"});
    CHECK(refusal(file.node("MatMul", {"r", "w"}, {"y"}, {}, "fc").output("y")) ==
          "x.onnx: node 1 (MatMul \"fc\"): multiplies along the batch, which cannot be predicted");
    File pick = with_input(kSequence);
    pick.constant(onnx_bytes::integers("i", {0}, true)).node("Gather", {"x", "i"}, {"y"}, {}, "first").output("y");
    CHECK(refusal(pick) == "x.onnx: node 0 (Gather \"first\"): picks samples of the batch, which cannot be predicted");
  }
  SECTION("control flow, and two graphs") {
    File file = with_input(kVector);
    const std::string body = onnx_bytes::text(1, "then_branch") + onnx_bytes::text(6, onnx_bytes::text(2, "g"));
    file.node("If", {"x"}, {"y"}, {body}, "choice").output("y");
    CHECK(refusal(file) ==
          "x.onnx: node 0 (If \"choice\"): control flow cannot be predicted; export a traced network without branches or loops");
    File two = with_input(kVector);
    two.node("Tanh", {"x"}, {"y"}).output("y").rest = onnx_bytes::text(7, two.graph);
    CHECK(refusal(two) == "x.onnx: holds two graphs, expected one");
  }
  SECTION("a tensor that contradicts itself") {
    File file = with_input(kVector);
    file.constant(onnx_bytes::number(1, 3) + onnx_bytes::number(2, 7) + onnx_bytes::text(8, "c") +
                  onnx_bytes::text(9, std::string(16, '\0')));
    CHECK(refusal(file.node("Tanh", {"x"}, {"y"}).output("y")) ==
          "x.onnx: an initial value: tensor \"c\" holds 2 values, its shape asks for 3");
  }
}

TEST_CASE("a size that no tensor has is refused with its node, wherever it comes from") {
  const auto from_integers = [](const std::string& type, const std::vector<std::int64_t>& sizes) {
    File file = with_input(kSequence);
    file.weight("w", {6}).constant(onnx_bytes::integers("to", sizes));
    if (type == "ConstantOfShape")
      file.node(type, {"to"}, {"s"}, {}, "n");
    else
      file.node(type, {"w", "to"}, {"s"}, {}, "n");
    return refusal(file.node("Add", {"x", "s"}, {"y"}).output("y"));
  };
  const auto refused = [](const std::string& type, const std::string& dims) {
    return "x.onnx: node 0 (" + type + " \"n\"): its output \"s\" would have the dimensions " + dims +
           ", expected whole numbers of at least 0";
  };
  CHECK(from_integers("Expand", {-1}) == refused("Expand", "[-1]"));
  CHECK(from_integers("Expand", {-1, 6}) == refused("Expand", "[-1, 6]"));
  CHECK(from_integers("Expand", {-2, -3, 6}) == refused("Expand", "[-2, -3, 6]"));
  CHECK(from_integers("ConstantOfShape", {-4, -4}) == refused("ConstantOfShape", "[-4, -4]"));
  CHECK(from_integers("ConstantOfShape", {INT64_MAX}) == refused("ConstantOfShape", "[9.223372036854776e+18]"));
  CHECK(from_integers("Tile", {-1}) == refused("Tile", "[-6]"));
  CHECK(from_integers("Reshape", {-2, 3}) == refused("Reshape", "[-2, 3]"));
  CHECK(from_integers("Reshape", {4, -1}) == refused("Reshape", "[4, 1.5]"));
  CHECK(from_integers("Pad", {-9, 0}) == refused("Pad", "[-3]"));
  // Infinity times nothing.
  CHECK(from_integers("ConstantOfShape", std::vector<std::int64_t>(40, 1000000000000000)).find("node") != std::string::npos);
  for (const float value : {NAN, INFINITY, -INFINITY, 0.5F}) {
    File file = with_input(kSequence);
    file.constant(onnx_bytes::scalar("to", value)).constant(onnx_bytes::integers("one", {1}));
    file.node("Reshape", {"to", "one"}, {"v"}).node("ConstantOfShape", {"v"}, {"s"}, {}, "n");
    const std::string text = refusal(file.node("Add", {"x", "s"}, {"y"}).output("y"));
    CAPTURE(value, text);
    CHECK(text.rfind("x.onnx: node 1 (ConstantOfShape \"n\"): its output \"s\" would have the dimensions [", 0) == 0);
  }
}

TEST_CASE("a chain that adds a dimension each time ends at 64, whatever its length") {
  const auto chain = [](int nodes) {
    File file = with_input({"N", 6});
    for (int i = 0; i < nodes; ++i)
      file.node("Unsqueeze", {i == 0 ? "x" : "u" + std::to_string(i - 1)}, {"u" + std::to_string(i)},
                {onnx_bytes::list("axes", {1})}, "n");
    return refusal(file.node("Tanh", {"u" + std::to_string(nodes - 1)}, {"y"}).output("y"));
  };
  CHECK(chain(62) == "accepted");
  const std::string refused =
      "x.onnx: node 62 (Unsqueeze \"n\"): its output \"u62\" would have 65 dimensions, expected at most 64";
  CHECK(chain(63) == refused);
  CHECK(chain(5000) == refused);
}

TEST_CASE("a node whose first input or output is left out is refused") {
  File pool = with_input(kImage);
  pool.node("MaxPool", {"", "x"}, {"y"}, {onnx_bytes::list("kernel_shape", {2, 2})}, "p").output("y");
  CHECK(refusal(pool) == "x.onnx: node 0 (MaxPool \"p\"): its first input is left out");
  File slice = with_input(kSequence);
  slice.node("Slice", {"x"}, {"", "y"}, {onnx_bytes::list("starts", {0}), onnx_bytes::list("ends", {1})}, "s").output("y");
  CHECK(refusal(slice) == "x.onnx: node 0 (Slice \"s\"): its first output is left out");
}

TEST_CASE("thousands of unknown types of node cost no more than their number") {
  File file = with_input(kVector);
  constexpr int kNodes = 20000;
  for (int i = 0; i < kNodes; ++i)
    file.node("Mystery" + std::to_string(i), {i == 0 ? "x" : "m" + std::to_string(i - 1)}, {"m" + std::to_string(i)});
  file.output("m" + std::to_string(kNodes - 1));
  CHECK(import(file).notices.size() == kNodes);
}

TEST_CASE("files with a million nodes or parts are refused before they fill memory") {
  File nodes = with_input(kVector);
  const std::string node = onnx_bytes::text(1, onnx_bytes::text(1, "x") + onnx_bytes::text(2, "y") + onnx_bytes::text(4, "Tanh"));
  for (int i = 0; i < 1000000; ++i) nodes.graph += node;
  CHECK(refusal(nodes) == "x.onnx: more than 100000 nodes, which no network has");
  File parts = with_input(kVector);
  for (int i = 0; i < 1100000; ++i) parts.graph += onnx_bytes::text(13, "");
  CHECK(refusal(parts) == "x.onnx: more than 1000000 parts, which no network has");
}
