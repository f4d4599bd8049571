// Arrays that are never given back: which there are, and what gradients share them.
#include "model/memory/blob_plan.hpp"

#include <algorithm>

#include "model/workload/graph_builder.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

constexpr ConvolutionAttributes kSame{4, 3, 3, 1, 1, 1, 1, 1, 1, false};
constexpr double kMap = 4 * 8 * 8;

std::vector<double> sizes(const std::vector<Blob>& blobs, MemoryPart part) {
  std::vector<double> result;
  for (const Blob& blob : blobs)
    if (blob.part == part) result.push_back(blob.bytes.base());
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

// a -> ReLU in place -> b; b + ReLU -> 10 classes. Forward: a, b, the sum, the classes, their probabilities and the terms
// of the loss. Backward: the classes' gradient goes into an array, that of the sum into another, which the addition passes
// on; b's gives the ReLU a second gradient, in the first array, grown to a map; the two are added into a third.
TEST_CASE("arrays of a residual block") {
  GraphBuilder g("block", "detectron", "image", {3, 8, 8}, 2);
  const TensorId a = g.relu(g.convolution(g.input(), kSame, "a"), "relu", true);
  const TensorId sum = g.plus(g.convolution(a, kSame, "b"), a, "sum");
  g.softmax_loss(g.linear(g.flatten(sum, "flat"), 10, "classes"), "loss");
  const std::vector<Blob> blobs = plan_blobs(std::move(g).finish().value(), 2, Bytes(4.0));
  const double map = 2 * 4 * kMap, classes = 2 * 4 * 10;
  CHECK(sizes(blobs, MemoryPart::feature_maps) == std::vector<double>{classes, classes, classes, map, map, map});
  CHECK(sizes(blobs, MemoryPart::dynamic) == std::vector<double>{map, map, map});
}

// A chain needs two arrays for its gradients, however long it is: each is written while the one before is read.
TEST_CASE("gradients of a chain take turns in two arrays") {
  for (const int length : {2, 3, 8}) {
    GraphBuilder g("chain", "detectron", "image", {4, 8, 8}, 1);
    TensorId x = g.input();
    for (int i = 0; i < length; ++i) x = g.convolution(x, kSame);
    g.add(OpKind::element_loss, {x}, {}, "loss");
    CHECK(sizes(plan_blobs(std::move(g).finish().value(), 1, Bytes(4.0)), MemoryPart::dynamic) ==
          std::vector<double>{4 * kMap, 4 * kMap});
  }
}

// Branches may run beside each other: neither takes over the other's arrays.
TEST_CASE("branches do not share arrays") {
  GraphBuilder g("branches", "detectron", "image", {4, 8, 8}, 1);
  for (const char* name : {"a", "b"}) {
    const TensorId x = g.convolution(g.input(), kSame, name);
    g.add(OpKind::element_loss, {g.convolution(x, kSame, std::string(name) + "2")}, {}, std::string(name) + "_loss");
  }
  CHECK(sizes(plan_blobs(std::move(g).finish().value(), 1, Bytes(4.0)), MemoryPart::dynamic).size() == 4);
}

// A part that is not trained has no gradients, but for that of what the trained part reads from it.
TEST_CASE("the gradient at the border of a frozen part is made") {
  GraphBuilder g("frozen", "detectron", "image", {4, 8, 8}, 1);
  g.set_weights(GraphBuilder::Weights::frozen);
  const TensorId x = g.convolution(g.convolution(g.input(), kSame, "a"), kSame, "b");
  g.set_weights(GraphBuilder::Weights::own);
  g.add(OpKind::element_loss, {g.convolution(x, kSame, "c")}, {}, "loss");
  CHECK(sizes(plan_blobs(std::move(g).finish().value(), 1, Bytes(4.0)), MemoryPart::dynamic).size() == 2);
}
