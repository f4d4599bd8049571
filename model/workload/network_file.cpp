#include "model/workload/network_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <set>

#include "model/support/edit_distance.hpp"
#include "model/workload/graph_builder.hpp"
#include "model/workload/network_layer.hpp"
#include "model/workload/operator_limits.hpp"
#include "model/workload/shape_inference.hpp"
#include "model/workload/transformer_file.hpp"
#include "model/workload/zoo/zoo.hpp"

namespace tbdsim {
namespace {

constexpr std::string_view kInputName = "input";
constexpr int kMostBatch = 1000000;
constexpr std::size_t kMostLayers = 50000;  // a decoder unrolled frame by frame has half as many

/// Index of a layer in the file; the network's input is `kNetworkInput`.
using LayerIndex = std::size_t;
constexpr LayerIndex kNetworkInput = std::numeric_limits<LayerIndex>::max();

struct Layer {
  LayerText text;
  std::vector<LayerIndex> inputs;
  bool connected = true;  ///< every input name is known
  bool used = false;
  std::optional<Shape> shape;  ///< empty while unknown, or after a problem here or upstream
};

bool ends_network(const Layer& layer) { return layer.text.kind && is_loss(*layer.text.kind); }

struct Header {
  std::string name, variant, input_unit, optimizer, part_unit;
  Shape input;
  int batch = 1;
  double parts_per_sample = 0.0, labels = 0.0;
};

/// Whose definition it is, which decides what arrays are called and what backward passes keep.
std::string read_variant(TomlTable& root) {
  std::vector<std::string> known{"file"};
  for (const ZooEntry& entry : zoo())
    if (std::find(known.begin(), known.end(), entry.variant) == known.end()) known.push_back(entry.variant);
  std::string variant = root.text_or("variant", "file");
  if (std::find(known.begin(), known.end(), variant) == known.end())
    root.problem("variant", fmt::format("expected {}, got \"{}\"", fmt::join(known, ", "), variant));
  return variant;
}

Header read_header(TomlTable& root) {
  Header header;
  (void)root.integer("schema", 1, 1);
  header.name = root.text("name");
  header.input_unit = root.text_or("input_unit", "sample");
  header.batch = static_cast<int>(root.integer_or("batch", 32, 1, kMostBatch));
  header.input = read_dimensions(root, "input");
  header.variant = read_variant(root);
  header.optimizer = root.text_or("optimizer", "");
  header.part_unit = root.text_or("part_unit", "");
  constexpr double kMostParts = 1e12;
  header.parts_per_sample = root.number_or("parts_per_sample", 0.0, {0.0, kMostParts});
  header.labels = root.number_or("labels", 0.0, {0.0, kMostParts});
  return header;
}

/// Where a message about a layer's connections points: its input key, else the layer itself.
std::string_view place_key(const Layer& layer) { return layer.text.input_key; }

using Names = std::map<std::string, LayerIndex, std::less<>>;

Names collect_names(std::vector<Layer>& layers) {
  Names names;
  for (LayerIndex i = 0; i < layers.size(); ++i) {
    LayerText& text = layers[i].text;
    if (text.name.empty()) continue;
    if (text.name == kInputName) {
      text.table.problem("name", "\"input\" is the name of the network's input");
    } else if (const auto [first, added] = names.emplace(text.name, i); !added) {
      layers[i].used = layers[first->second].used = true;  // whoever names it may mean either
      text.table.problem("name",
                         fmt::format("\"{}\" is already the name of {}", text.name, layers[first->second].text.table.path()));
    }
  }
  return names;
}

/// Layers of a code of attention that does not run here.
struct LeftOut {
  AttentionCode code;
  std::set<std::string, std::less<>> names;
};

/// Values that the user set in a layer that is left out would change nothing.
void report_set_values(LayerText& layer, AttentionCode code) {
  for (const std::string& key : layer.table.keys())
    if (key != "attention" && layer.table.where(key).file == kAssignments)
      layer.table.problem(key, fmt::format("has no effect: \"{}\" has attention = \"{}\", and the stack {} attention", layer.name,
                                           attention_word(code), code == AttentionCode::separate ? "fuses" : "does not fuse"));
}

LeftOut leave_out(std::vector<Layer>& layers, bool fused_attention) {
  LeftOut left_out{fused_attention ? AttentionCode::separate : AttentionCode::framework, {}};
  const auto is_of_other_code = [&](const Layer& layer) { return layer.text.attention == left_out.code; };
  for (Layer& layer : layers) {
    if (!is_of_other_code(layer)) continue;
    left_out.names.insert(layer.text.name);
    report_set_values(layer.text, left_out.code);
  }
  layers.erase(std::remove_if(layers.begin(), layers.end(), is_of_other_code), layers.end());
  return left_out;
}

/// An input that no layer has as its name; `near` is the most similar of those that do.
std::string unknown_input(const std::string& name, const std::optional<std::string>& near, const LeftOut& left_out) {
  if (left_out.names.count(name) > 0)
    return fmt::format("layer \"{}\" has attention = \"{}\", this one has not", name, attention_word(left_out.code));
  return fmt::format("unknown layer \"{}\"{}", name, near ? fmt::format(", did you mean \"{}\"?", *near) : "");
}

void connect(std::vector<Layer>& layers, const Names& names, const LeftOut& left_out) {
  for (LayerIndex i = 0; i < layers.size(); ++i) {
    Layer& layer = layers[i];
    if (layer.text.kind == OpKind::input) continue;
    if (layer.text.input_key.empty()) layer.inputs.push_back(i == 0 ? kNetworkInput : i - 1);
    for (const std::string& name : layer.text.input_names) {
      if (name == kInputName) {
        layer.inputs.push_back(kNetworkInput);
      } else if (const auto found = names.find(name); found != names.end()) {
        layer.inputs.push_back(found->second);
      } else {
        layer.connected = false;
        if (name.empty()) continue;  // the reader has said so
        std::vector<std::string> known{std::string(kInputName)};
        for (const auto& [other, index] : names) known.push_back(other);
        const auto near = nearest(name, known);
        if (near && *near != kInputName) layers[names.find(*near)->second].used = true;
        layer.text.table.problem(layer.text.input_key, unknown_input(name, near, left_out));
      }
    }
    for (const LayerIndex input : layer.inputs)
      if (input != kNetworkInput) layers[input].used = true;
  }
}

/// Reports one cycle among the layers that could not be ordered; `waiting` counts their unordered inputs.
void report_cycle(std::vector<Layer>& layers, const std::vector<int>& waiting) {
  LayerIndex at = 0;
  while (waiting[at] == 0) ++at;
  std::vector<LayerIndex> path;
  std::vector<bool> seen(layers.size(), false);
  while (!seen[at]) {
    seen[at] = true;
    path.push_back(at);
    for (const LayerIndex input : layers[at].inputs)
      if (input != kNetworkInput && waiting[input] > 0) {
        at = input;
        break;
      }
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), at));
  std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
  Layer& first = layers[path.front()];
  std::string text = fmt::format("\"{}\"", first.text.name);
  for (std::size_t i = path.size(); i-- > 0;) text += fmt::format(" -> \"{}\"", layers[path[i]].text.name);
  first.text.table.problem(place_key(first), fmt::format("layers form a cycle: {}", text));
}

/// Layers in an order in which they can run, file order where it is free. On a cycle, the layers outside it.
std::vector<LayerIndex> order(std::vector<Layer>& layers) {
  std::vector<int> waiting(layers.size(), 0);
  std::vector<std::vector<LayerIndex>> consumers(layers.size());
  std::priority_queue<LayerIndex, std::vector<LayerIndex>, std::greater<>> ready;
  for (LayerIndex i = 0; i < layers.size(); ++i) {
    for (const LayerIndex input : layers[i].inputs) {
      if (input == kNetworkInput) continue;
      consumers[input].push_back(i);
      ++waiting[i];
    }
    if (waiting[i] == 0) ready.push(i);
  }
  std::vector<LayerIndex> ordered;
  while (!ready.empty()) {
    const LayerIndex i = ready.top();
    ready.pop();
    ordered.push_back(i);
    for (const LayerIndex consumer : consumers[i])
      if (--waiting[consumer] == 0) ready.push(consumer);
  }
  if (ordered.size() < layers.size()) report_cycle(layers, waiting);
  return ordered;
}

void infer_shapes(std::vector<Layer>& layers, const std::vector<LayerIndex>& ordered, const Shape& network_input) {
  for (const LayerIndex i : ordered) {
    Layer& layer = layers[i];
    if (!layer.text.kind || !layer.connected) continue;
    if (layer.text.kind == OpKind::input) {
      if (!layer.text.shape.empty()) layer.shape = layer.text.shape;
      continue;
    }
    std::vector<const Shape*> inputs;
    bool known = true;
    for (const LayerIndex input : layer.inputs) {
      const bool from_network = input == kNetworkInput;
      known = known && (from_network ? !network_input.empty() : layers[input].shape.has_value());
      if (known) inputs.push_back(from_network ? &network_input : &*layers[input].shape);
    }
    if (!known) continue;
    auto shape = infer_shape(*layer.text.kind, layer.text.attributes, inputs);
    std::optional<std::string> trouble;
    if (!shape) {
      trouble = shape.error();
    } else {
      trouble = too_large(*layer.text.kind, layer.text.attributes, *inputs.front(), *shape);
    }
    if (trouble) {
      layer.text.table.problem(place_key(layer), fmt::format("\"{}\": {}", layer.text.name, *trouble));
    } else {
      layer.shape = std::move(*shape);
    }
  }
}

/// A network ends in losses, or in one layer that gets a loss appended. An operator that nobody knows may be a loss.
void report_unused(std::vector<Layer>& layers) {
  bool ends = std::any_of(layers.begin(), layers.end(), ends_network);
  for (LayerIndex i = layers.size(); i-- > 0;) {
    Layer& layer = layers[i];
    if (layer.used || ends_network(layer) || !layer.text.kind || layer.text.unused) continue;
    if (ends) layer.text.table.problem("name", fmt::format("nothing uses layer \"{}\"", layer.text.name));
    ends = true;
  }
}

Result<OpGraph> build(const Header& header, std::vector<Layer>& layers, const std::vector<LayerIndex>& ordered) {
  GraphBuilder graph(header.name, header.variant, header.input_unit, header.input, header.batch);
  if (!header.part_unit.empty()) graph.counts_in(header.part_unit, header.parts_per_sample);
  if (!header.optimizer.empty()) graph.trains_with(header.optimizer);
  if (header.labels > 0.0) graph.labels(header.labels);
  std::vector<TensorId> outputs(layers.size());
  for (const LayerIndex i : ordered) {
    LayerText& text = layers[i].text;
    if (text.kind == OpKind::input) {
      outputs[i] = graph.another_input(text.shape, text.name);
      continue;
    }
    std::vector<TensorId> inputs;
    for (const LayerIndex input : layers[i].inputs) inputs.push_back(input == kNetworkInput ? graph.input() : outputs[input]);
    graph.set_weights(text.weights);
    outputs[i] = graph.add(*text.kind, std::move(inputs), text.attributes, text.name, text.inplace);
  }
  if (std::none_of(layers.begin(), layers.end(), ends_network)) {
    const auto end =
        std::find_if(layers.begin(), layers.end(), [](const Layer& layer) { return !layer.used && !layer.text.unused; });
    const auto named_loss = [](const Layer& layer) { return layer.text.name == "loss"; };
    const bool taken = std::any_of(layers.begin(), layers.end(), named_loss);
    graph.softmax_loss(outputs[static_cast<std::size_t>(end - layers.begin())], taken ? "" : "loss");
  }
  return std::move(graph).finish();
}

/// Problems of the graph as a whole are those of its file.
Result<OpGraph> of_file(Result<OpGraph> graph, const TomlFile& file) {
  if (graph) return graph;
  for (Error& error : graph.error())
    if (error.where.file.empty()) error.where.file = file.name();
  return graph;
}

}  // namespace

Result<OpGraph> read_network(TomlFile file, bool fused_attention) {
  TomlTable root = file.root();
  if (root.has("transformer")) return of_file(read_transformer(file, root, fused_attention), file);
  const Header header = read_header(root);
  std::vector<Layer> layers;
  std::vector<TomlTable> tables = root.tables_or_empty("layer");
  if (tables.empty()) root.problem("layer", "expected at least one [[layer]]");
  if (tables.size() > kMostLayers) {
    root.problem("layer", fmt::format("expected at most {} layers, got {}", kMostLayers, tables.size()));
    return tl::make_unexpected(file.errors());
  }
  layers.reserve(tables.size());
  for (TomlTable& table : tables) layers.push_back({read_layer(std::move(table)), {}, true, false, {}});
  const LeftOut left_out = leave_out(layers, fused_attention);
  if (layers.empty() && !tables.empty())
    root.problem("layer", fmt::format("expected a layer without attention = \"{}\"", attention_word(left_out.code)));
  if (std::none_of(layers.begin(), layers.end(), [](const Layer& layer) { return ends_network(layer) || !layer.text.unused; }) &&
      !layers.empty())
    root.problem("layer", "expected a layer that is not unused");
  root.finish();
  const Names names = collect_names(layers);
  connect(layers, names, left_out);
  const std::vector<LayerIndex> ordered = order(layers);
  infer_shapes(layers, ordered, header.input);
  report_unused(layers);
  if (Errors errors = file.errors(); !errors.empty()) return tl::make_unexpected(std::move(errors));
  return of_file(build(header, layers, ordered), file);
}

}  // namespace tbdsim
