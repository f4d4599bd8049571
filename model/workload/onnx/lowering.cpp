#include "model/workload/onnx/lowering.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/support/quote.hpp"
#include "model/workload/operator_limits.hpp"

namespace tbdsim::onnx {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// "layer1.0.conv1" of "layer1.0.conv1.weight", "enc" of "enc.weight_ih_l0".
std::string_view module_name(std::string_view array) {
  for (const std::string_view ending : {".weight", ".bias", "_weight", "_bias", "/kernel", ".gamma", ".beta"}) {
    const std::size_t found = array.rfind(ending);
    if (found != std::string_view::npos && found > 0) return array.substr(0, found);
  }
  return array;
}

}  // namespace

Lowering::Lowering(const ModelText& text, ValueGraph values, GraphBuilder graph_builder)
    : model(text), graph(std::move(values)), builder(std::move(graph_builder)) {
  made_.resize(graph.values.size());
  tensors_.resize(graph.values.size());
  states_.resize(graph.values.size());
  swapped_.resize(graph.values.size(), false);
  pads_.resize(graph.values.size(), {0, 0});
}

ValueIndex Lowering::input(NodeIndex node, std::size_t i) const {
  const auto& inputs = graph.node(node).inputs;
  return i < inputs.size() ? inputs[i] : kAbsent;
}

ValueIndex Lowering::output(NodeIndex node, std::size_t i) const {
  const auto& outputs = graph.node(node).outputs;
  return i < outputs.size() ? outputs[i] : kAbsent;
}

const AttributeText* Lowering::attribute(NodeIndex node, std::string_view name) const {
  for (const AttributeText& a : graph.node(node).text->attributes)
    if (a.name == name) return &a;
  return nullptr;
}

std::int64_t Lowering::integer(NodeIndex node, std::string_view name, std::int64_t fallback) const {
  const AttributeText* a = attribute(node, name);
  return a == nullptr ? fallback : a->integer;
}

double Lowering::real(NodeIndex node, std::string_view name, double fallback) const {
  const AttributeText* a = attribute(node, name);
  return a == nullptr ? fallback : a->real;
}

std::optional<std::vector<Number>> Lowering::list(NodeIndex node, std::string_view name, std::size_t input_index) const {
  if (const AttributeText* a = attribute(node, name)) {
    std::vector<Number> result;
    for (const std::int64_t value : a->integers) result.push_back({static_cast<double>(value)});
    for (const double value : a->reals) result.push_back({value});
    return result;
  }
  const ValueIndex value = input(node, input_index);
  return value == kAbsent ? std::nullopt : graph.value(value).numbers;
}

std::optional<double> Lowering::scalar(ValueIndex value) const {
  if (value == kAbsent) return std::nullopt;
  const auto& numbers = graph.value(value).numbers;
  if (!numbers || numbers->size() != 1 || !numbers->front().known || numbers->front().batch) return std::nullopt;
  return numbers->front().value;
}

std::optional<NodeIndex> Lowering::only_reader(ValueIndex value) const {
  const Value& v = graph.value(value);
  if (v.is_output || v.readers.size() != 1) return std::nullopt;
  return v.readers.front();
}

void Lowering::check_dims(ValueIndex value, const Extents& dims) {
  constexpr double kMostExtent = 1e15;  // whole numbers up to it are exact, and indices
  const NodeIndex node = graph.value(value).producer;
  if (dims.size() > kMostRank)
    return refuse(node, "its output {} would have {} dimensions, expected at most {}", quoted(graph.value(value).name),
                  dims.size(), kMostRank);
  const bool sizes = std::all_of(dims.begin(), dims.end(), [](const Number& n) {
    return !n.known || (n.value >= 0.0 && n.value <= kMostExtent && (n.batch || n.value == std::floor(n.value)));
  });
  if (!sizes)
    refuse(node, "its output {} would have the dimensions {}, expected whole numbers of at least 0",
           quoted(graph.value(value).name), to_text(dims));
}

void Lowering::set_dims(ValueIndex value, Extents dims) {
  if (value == kAbsent) return;
  check_dims(value, dims);
  if (failed()) return;
  auto& known = graph.value(value).dims;
  // What the exporter noted beats a guess.
  if (!known || all_known(dims)) known = std::move(dims);
}

void Lowering::set_numbers(ValueIndex value, std::vector<Number> numbers) {
  constexpr std::size_t kMost = 4096, kMostOfAll = 4000000;
  if (value == kAbsent || numbers.size() > kMost || numbers_kept_ + numbers.size() > kMostOfAll) return;
  const auto& known = graph.value(value).dims;
  double count = 1.0;
  for (const Number& n : known.value_or(Extents{kUnknownNumber})) count *= n.known && !n.batch && n.value >= 0.0 ? n.value : -1.0;
  if (count != static_cast<double>(numbers.size())) return;  // a file that contradicts itself
  numbers_kept_ += numbers.size();
  graph.value(value).numbers = std::move(numbers);
}

TensorId Lowering::elements_of(ValueIndex value) {
  TensorId& made = made_[at(value)];
  if (made.value >= 0 || failed()) return made.value >= 0 ? made : builder.input();
  const TensorId outputs = states_[at(value)];
  const auto wanted = dims(value) ? per_sample(*dims(value)) : std::nullopt;
  const NodeIndex node = graph.value(value).producer;
  if (outputs.value < 0 || !wanted || shape(outputs).size() != 2) {
    refuse(node, "cannot tell what its output {} holds", quoted(graph.value(value).name));
    return builder.input();
  }
  const std::int64_t rows = std::max<std::int64_t>(1, elements(*wanted) / shape(outputs).back());
  TensorId picked = emit(node, OpKind::gather, {outputs}, GatherAttributes{rows});
  if (elements(shape(picked)) != elements(*wanted))
    picked = emit(node, OpKind::by_bytes, {picked}, ByBytesAttributes{*wanted, {}});
  return made = picked;
}

TensorId Lowering::tensor(ValueIndex value) {
  TensorId& shaped = tensors_[at(value)];
  if (shaped.value >= 0) return shaped;
  const TensorId made = elements_of(value);
  const auto wanted = dims(value) ? per_sample(*dims(value)) : std::nullopt;
  if (failed() || !wanted) return made;
  return shaped = reshaped(made, *wanted);
}

std::string Lowering::op_name(NodeIndex node, const std::vector<ValueIndex>& weights) const {
  for (const ValueIndex weight : weights) {
    if (weight == kAbsent || graph.value(weight).arrays.empty()) continue;
    const std::int32_t array = graph.value(weight).arrays.front();
    const std::string_view name = graph.value(graph.arrays[at(array)].value).name;
    if (!is_taken(weight) && name.find("::") == std::string_view::npos) return printable(module_name(name));
  }
  const NodeText& text = *graph.node(node).text;
  if (text.name.empty()) return fmt::format("{}_{}", printable(text.type), node);
  return printable(text.name.substr(text.name.front() == '/' ? 1 : 0));
}

bool Lowering::is_taken(ValueIndex weight) const {
  if (weight == kAbsent) return false;
  const auto own = dims(weight) ? whole(*dims(weight)) : std::nullopt;
  const auto& arrays = graph.value(weight).arrays;
  return std::any_of(arrays.begin(), arrays.end(), [&](std::int32_t i) {
    const ArrayUse& use = graph.arrays[at(i)];
    const auto all = whole(*graph.value(use.value).dims);
    if (use.claimed == 0.0) return false;
    // Queries, keys and values may each take their part of one array.
    return arrays.size() > 1 || !all || !own ||
           use.claimed + static_cast<double>(elements(*own)) > static_cast<double>(elements(*all));
  });
}

GraphBuilder::Weights Lowering::claim(const std::vector<ValueIndex>& weights) {
  bool any = false, taken = false;
  for (const ValueIndex weight : weights) {
    if (!is(weight, Origin::parameter)) continue;
    any = true;
    taken = taken || is_taken(weight);
  }
  if (!any) return GraphBuilder::Weights::frozen;
  if (taken) return GraphBuilder::Weights::shared;
  for (const ValueIndex weight : weights) {
    if (!is(weight, Origin::parameter)) continue;
    const auto own = dims(weight) ? whole(*dims(weight)) : std::nullopt;
    for (const std::int32_t array : graph.value(weight).arrays)
      graph.arrays[at(array)].claimed += own ? static_cast<double>(elements(*own)) : 1.0;
  }
  return GraphBuilder::Weights::own;
}

void Lowering::check_size(NodeIndex node, OpKind kind, const OpAttributes& attributes, const std::vector<TensorId>& inputs,
                          TensorId output) {
  constexpr double kMostMacsInAll = 1e17;  // sums of counts stay exact in 64 bits
  const Shape& x = shape(inputs.front());
  const Shape& y = shape(output);
  if (const auto trouble = too_large(kind, attributes, x, y)) return refuse(node, "{}", *trouble);
  macs_ += rough_macs(kind, attributes, x, y);
  if (macs_ > kMostMacsInAll) refuse(node, "the network up to here is too large to simulate");
}

TensorId Lowering::emit(NodeIndex node, OpKind kind, const std::vector<TensorId>& inputs, const OpAttributes& attributes,
                        const std::vector<ValueIndex>& weights, bool inplace) {
  if (failed()) return builder.input();
  std::string name = op_name(node, weights);
  if (info(kind).has_parameters()) builder.set_weights(claim(weights));
  const std::size_t before = builder.problems().size();
  const TensorId result = builder.add(kind, inputs, attributes, std::move(name), inplace);
  builder.set_weights(GraphBuilder::Weights::own);
  if (builder.problems().size() > before) {
    const std::string& text = builder.problems().back();
    const std::size_t colon = text.find(": ");
    refuse(node, "{}", colon == std::string::npos ? text : text.substr(colon + 2));
    return builder.input();
  }
  check_size(node, kind, attributes, inputs, result);
  return result;
}

TensorId Lowering::reshaped(TensorId x, const Shape& to) {
  if (failed() || shape(x) == to) return x;
  return builder.reshape(x, to);
}

void Lowering::bind(NodeIndex node, ValueIndex value, TensorId x) {
  if (value == kAbsent || failed()) return;
  const auto& known = dims(value);
  const auto wanted = known ? per_sample(*known) : std::nullopt;
  if (!wanted) {
    // Shapes may come from numbers that were left beside the file with its weights.
    std::string outside;
    for (const ValueIndex in : graph.node(node).inputs)
      if (in != kAbsent && graph.value(in).outside && outside.empty())
        outside = fmt::format("; its input {} lies in another file, which is not read", quoted(graph.value(in).name));
    refuse(node, "the shape of its output {} cannot be derived: {}{}", quoted(graph.value(value).name),
           known ? to_text(*known) : "nothing is known of it", outside);
    return;
  }
  if (elements(*wanted) != elements(shape(x))) {
    refuse(node, "one sample of its output {} has {} elements, {} were expected", to_text(*known), elements(*wanted),
           elements(shape(x)));
    return;
  }
  made_[at(value)] = x;
}

void Lowering::bind_swapped(ValueIndex value, TensorId x) {
  made_[at(value)] = x;
  tensors_[at(value)] = x;
  swapped_[at(value)] = true;
}

void Lowering::set_pending_pad(ValueIndex value, std::int64_t h, std::int64_t w) { pads_[at(value)] = {h, w}; }

std::pair<std::int64_t, std::int64_t> Lowering::pending_pad(ValueIndex value) const { return pads_[at(value)]; }

void Lowering::note_unknown(NodeIndex node) {
  const std::string kind = printable(type(node));
  const auto [found, fresh] = unknown_places_.emplace(kind, unknown_.size());
  if (fresh) unknown_.emplace_back(kind, std::vector<std::string>{});
  unknown_[found->second].second.push_back(describe(graph, node));
}

void Lowering::add_problem(NodeIndex node, std::string text) {
  problems_.push_back(node == kAbsent ? std::move(text) : fmt::format("{}: {}", describe(graph, node), text));
}

}  // namespace tbdsim::onnx
