#include "model/workload/zoo/zoo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "model/workload/op_counts.hpp"
#include "model/workload/saved_tensors.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

std::string found(std::string_view name, std::string_view preferred = "") {
  const auto entry = find_network(name, preferred);
  return entry ? (*entry)->name + "@" + (*entry)->variant : entry.error().front().text();
}

std::string refusal(std::string_view name, ZooOptions options) {
  const auto entry = find_network(name, "");
  REQUIRE(entry);
  const auto graph = (*entry)->build(**entry, options);
  return graph ? "built" : graph.error().front().text();
}

}  // namespace

TEST_CASE("networks are found by the user's spelling") {
  CHECK(found("resnet50") == "resnet50@torchvision");
  CHECK(found("ResNet-50") == "resnet50@torchvision");
  CHECK(found("ResNet-50", "mxnet") == "resnet50@mxnet");
  CHECK(found("resnet50@tf", "mxnet") == "resnet50@tf");
  CHECK(found("inception-v3@mxnet") == "inception_v3@mxnet");
  CHECK(found("LeNet") == "lenet@mxnet");  // its only variant
  CHECK(found("mobilenet_v2", "tf") == "mobilenet_v2@torchvision");
  CHECK(found("resnet50_v1.5", "tf") == "resnet50_v1.5@tf");
  CHECK(found("rsenet50") == "unknown network \"rsenet50\", did you mean \"resnet50\"?");
  CHECK(
      found("resnet51") ==
      "unknown network \"resnet51\"; none has \"51\", the nearest relatives are \"resnet50\", \"resnet101\", \"resnet110\", "
      "\"resnet152\", \"resnet18\", \"resnet34\", \"resnet200\", \"resnet50_v1.5\"; see `tbdsim list models`; files of your own "
      "end in .onnx, .toml or .json");
  CHECK(found("quux") == "unknown network \"quux\"; see `tbdsim list models`; files of your own end in .onnx, .toml or .json");
  CHECK(found("resnet50@caffe") == "network \"resnet50\" has no variant \"caffe\"; it has mxnet, tf, torch7, torchvision");
}

TEST_CASE("the catalogue is sorted, complete and without doubles") {
  std::set<std::pair<std::string, std::string>> seen;
  std::pair<std::string, std::string> before;
  for (const ZooEntry& entry : zoo()) {
    INFO(entry.name << "@" << entry.variant);
    const std::pair<std::string, std::string> key{entry.name, entry.variant};
    CHECK(before < key);
    before = key;
    CHECK(seen.insert(key).second);
    CHECK_FALSE(entry.source.empty());
    CHECK_FALSE(entry.dataset.empty());
    CHECK_FALSE(entry.application.empty());
    CHECK((entry.image == 0 || entry.seq_len == 0));
    REQUIRE(entry.build != nullptr);
  }
}

TEST_CASE("every network: consistent edges, unique names, every tensor used, backward 1 to 2 times forward") {
  for (const ZooEntry& entry : zoo()) {
    INFO(entry.name << "@" << entry.variant);
    const auto built = entry.build(entry, {});
    REQUIRE(built);
    const OpGraph& graph = *built;
    CHECK(graph.name == entry.name);
    CHECK(graph.variant == entry.variant);
    CHECK(graph.tensors.size() == graph.ops.size());
    std::set<std::string> names;
    bool consistent = true, used = true, ordered = true;
    std::size_t edges = 0, consumers = 0, parameters = 0;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      const Op& op = graph.ops[i];
      names.insert(op.name);
      consistent = consistent && graph.tensor(op.output).producer == OpId{static_cast<std::int32_t>(i)};
      for (const TensorId input : op.inputs) ordered = ordered && graph.tensor(input).producer.value < static_cast<int>(i);
      for (const ParameterId id : op.parameters)
        consistent = consistent && graph.parameter(id).op == OpId{static_cast<std::int32_t>(i)};
      used = used && is_loss(op.kind) == graph.tensor(op.output).consumers.empty();
      edges += op.inputs.size();
      consumers += graph.tensor(op.output).consumers.size();
      parameters += op.parameters.size();
    }
    CHECK(names.size() == graph.ops.size());
    CHECK(consistent);
    CHECK(ordered);
    CHECK(used);
    CHECK(edges == consumers);
    CHECK(parameters == graph.parameters.size());
    const MacCounts macs = macs_per_sample(graph);
    CHECK(macs.backward > macs.forward);
    CHECK(macs.backward <= 2 * macs.forward);
    CHECK(training_step(graph).update.size() == graph.parameters.size());
  }
}

TEST_CASE("an image size that a network does not take is refused, not passed over") {
  for (const char* name : {"faster_rcnn_r50", "mask_rcnn"}) {
    const auto entry = find_network(name, "pytorch");
    REQUIRE(entry);
    ZooOptions options;
    options.image = 64;
    const auto graph = build_network(**entry, options);
    REQUIRE_FALSE(graph);
    CHECK(graph.error().front().message.find(fmt::format("--image 64: {} takes inputs of 3x", name)) == 0);
  }
}

TEST_CASE("what a network keeps is less than all it computes, and MXNet keeps most") {
  for (const ZooEntry& entry : zoo()) {
    INFO(entry.name << "@" << entry.variant);
    const OpGraph graph = entry.build(entry, {}).value();
    double all = 0.0;
    for (const Tensor& tensor : graph.tensors) all += 4.0 * static_cast<double>(elements(tensor.shape));
    // Losses are not counted; beside those of a large vocabulary little else would show.
    for (const Op& op : graph.ops)
      if (is_loss(op.kind)) all -= 4.0 * static_cast<double>(elements(graph.output_shape(op)) + elements(graph.input_shape(op)));
    // Inside a recurrent layer up to eight states a step are kept, of which its output shows one.
    for (const Op& op : graph.ops)
      if (const auto* a = std::get_if<RecurrentAttributes>(&op.attributes))
        all += 7.0 * 4.0 * static_cast<double>(a->layers * elements(graph.output_shape(op)));
    // Attention as one operator keeps the weights of its scores where no kernel fuses it.
    for (const Op& op : graph.ops)
      if (const auto* a = std::get_if<AttentionAttributes>(&op.attributes))
        all += 4.0 * static_cast<double>(a->heads * graph.output_shape(op).front() * graph.tensor(op.inputs[1]).shape.front());
    const double kept = saved_bytes(graph, SavingRules::autograd_cuda).per_sample.base();
    // First stages of detectors are not trained, nor are their norms; Longformer cuts and rearranges its scores time and again.
    const bool keeps_less = entry.application == "object detection" || entry.name == "AllenaiLongformerBase";
    CHECK(kept > (keeps_less ? 0.14 : 0.2) * all);  // products of attention are seen more often than kept
    CHECK(kept < 1.6 * all);                        // indices of max pools are twice as large as what they point at
    // MXNet's LRN is one operator, PyTorch's several.
    const auto is_lrn = [](const Op& op) { return op.kind == OpKind::local_response_norm; };
    if (std::none_of(graph.ops.begin(), graph.ops.end(), is_lrn))
      CHECK(saved_bytes(graph, SavingRules::mxnet).per_sample.base() > 0.95 * kept);
  }
}

TEST_CASE("LeNet at 224 pixels under MXNet's rules, tensor by tensor") {
  const ZooEntry& lenet = **find_network("lenet", "");
  const OpGraph graph = lenet.build(lenet, {224, {}}).value();
  // Image; both convolutions, their tanh and their pools; the hidden layer and its tanh.
  const double tensors = 150528 + 2 * 968000 + 242000 + 2 * 561800 + 140450 + 2 * 500;
  CHECK(saved_bytes(graph, SavingRules::mxnet).per_sample.base() == 4.0 * tensors);
}

TEST_CASE("image side and classes") {
  const ZooEntry& resnet = **find_network("resnet18", "");
  const OpGraph small = resnet.build(resnet, {64, 10}).value();
  CHECK(to_text(small.tensors.front().shape) == "3x64x64");
  CHECK(small.parameter_elements() == 11689512 - 990 * 513);
  const ZooEntry& lenet = **find_network("lenet", "");
  CHECK(to_text(lenet.build(lenet, {}).value().tensors.front().shape) == "1x28x28");
  const OpGraph large = lenet.build(lenet, {224, {}}).value();
  CHECK(to_text(large.tensors.front().shape) == "3x224x224");
  CHECK(large.parameter_elements() == 70753070);
}

TEST_CASE("images that a network cannot take are refused with the layer at fault") {
  // MXNet's GoogLeNet ran at 299 pixels: 10,070,552 parameters; its last 7x7 pool meets a 6x6 map at 224.
  const ZooEntry& googlenet = **find_network("googlenet@mxnet", "");
  CHECK(googlenet.build(googlenet, {}).value().parameter_elements() == 10070552);
  CHECK(refusal("googlenet@mxnet", {224, {}}) == "pooling4: kernel 7x7 is larger than the padded input 6x6");
  CHECK(refusal("googlenet@mxnet", {256, {}}) == "built");
  CHECK(refusal("alexnet", {63, {}}) == "avgpool: expects at least 6x6 pixels, got 1x1");
  CHECK(refusal("resnet50@mxnet", {28, {}}) == "resnet50: made for images more than 28 pixels wide, got 28");
  CHECK(refusal("resnet50@mxnet", {29, {}}) == "built");
  CHECK(refusal("resnet110", {28, {}}) == "built");
  CHECK(refusal("resnet110", {29, {}}) == "resnet110: made for images at most 28 pixels wide, got 29");
  CHECK(refusal("resnet18", {65536, {}}) == "built");
  CHECK(refusal("resnet18", {65537, {}}) == "input: expected an image side of at most 65536, got 65537");
  CHECK(refusal("resnet50", {0, {}}) == "input: every dimension must be at least 1, got \"3x0x0\"");
  CHECK(refusal("resnet50", {{}, 0}) == "fc: out_features must be at least 1, got 0");
}

// Counts printed with the models: Caffe's bvlc_alexnet and bvlc_googlenet; TensorFlow's own 1001 classes add
// (features + 1) parameters to the 1000-class network, and its Inception batch norms have no gamma.
TEST_CASE("parameters of the other frameworks' definitions") {
  const auto parameters = [](std::string_view name) {
    const auto entry = find_network(name, "");
    return (*entry)->build(**entry, {}).value().parameter_elements();
  };
  CHECK(parameters("alexnet@torch7") == 60965224);
  CHECK(parameters("googlenet@torch7") == 6998552);
  CHECK(parameters("googlenet@tf") == 6998552 + 1025);
  CHECK(parameters("resnet50@tf") == 25557032 + 2049);
  CHECK(parameters("resnet50_v1.5@tf") == 25557032 + 2049);
  CHECK(parameters("resnet152@tf") == 60192808 + 2049);
  CHECK(parameters("vgg16@tf") == 138357544 + 4097);
  // MXNet's Inception-v3 has one gamma per channel of its 94 convolutions, 17,216 in all; MXNet's ResNet-200 adds
  // batch norms on the image (2 x 3) and before its first block (2 x 64).
  CHECK(parameters("inception_v3@tf") == 23834568 - 17216 + 2049);
  CHECK(parameters("resnet200@torch7") == parameters("resnet200@mxnet") - 6 - 128);
}
