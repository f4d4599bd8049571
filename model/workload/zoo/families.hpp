#pragma once
#include <string>
#include <vector>

#include "model/workload/graph_builder.hpp"
#include "model/workload/zoo/zoo.hpp"

namespace tbdsim {

/// Every file of this folder that defines networks appends its entries with one of these.
void append_lenet(std::vector<ZooEntry>& entries);
void append_alexnet(std::vector<ZooEntry>& entries);
void append_resnet(std::vector<ZooEntry>& entries);
void append_resnet_mxnet(std::vector<ZooEntry>& entries);

/// An ImageNet classifier of the zoo; batch 32, the default of every CNN here.
[[nodiscard]] ZooEntry image_classifier(std::string name, std::string variant, std::string source,
                                        Result<OpGraph> (*build)(const ZooEntry&, const ZooOptions&), int image = 224);

/// A builder whose input is a square image of the wanted or the entry's side.
[[nodiscard]] GraphBuilder image_builder(const ZooEntry& entry, const ZooOptions& options, std::int64_t channels = 3);

/// Average pool to `side` x `side`, as PyTorch's AdaptiveAvgPool2d where its windows are equal: stride in/side, and the
/// kernel that reaches the edge. An input smaller than `side` is a problem of the graph.
TensorId adaptive_average_pool(GraphBuilder& graph, TensorId x, std::int64_t side, std::string name);

}  // namespace tbdsim
