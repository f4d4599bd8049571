// Which operators of a network are attention.
#include "model/workload/attention_ops.hpp"

#include <algorithm>
#include <set>

#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

std::set<std::string> attention_of(const char* name, const char* variant, const std::string& prefix) {
  const ZooEntry* entry = find_network(name, variant).value();
  const OpGraph graph = build_network(*entry, {}).value();
  const std::vector<bool> attends = attention_ops(graph);
  std::set<std::string> names;
  for (std::size_t i = 0; i < attends.size(); ++i)
    if (attends[i] && graph.ops[i].name.starts_with(prefix)) names.insert(graph.ops[i].name.substr(prefix.size()));
  return names;
}

}  // namespace

TEST_CASE("attention is what lies between two products about a softmax, not the projections") {
  CHECK(attention_of("gpt2", "pytorch", "layer.3.attention.") ==
        std::set<std::string>{"scores", "scores_scale", "mask", "softmax", "attention_dropout", "context"});
  CHECK(attention_of("sockeye", "mxnet", "decoder_t7_") ==
        std::set<std::string>{"pairs", "flat", "tanh", "score", "scores", "mask", "softmax", "context"});
  CHECK(attention_of("resnet50", "torchvision", "").empty());
}
