#include "model/workload/op_counts.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"
#include "tests/workload/reference_tables.hpp"

using namespace tbdsim;

namespace {

struct Case {
  std::string name;
  ZooOptions options;
};

// Names of the layer tables, in this catalogue.
const std::map<std::string, Case> kCases = {
    {"lenet-28", {"lenet", {}}},
    {"lenet-224", {"lenet", {224, {}}}},
    {"alexnet", {"alexnet", {}}},
    {"inception-v3", {"inception_v3", {}}},
    {"inception-bn", {"inception_bn", {}}},
    {"inception-resnet-v2", {"inception_resnet_v2", {}}},
    {"resnet-18", {"resnet18", {}}},
    {"resnet-34", {"resnet34", {}}},
    {"resnet-50", {"resnet50", {}}},
    {"resnet-101", {"resnet101", {}}},
    {"resnet-152", {"resnet152", {}}},
    {"resnet-200", {"resnet200", {}}},
    {"resnet-110-cifar", {"resnet110", {}}},
    {"resnet-v1-50", {"resnet_v1_50", {}}},
    {"resnext-50", {"resnext50_32x4d", {}}},
    {"vgg-11", {"vgg11", {}}},
    {"vgg-16", {"vgg16", {}}},
    {"vgg-19", {"vgg19", {}}},
};

const std::map<std::string, OpKind> kKinds = {
    {"Convolution", OpKind::convolution},
    {"FullyConnected", OpKind::linear},
    {"BatchNorm", OpKind::batch_norm},
    {"Activation", OpKind::activation},
    {"LRN", OpKind::local_response_norm},
    {"Concat", OpKind::concat},
    {"Flatten", OpKind::reshape},
    {"Dropout", OpKind::dropout},
    {"SoftmaxOutput", OpKind::softmax_loss},
    {"identity", OpKind::identity},
    {"add", OpKind::add},
    {"muls", OpKind::multiply},
};

OpGraph build(const Case& c) {
  const auto entry = find_network(c.name, "mxnet");
  REQUIRE(entry);
  REQUIRE((*entry)->variant == "mxnet");
  auto graph = (*entry)->build(**entry, c.options);
  if (!graph) FAIL(to_text(graph.error()));
  return std::move(*graph);
}

std::int64_t parameters_of(const OpGraph& graph, const Op& op) {
  std::int64_t sum = 0;
  for (const ParameterId id : op.parameters) sum += elements(graph.parameter(id).shape);
  return sum;
}

bool same_kind(const std::string& name, OpKind kind) {
  if (name == "Pooling") return kind == OpKind::pool || kind == OpKind::global_average_pool;
  return kKinds.at(name) == kind;
}

}  // namespace

TEST_CASE("every layer of MXNet's networks has the published shape, parameters and FLOP") {
  std::map<std::string, std::vector<reference::Row>> tables;
  for (const reference::Row& row : reference::read("mxnet_layers.csv")) tables[row.at("network")].push_back(row);
  REQUIRE(tables.size() == kCases.size());
  for (const auto& [network, rows] : tables) {
    INFO(network);
    const OpGraph graph = build(kCases.at(network));
    // The table lists everything but the input variable.
    REQUIRE(graph.ops.size() == rows.size() + 1);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const reference::Row& row = rows[i];
      const Op& op = graph.ops[i + 1];
      INFO("layer " << i << " " << row.at("op") << " " << row.at("layer") << ", ours " << op.name);
      CHECK(same_kind(row.at("op"), op.kind));
      if (!row.at("layer").empty()) CHECK(op.name == row.at("layer"));
      if (op.kind != OpKind::concat) CHECK(to_text(graph.input_shape(op)) == row.at("input_shape"));
      CHECK(to_text(graph.output_shape(op)) == row.at("output_shape"));
      CHECK(parameters_of(graph, op) == std::stoll(row.at("params")));
      const StepNode node{Pass::forward, OpId{static_cast<std::int32_t>(i + 1)}, {}, 0};
      CHECK(flop_per_sample(graph, node).base() == std::stod(row.at("fwd_flops_per_sample")));
      if (op.kind == OpKind::convolution) {
        const auto& a = std::get<ConvolutionAttributes>(op.attributes);
        CHECK(std::to_string(a.kernel_h) + "x" + std::to_string(a.kernel_w) == row.at("kernel"));
      }
    }
  }
}

TEST_CASE("totals of MXNet's networks") {
  const auto rows = reference::read("mxnet_summary.csv");
  REQUIRE(rows.size() == kCases.size());
  for (const reference::Row& row : rows) {
    INFO(row.at("network"));
    const OpGraph graph = build(kCases.at(row.at("network")));
    CHECK(to_text(graph.tensors.front().shape) == row.at("input"));
    CHECK(graph.parameter_elements() == std::stoll(row.at("params")));
    // Weights, biases, gammas and betas; running statistics are not trained.
    CHECK(graph.parameters.size() == std::stoul(row.at("param_arrays")));
    std::map<OpKind, int> counts;
    for (const Op& op : graph.ops) ++counts[op.kind];
    CHECK(counts[OpKind::convolution] == std::stoi(row.at("conv_layers")));
    CHECK(counts[OpKind::linear] == std::stoi(row.at("fc_layers")));
    CHECK(counts[OpKind::batch_norm] == std::stoi(row.at("bn_layers")));
  }
}
