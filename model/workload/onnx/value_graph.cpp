#include "model/workload/onnx/value_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <set>
#include <unordered_map>

#include "model/support/quote.hpp"

namespace tbdsim::onnx {
namespace {

bool is_real(int type) { return type == kUndefined || type == kFloat || type == kDouble || type == 10 || type >= 16; }

/// What these compute depends on shapes only, whatever their input.
bool asks_for_shape(std::string_view type) { return type == "Shape" || type == "Size"; }

/// Nodes that pick and arrange: what they do to a state needs no kernel of its own.
bool arranges(std::string_view type) {
  constexpr std::array<std::string_view, 10> kTypes{"Concat",  "Slice",     "Gather",   "Squeeze", "Unsqueeze",
                                                    "Reshape", "Transpose", "Identity", "Split",   "Cast"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

bool is_recurrent(std::string_view type) { return type == "LSTM" || type == "GRU" || type == "RNN"; }

class Builder {
 public:
  Builder(const ModelText& model, const Bindings& bindings, const std::string& file)
      : model_(model), bindings_(bindings), file_(file) {}

  Result<ValueGraph> build() {
    add_initializers();
    add_inputs();
    add_nodes();
    connect();
    find_live();
    if (errors_.empty()) order();
    if (errors_.empty()) find_origins();
    if (errors_.empty()) note_known_shapes();
    if (!errors_.empty()) return tl::make_unexpected(std::move(errors_));
    return std::move(graph_);
  }

 private:
  const ModelText& model_;
  const Bindings& bindings_;
  const std::string& file_;
  ValueGraph graph_;
  Errors errors_;
  std::unordered_map<std::string_view, ValueIndex> names_;
  std::set<std::string_view> batch_symbols_, frozen_;

  void problem(std::string message) {
    constexpr std::size_t kMostProblems = 20;
    if (errors_.size() < kMostProblems) errors_.push_back(Error{std::move(message), SourceRef{file_, 0, 0}});
  }

  ValueIndex add_value(std::string_view name) {
    const auto index = static_cast<ValueIndex>(graph_.values.size());
    graph_.values.emplace_back().name = name;
    names_.emplace(name, index);
    return index;
  }

  /// A parameter, or what the metadata or its type says is none.
  void make_array(ValueIndex index, bool trainable) {
    Value& value = graph_.value(index);
    if (!trainable || !is_real(value.type) || frozen_.count(value.name) > 0) return;
    value.origin = Origin::parameter;
    value.arrays.push_back(static_cast<std::int32_t>(graph_.arrays.size()));
    graph_.arrays.push_back({index, 0.0});
  }

  void add_initializers() {
    for (const auto& [key, text] : model_.metadata) {
      if (key != "tbdsim.frozen") continue;
      for (std::size_t from = 0; from < text.size();) {
        const std::size_t end = std::min(text.find('\n', from), text.size());
        frozen_.insert(text.substr(from, end - from));
        from = end + 1;
      }
    }
    for (const TensorText& tensor : model_.initializers) {
      if (names_.count(tensor.name) > 0) {
        problem(fmt::format("initial value {} is there twice", quoted(tensor.name)));
        continue;
      }
      const ValueIndex index = add_value(tensor.name);
      Value& value = graph_.value(index);
      value.type = tensor.type;
      value.outside = tensor.outside;
      Extents dims;
      for (const std::int64_t extent : tensor.dims) dims.push_back({static_cast<double>(extent)});
      if (tensor.values) {
        value.numbers.emplace();
        for (const double number : *tensor.values) value.numbers->push_back({number});
      }
      const bool scalar = dims.empty();
      value.dims = std::move(dims);
      make_array(index, !scalar);
    }
  }

  static bool is_symbolic(const DimensionText& d) { return !d.extent; }

  void add_inputs() {
    const bool has_weights = !model_.initializers.empty();
    std::vector<const ValueText*> inputs;
    bool symbolic = false;
    for (const ValueText& text : model_.inputs) {
      if (names_.count(text.name) > 0) continue;  // before IR version 4, initial values are inputs too
      inputs.push_back(&text);
      if (!text.dims) continue;
      const std::vector<DimensionText>& dims = *text.dims;
      const auto symbol = std::find_if(dims.begin(), dims.end(), is_symbolic);
      if (symbol == dims.end()) continue;
      symbolic = true;
      batch_symbols_.insert(symbol->symbol);
    }
    for (const ValueText* text : inputs) add_input(*text, symbolic, has_weights);
    if (graph_.inputs.empty() && errors_.empty())
      problem(
          "no input has a symbolic first dimension, the batch: export with dynamic_axes, as model/workload/export_onnx.py does");
  }

  void add_input(const ValueText& text, bool symbolic, bool has_weights) {
    const ValueIndex index = add_value(text.name);
    graph_.value(index).type = text.type;
    if (text.type == kString) return problem(fmt::format("input {} holds texts, expected numbers", quoted(text.name)));
    if (!text.dims) return problem(fmt::format("input {} has no shape", quoted(text.name)));
    const bool has_symbol = std::any_of(text.dims->begin(), text.dims->end(), is_symbolic);
    const bool fixed = !symbolic && has_weights && !text.dims->empty();
    bool batch_found = false;
    Extents dims;
    for (std::size_t i = 0; i < text.dims->size(); ++i) {
      const DimensionText& d = (*text.dims)[i];
      if (d.extent && *d.extent < 1)
        return problem(fmt::format("input {}: dimension {} is {}, expected at least 1", quoted(text.name), i, *d.extent));
      const bool first = fixed && i == 0;
      if (first) graph_.fixed_batch = static_cast<double>(*d.extent);
      if (first || (!d.extent && !batch_found && batch_symbols_.count(d.symbol) > 0)) {
        dims.push_back({1.0, true});
        batch_found = true;
      } else if (d.extent) {
        dims.push_back({static_cast<double>(*d.extent)});
      } else {
        dims.push_back(bound(text, i));
      }
    }
    Value& value = graph_.value(index);
    value.dims = std::move(dims);
    if (has_symbol || fixed) {
      value.origin = Origin::data;
      graph_.inputs.push_back(index);
    } else {
      make_array(index, true);
    }
  }

  Number bound(const ValueText& text, std::size_t axis) {
    const bool image = text.dims->size() == 4;
    if (image && axis == 1) {
      problem(fmt::format("input {}: dimension 1, the channels, is symbolic ({}); export it with their number", quoted(text.name),
                          quoted((*text.dims)[axis].symbol)));
      return kUnknownNumber;
    }
    const auto& given = image ? bindings_.image : bindings_.seq_len;
    (image ? graph_.used_image : graph_.used_seq_len) = true;
    if (given) return {static_cast<double>(*given)};
    problem(fmt::format("input {}: dimension {} is symbolic ({}); give it a size with {}", quoted(text.name), axis,
                        quoted((*text.dims)[axis].symbol), image ? "--image" : "--seq-len"));
    return kUnknownNumber;
  }

  void add_nodes() {
    for (const NodeText& text : model_.nodes) {
      const auto index = static_cast<NodeIndex>(graph_.nodes.size());
      Node& node = graph_.nodes.emplace_back();
      node.text = &text;
      for (const std::string_view name : text.outputs) {
        if (name.empty()) {
          node.outputs.push_back(kAbsent);
          continue;
        }
        if (names_.count(name) > 0) {
          problem(fmt::format("{}: {} is already made elsewhere", describe(graph_, index), quoted(name)));
          return;
        }
        node.outputs.push_back(add_value(name));
        graph_.values.back().producer = index;
      }
    }
  }

  void connect() {
    if (!errors_.empty()) return;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      Node& node = graph_.nodes[i];
      for (const std::string_view name : node.text->inputs) {
        const auto found = names_.find(name);
        if (!name.empty() && found == names_.end())
          problem(fmt::format("{}: nothing makes its input {}", describe(graph_, static_cast<NodeIndex>(i)), quoted(name)));
        node.inputs.push_back(name.empty() || found == names_.end() ? kAbsent : found->second);
      }
    }
    for (const ValueText& text : model_.outputs) {
      const auto found = names_.find(text.name);
      if (found == names_.end()) {
        problem(fmt::format("nothing makes the output {}", quoted(text.name)));
        continue;
      }
      graph_.outputs.push_back(found->second);
      graph_.value(found->second).is_output = true;
    }
    if (graph_.outputs.empty()) problem("the graph has no outputs");
  }

  void find_live() {
    std::vector<NodeIndex> open;
    const auto reach = [&](ValueIndex value) {
      if (value == kAbsent) return;
      const NodeIndex producer = graph_.value(value).producer;
      if (producer == kAbsent || graph_.node(producer).live) return;
      graph_.nodes[static_cast<std::size_t>(producer)].live = true;
      open.push_back(producer);
    };
    for (const ValueIndex output : graph_.outputs) reach(output);
    while (!open.empty()) {
      const NodeIndex node = open.back();
      open.pop_back();
      for (const ValueIndex input : graph_.node(node).inputs) {
        reach(input);
        if (input != kAbsent) graph_.value(input).readers.push_back(node);
      }
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const bool body = std::any_of(graph_.nodes[i].text->attributes.begin(), graph_.nodes[i].text->attributes.end(),
                                    [](const AttributeText& a) { return a.holds_graph; });
      if (graph_.nodes[i].live && body)
        problem(fmt::format("{}: control flow cannot be predicted; export a traced network without branches or loops",
                            describe(graph_, static_cast<NodeIndex>(i))));
    }
  }

  void order() {
    std::vector<int> waiting(graph_.nodes.size(), 0);
    std::priority_queue<NodeIndex, std::vector<NodeIndex>, std::greater<>> ready;
    std::size_t live = 0;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!graph_.nodes[i].live) continue;
      ++live;
      for (const ValueIndex input : graph_.nodes[i].inputs)
        if (input != kAbsent && graph_.value(input).producer != kAbsent) ++waiting[i];
      if (waiting[i] == 0) ready.push(static_cast<NodeIndex>(i));
    }
    while (!ready.empty()) {
      const NodeIndex node = ready.top();
      ready.pop();
      graph_.order.push_back(node);
      for (const ValueIndex output : graph_.node(node).outputs) {
        if (output == kAbsent) continue;
        for (const NodeIndex reader : graph_.value(output).readers)
          if (--waiting[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
      }
    }
    if (graph_.order.size() < live) report_cycle(waiting);
  }

  /// Goes back along unordered nodes until one comes again.
  void report_cycle(const std::vector<int>& waiting) {
    std::size_t at = 0;
    while (!graph_.nodes[at].live || waiting[at] == 0) ++at;
    std::vector<bool> seen(graph_.nodes.size(), false);
    while (!seen[at]) {
      seen[at] = true;
      for (const ValueIndex input : graph_.nodes[at].inputs) {
        const NodeIndex producer = input == kAbsent ? kAbsent : graph_.value(input).producer;
        if (producer == kAbsent || waiting[static_cast<std::size_t>(producer)] == 0) continue;
        at = static_cast<std::size_t>(producer);
        break;
      }
    }
    problem(fmt::format("{} depends on itself: the nodes form a cycle", describe(graph_, static_cast<NodeIndex>(at))));
  }

  void find_origins() {
    for (const NodeIndex i : graph_.order) {
      const Node& node = graph_.node(i);
      const std::string_view type = node.text->type;
      Origin origin = Origin::constant;
      std::vector<std::int32_t> arrays;
      constexpr std::size_t kMostArrays = 64;  // of one layer's weights: a handful
      if (!asks_for_shape(type)) {
        for (const ValueIndex input : node.inputs) {
          if (input == kAbsent) continue;
          origin = std::max(origin, graph_.value(input).origin);
          for (const std::int32_t array : graph_.value(input).arrays)
            if (arrays.size() < kMostArrays && std::find(arrays.begin(), arrays.end(), array) == arrays.end())
              arrays.push_back(array);
        }
      }
      if (origin == Origin::state && !arranges(type)) origin = Origin::data;
      for (std::size_t k = 0; k < node.outputs.size(); ++k) {
        if (node.outputs[k] == kAbsent) continue;
        Value& output = graph_.value(node.outputs[k]);
        output.origin = origin == Origin::data && is_recurrent(type) && k > 0 ? Origin::state : origin;
        if (output.origin == Origin::parameter) output.arrays = arrays;
      }
    }
  }

  /// Shapes of inner values that the exporter noted serve where a node's own rule is not known.
  void note_known_shapes() {
    for (const std::vector<ValueText>* list : {&model_.known, &model_.outputs}) {
      for (const ValueText& text : *list) {
        const auto found = names_.find(text.name);
        if (found == names_.end() || !text.dims) continue;
        Value& value = graph_.value(found->second);
        if (value.type == kUndefined) value.type = text.type;
        if (value.producer == kAbsent || value.dims) continue;
        Extents dims;
        for (const DimensionText& d : *text.dims) {
          if (d.extent && *d.extent >= 0)
            dims.push_back({static_cast<double>(*d.extent)});
          else if (d.extent)  // some exporters write -1 for what they do not know
            dims.push_back(kUnknownNumber);
          else
            dims.push_back(batch_symbols_.count(d.symbol) > 0 ? Number{1.0, true} : kUnknownNumber);
        }
        value.dims = std::move(dims);
      }
    }
  }
};

}  // namespace

std::string describe(const ValueGraph& graph, NodeIndex node) {
  const NodeText& text = *graph.node(node).text;
  return fmt::format("node {} ({} {})", node, printable(text.type), quoted(text.name));
}

Result<ValueGraph> value_graph(const ModelText& model, const Bindings& bindings, const std::string& file) {
  return Builder(model, bindings, file).build();
}

}  // namespace tbdsim::onnx
