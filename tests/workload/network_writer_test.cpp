// A network as a file: read back it is the same network, for every network of the zoo.
#include "model/workload/network_writer.hpp"

#include "model/workload/network_file.hpp"
#include "model/workload/op_counts.hpp"
#include "model/workload/zoo/zoo.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

OpGraph read_back(const std::string& text, bool fused_attention = false) {
  auto file = TomlFile::parse(text, "network.toml");
  REQUIRE(file);
  auto graph = read_network(std::move(*file), fused_attention);
  INFO((graph ? "" : to_text(graph.error())));
  REQUIRE(graph);
  return std::move(*graph);
}

/// Those of an operator; what was built without any has the defaults of its kind.
OpAttributes stated(const Op& op) {
  const OperatorRow& row = info(op.kind);
  return std::holds_alternative<std::monostate>(op.attributes) && row.attributes != nullptr ? row.attributes() : op.attributes;
}

OpGraph built(const ZooEntry& entry, bool fused_attention) {
  auto graph = build_network(entry, {std::nullopt, std::nullopt, std::nullopt, fused_attention});
  REQUIRE(graph);
  return std::move(*graph);
}

void check_same(const OpGraph& a, const OpGraph& b) {
  CHECK(a.name == b.name);
  CHECK(a.variant == b.variant);
  CHECK(a.input_unit == b.input_unit);
  CHECK(a.default_batch == b.default_batch);
  CHECK(a.default_optimizer == b.default_optimizer);
  CHECK(a.part_unit == b.part_unit);
  CHECK(a.parts_per_sample == b.parts_per_sample);
  CHECK(a.label_elements == b.label_elements);
  CHECK(a.parameter_elements() == b.parameter_elements());
  CHECK(macs_per_sample(a).forward == macs_per_sample(b).forward);
  CHECK(macs_per_sample(a).backward == macs_per_sample(b).backward);
  REQUIRE(a.ops.size() == b.ops.size());
  REQUIRE(a.tensors.size() == b.tensors.size());
  REQUIRE(a.parameters.size() == b.parameters.size());
  int unlike = 0;
  for (std::size_t i = 0; i < a.ops.size(); ++i) {
    const Op &x = a.ops[i], &y = b.ops[i];
    const Tensor &s = a.tensor(x.output), &t = b.tensor(y.output);
    const bool same = x.kind == y.kind && stated(x) == stated(y) && x.inputs == y.inputs && x.output == y.output &&
                      x.parameters == y.parameters && x.shares_weights == y.shares_weights && x.inplace == y.inplace &&
                      x.frozen == y.frozen && s.shape == t.shape && s.needs_gradient == t.needs_gradient &&
                      s.consumers == t.consumers;
    if (!same && ++unlike == 1) FAIL_CHECK(x.name << " became " << y.name << " " << to_text(t.shape));
  }
  for (std::size_t i = 0; i < a.parameters.size(); ++i) {
    if (a.parameters[i].shape != b.parameters[i].shape && ++unlike == 1) FAIL_CHECK(a.parameters[i].name);
  }
}

}  // namespace

TEST_CASE("every network of the zoo is the same network once written and read back") {
  for (const ZooEntry& entry : zoo()) {
    INFO(entry.name << "@" << entry.variant);
    for (const bool fused : {false, true}) {
      const OpGraph graph = built(entry, fused);
      const OpGraph again = read_back(network_toml(graph));
      check_same(graph, again);
      CHECK(network_toml(again) == network_toml(graph));
    }
  }
}

TEST_CASE("one file is the network of stacks that fuse attention and that of others, for every network of the zoo") {
  int of_two_codes = 0;
  for (const ZooEntry& entry : zoo()) {
    INFO(entry.name << "@" << entry.variant);
    const OpGraph separate = built(entry, false), framework = built(entry, true);
    const std::string text = network_toml(separate, framework);
    // The graphs are the same: the test above has read this text.
    if (text == network_toml(separate) && text == network_toml(framework)) continue;
    ++of_two_codes;
    const OpGraph without = read_back(text, false), with = read_back(text, true);
    check_same(separate, without);
    check_same(framework, with);
    CHECK(network_toml(without, with) == text);
  }
  CHECK(of_two_codes > 0);
}

TEST_CASE("layers of both codes of attention stand once") {
  const ZooEntry& entry = **find_network("llama-3.2-1b", "pytorch");
  const OpGraph separate = built(entry, false), framework = built(entry, true);
  const std::string text = network_toml(separate, framework);
  const auto count = [&](const std::string& line) {
    int found = 0;
    for (std::size_t at = text.find(line); at != std::string::npos; at = text.find(line, at + 1)) ++found;
    return found;
  };
  constexpr int kLayers = 16;
  CHECK(count("\nattention = \"framework\"\n") == kLayers);  // the one operator of each
  CHECK(count("\nop = \"softmax\"\n") == kLayers);
  const auto ops = [](const OpGraph& graph) { return static_cast<int>(graph.ops.size()) - 1; };  // the input is no layer
  const int of_separate = count("\nattention = \"separate\"\n"), all = count("\n[[layer]]\n");
  CHECK(all == ops(separate) + kLayers);
  CHECK(all == ops(framework) + of_separate);
}

TEST_CASE("what depends on an edited layer follows it") {
  const auto entry = find_network("resnet50", "torchvision");
  REQUIRE(entry);
  const auto graph = build_network(**entry, {});
  REQUIRE(graph);
  std::string text = network_toml(*graph);
  const std::string channels = "name = \"conv1\"\nop = \"convolution\"\nchannels = 64";
  const std::size_t at = text.find(channels);
  REQUIRE(at != std::string::npos);
  text.replace(at + channels.size() - 2, 2, "32");
  auto file = TomlFile::parse(text, "edited");
  REQUIRE(file);
  const auto edited = read_network(std::move(*file));
  REQUIRE(edited);
  // 32 filters of 3x7x7, their batch norm, and as many inputs of the block's first 1x1 convolution (64) and its shortcut (256).
  CHECK(graph->parameter_elements() - edited->parameter_elements() == 32 * (3 * 7 * 7 + 2 + 64 + 256));
}
