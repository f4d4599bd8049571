#include <set>

#include "model/workload/op_counts.hpp"
#include "model/workload/saved_tensors.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"
#include "tests/workload/reference_tables.hpp"

using namespace tbdsim;

namespace {

OpGraph build(const std::string& name) {
  const auto entry = find_network(name, "torchvision");
  if (!entry) FAIL(to_text(entry.error()));
  auto graph = (*entry)->build(**entry, {});
  if (!graph) FAIL(to_text(graph.error()));
  return std::move(*graph);
}

}  // namespace

TEST_CASE("networks count what PyTorch counts in a real training step") {
  for (const reference::Row& row : reference::read("torch_reference.csv")) {
    const std::string& name = row.at("network");
    INFO(name);
    const OpGraph graph = build(name);
    CHECK(graph.parameter_elements() == std::stoll(row.at("params")));
    const MacCounts macs = macs_per_sample(graph);
    CHECK(macs.forward == std::stoll(row.at("forward_macs_per_sample")));
    CHECK(macs.backward == std::stoll(row.at("backward_macs_per_sample")));
    const SavedBytes saved = saved_bytes(graph, SavingRules::autograd);
    CHECK(saved.per_sample.base() == std::stod(row.at("autograd_saved_bytes_per_sample")));
    CHECK(saved.fixed.base() == std::stod(row.at("autograd_saved_bytes_fixed")));
  }
}

// Parameter counts in torchvision's documentation of its pre-trained weights ("num_params" of each weights class).
// Mask R-CNN: less the 222,400 of its first convolution and stage, which do not learn unless told to.
TEST_CASE("torchvision networks have the published number of parameters") {
  const std::vector<std::pair<std::string, std::int64_t>> published = {
      {"alexnet", 61100840},           {"densenet121", 7978856},
      {"densenet161", 28681000},       {"densenet169", 14149480},
      {"densenet201", 20013928},       {"mnasnet0_5", 2218512},
      {"mnasnet0_75", 3170208},        {"mnasnet1_0", 4383312},
      {"mnasnet1_3", 6282256},         {"mobilenet_v2", 3504872},
      {"mobilenet_v3_large", 5483032}, {"mobilenet_v3_small", 2542856},
      {"resnet18", 11689512},          {"resnet34", 21797672},
      {"resnet50", 25557032},          {"resnet101", 44549160},
      {"resnet152", 60192808},         {"resnext50_32x4d", 25028904},
      {"resnext101_32x8d", 88791336},  {"resnext101_64x4d", 83455272},
      {"shufflenet_v2_x0_5", 1366792}, {"shufflenet_v2_x1_0", 2278604},
      {"shufflenet_v2_x1_5", 3503624}, {"shufflenet_v2_x2_0", 7393996},
      {"mask_rcnn", 44178993},         {"vit_b_16", 86567656},
      {"vit_b_32", 88224232},          {"vit_l_16", 304326632},
      {"vit_l_32", 306535400},         {"squeezenet1_0", 1248424},
      {"squeezenet1_1", 1235496},      {"vgg11", 132863336},
      {"vgg11_bn", 132868840},         {"vgg13", 133047848},
      {"vgg13_bn", 133053736},         {"vgg16", 138357544},
      {"vgg16_bn", 138365992},         {"vgg19", 143667240},
      {"vgg19_bn", 143678248},         {"wide_resnet50_2", 68883240},
      {"wide_resnet101_2", 126886696}, {"googlenet", 13004888},
      {"inception_v3", 27161264},
  };
  for (const auto& [name, parameters] : published) {
    INFO(name);
    CHECK(build(name).parameter_elements() == parameters);
  }
  std::set<std::string> listed;
  for (const auto& [name, parameters] : published) listed.insert(name);
  for (const reference::Row& row : reference::read("published.csv"))
    listed.insert(row.at("network").substr(0, row.at("network").find('@')));
  for (const ZooEntry& entry : zoo()) {
    INFO(entry.name);
    if (entry.variant == "torchvision") CHECK(listed.count(entry.name) == 1);
  }
}
