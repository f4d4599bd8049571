// Nodes that pick, arrange and join elements of data.
#include <algorithm>
#include <cmath>

#include "model/workload/onnx/rules.hpp"

namespace tbdsim::onnx {
namespace {

/// The order of one sample's axes under a permutation of all; axes of one element may stand anywhere.
std::vector<std::int64_t> sample_order(const Extents& dims, const std::vector<std::size_t>& order) {
  const auto axes = sample_axes(dims);
  std::vector<std::int64_t> result;
  for (const std::size_t axis : order)
    if (axes[axis]) result.push_back(static_cast<std::int64_t>(*axes[axis]));
  return result;
}

bool moves_nothing(const std::vector<std::int64_t>& order, const Shape& shape) {
  std::int64_t last = -1;
  for (const std::int64_t axis : order) {
    if (shape[static_cast<std::size_t>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

/// Whether a node multiplies or divides by one number.
bool scales(const Lowering& l, NodeIndex node) {
  const bool product = l.type(node) == "Mul", ratio = l.type(node) == "Div";
  return (product || ratio) &&
         (l.is(l.input(node, 1), Origin::constant) || (product && l.is(l.input(node, 0), Origin::constant)));
}

/// Whether a value only serves as the second factor of a product, which reads it transposed at no cost. A scale by one
/// number may stand between.
bool feeds_product(const Lowering& l, ValueIndex value) {
  for (int hops = 0; hops < 2; ++hops) {
    const auto reader = l.only_reader(value);
    if (!reader) return false;
    if (l.type(*reader) == "MatMul") return l.input(*reader, 1) == value && l.is_data(l.input(*reader, 0));
    if (!scales(l, *reader)) return false;
    value = l.output(*reader);
  }
  return false;
}

std::vector<std::size_t> permutation(const Lowering& l, NodeIndex node, std::size_t rank) {
  std::vector<std::size_t> order;
  if (const AttributeText* a = l.attribute(node, "perm")) {
    for (const std::int64_t axis : a->integers) order.push_back(axis_of(axis, rank).value_or(0));
  } else {
    for (std::size_t i = rank; i-- > 0;) order.push_back(i);
  }
  return order;
}

TensorId permuted(Lowering& l, NodeIndex node, ValueIndex in, const std::vector<std::size_t>& order) {
  const std::vector<std::int64_t> axes = sample_order(*l.dims(in), order);
  const auto shape = per_sample(*l.dims(in));
  if (!shape || axes.size() != shape->size() || moves_nothing(axes, *shape)) return l.elements_of(in);
  return l.emit(node, OpKind::transpose, {l.tensor(in)}, TransposeAttributes{axes});
}

constexpr const char* kPicksSamples = "picks samples of the batch, which cannot be predicted";

/// What is wrong with the ranges of a Slice; empty: nothing.
std::string slice_trouble(const Lowering& l, NodeIndex node, const Extents& from) {
  const auto starts = l.list(node, "starts", 1), ends = l.list(node, "ends", 2);
  const auto axes = l.list(node, "axes", 3), steps = l.list(node, "steps", 4);
  const auto differs = [&](const auto& list) { return list && starts && list->size() != starts->size(); };
  if (differs(ends) || differs(axes) || differs(steps)) return "its starts, ends, axes and steps differ in number";
  if (starts && starts->size() > from.size()) return fmt::format("it picks from more axes than {} has", to_text(from));
  for (std::size_t k = 0; axes && k < axes->size(); ++k) {
    const Number& axis = (*axes)[k];
    if (axis.known && !axis_of(axis.value, from.size()))
      return fmt::format("its axis {} is beyond the dimensions of {}", axis.value, to_text(from));
  }
  const bool stands = steps && std::any_of(steps->begin(), steps->end(), [](const Number& n) { return n == Number{0.0}; });
  return stands ? "its step is 0" : "";
}

/// What is wrong with the parts of a Split along `extent` elements; empty: nothing.
std::string split_trouble(const Lowering& l, NodeIndex node, const Number& extent) {
  const std::size_t outputs = l.graph.node(node).outputs.size();
  const AttributeText* stated = l.attribute(node, "num_outputs");
  if (stated != nullptr && stated->integer != static_cast<std::int64_t>(outputs))
    return fmt::format("its attribute \"num_outputs\" is {}, it has {} outputs", stated->integer, outputs);
  const auto sizes = l.list(node, "split", 1);
  if (!extent.known || extent.batch || (sizes && !all_known(*sizes))) return "";
  if (!sizes && static_cast<double>(outputs) > extent.value)
    return fmt::format("it makes {} parts of {} elements", outputs, extent.value);
  if (!sizes) return "";
  if (sizes->size() != outputs) return fmt::format("it has {} sizes for {} outputs", sizes->size(), outputs);
  double sum = 0.0;
  for (const Number& size : *sizes) {
    if (size.value < 0.0) return fmt::format("its sizes {} hold a negative one", to_text(*sizes));
    sum += size.value;
  }
  return sum == extent.value ? "" : fmt::format("its sizes {} do not sum to the {} elements", to_text(*sizes), extent.value);
}

/// `begin` up to `end` of one axis of all dimensions.
void emit_part(Lowering& l, NodeIndex node, ValueIndex in, ValueIndex out, std::size_t axis, double begin, double end) {
  const auto axes = sample_axes(*l.dims(in));
  if (!axes[axis]) return l.refuse(node, kPicksSamples);
  if (!(begin >= 0.0 && begin < end && end <= (*l.dims(in))[axis].value))
    return l.refuse(node, "picks elements {} up to {} of axis {} of {}", begin, end, axis, to_text(*l.dims(in)));
  const SliceAttributes part{static_cast<std::int64_t>(*axes[axis]), static_cast<std::int64_t>(begin),
                             static_cast<std::int64_t>(end)};
  l.bind(node, out, l.emit(node, OpKind::slice, {l.tensor(in)}, part));
}

}  // namespace

std::vector<std::optional<std::size_t>> sample_axes(const Extents& dims) {
  std::vector<std::optional<std::size_t>> axes;
  std::size_t next = 0;
  for (const Number& n : dims) {
    const bool left_out = n.batch && n.value == 1.0;
    axes.push_back(left_out ? std::nullopt : std::optional<std::size_t>(next));
    if (!left_out) ++next;
  }
  return axes;
}

void emit_alias(Lowering& l, NodeIndex node) { l.bind(node, l.output(node), l.elements_of(l.input(node, 0))); }

void emit_transpose(Lowering& l, NodeIndex node) {
  const ValueIndex in = l.input(node, 0), out = l.output(node);
  if (!l.dims(in) || !per_sample(*l.dims(in)) || !l.dims(out) || l.dims(out)->size() != l.dims(in)->size())
    return emit_unknown(l, node);
  std::vector<std::size_t> order = permutation(l, node, l.dims(in)->size());
  const bool last_moves = order.size() >= 2 && order.back() != order.size() - 1;
  if (last_moves && feeds_product(l, out)) {
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    Extents dims;
    for (const std::size_t axis : order) dims.push_back((*l.dims(in))[axis]);
    const auto shape = per_sample(dims);
    if (shape) return l.bind_swapped(out, l.reshaped(permuted(l, node, in, order), *shape));
  }
  l.bind(node, out, permuted(l, node, in, order));
}

void emit_slice(Lowering& l, NodeIndex node) {
  const ValueIndex in = l.input(node, 0), out = l.output(node);
  if (!l.dims(in)) return emit_unknown(l, node);
  if (const std::string trouble = slice_trouble(l, node, *l.dims(in)); !trouble.empty()) return l.refuse(node, "{}", trouble);
  const auto samples = batch_axis(*l.dims(in));
  if (samples && l.dims(out) && l.dims(out)->size() > *samples && !(*l.dims(out))[*samples].known)
    return l.refuse(node, kPicksSamples);
  if (!l.dims(out) || !all_known(*l.dims(out)) || l.dims(in)->size() != l.dims(out)->size()) return emit_unknown(l, node);
  const Extents &from = *l.dims(in), &to = *l.dims(out);
  const auto starts = l.list(node, "starts", 1);
  const auto given = l.list(node, "axes", 3), steps = l.list(node, "steps", 4);
  std::optional<std::size_t> changed;
  int changes = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[i]) continue;
    changed = i;
    ++changes;
  }
  if (changes == 0) return emit_alias(l, node);
  bool plain = changes == 1 && starts.has_value();
  double begin = 0.0;
  for (std::size_t k = 0; plain && k < starts->size(); ++k) {
    const double named = given && k < given->size() ? (*given)[k].value : static_cast<double>(k);
    if (axis_of(named, from.size()) != changed) continue;
    begin = (*starts)[k].value;
    plain = !steps || k >= steps->size() || (*steps)[k].value == 1.0;
  }
  if (!plain) return emit_by_bytes(l, node);
  const double extent = from[*changed].value;
  begin = std::clamp(begin < 0.0 ? begin + extent : begin, 0.0, extent);
  emit_part(l, node, in, out, *changed, begin, begin + to[*changed].value);
}

void emit_split(Lowering& l, NodeIndex node) {
  const ValueIndex in = l.input(node, 0);
  if (!l.dims(in) || !per_sample(*l.dims(in))) return emit_unknown(l, node);
  const auto axis = axis_of(l.integer(node, "axis", 0), l.dims(in)->size());
  if (!axis) return l.refuse(node, "its axis is beyond the dimensions of {}", to_text(*l.dims(in)));
  if (const std::string trouble = split_trouble(l, node, (*l.dims(in))[*axis]); !trouble.empty())
    return l.refuse(node, "{}", trouble);
  double at = 0.0;
  for (const ValueIndex out : l.graph.node(node).outputs) {
    if (out == kAbsent || !l.dims(out) || l.dims(out)->size() != l.dims(in)->size()) continue;
    const double size = (*l.dims(out))[*axis].value;
    if (!l.graph.value(out).readers.empty() || l.graph.value(out).is_output) emit_part(l, node, in, out, *axis, at, at + size);
    at += size;
  }
}

void emit_gather(Lowering& l, NodeIndex node) {
  const ValueIndex table = l.input(node, 0), where = l.input(node, 1), out = l.output(node);
  if (table == kAbsent || where == kAbsent || !l.dims(table)) return emit_unknown(l, node);
  const auto axis = axis_of(l.integer(node, "axis", 0), l.dims(table)->size());
  if (!l.is_data(table)) {
    const auto rows = whole(*l.dims(table));
    const auto tokens = l.dims(where) ? per_sample(*l.dims(where)) : std::nullopt;
    if (!rows || rows->size() != 2 || axis != 0U || !tokens) return emit_by_bytes(l, node);
    const EmbeddingAttributes lookup{(*rows)[0], (*rows)[1], false};
    const TensorId flat = l.reshaped(l.tensor(where), Shape{elements(*tokens)});
    return l.bind(node, out, l.emit(node, OpKind::embedding, {flat}, lookup, {table}));
  }
  if (!axis || l.is_data(where) || !l.dims(where)) return emit_by_bytes(l, node);
  const auto index = l.scalar(where);
  const auto axes = sample_axes(*l.dims(table));
  if (!axes[*axis]) return l.refuse(node, kPicksSamples);
  const double extent = (*l.dims(table))[*axis].value;
  if (index) {
    const double row = *index < 0.0 ? *index + extent : *index;
    return emit_part(l, node, table, out, *axis, row, row + 1.0);
  }
  const auto count = whole(*l.dims(where));
  if (!count || *axes[*axis] != 0) return emit_by_bytes(l, node);
  l.bind(node, out, l.emit(node, OpKind::gather, {l.tensor(table)}, GatherAttributes{elements(*count)}));
}

void emit_concat(Lowering& l, NodeIndex node) {
  const ValueIndex out = l.output(node);
  const auto& inputs = l.graph.node(node).inputs;
  if (!l.dims(out) || !per_sample(*l.dims(out))) return emit_unknown(l, node);
  const auto axis = axis_of(l.integer(node, "axis", 0), l.dims(out)->size());
  const auto place = axis ? sample_axes(*l.dims(out))[*axis] : std::nullopt;
  if (inputs.size() == 1) return emit_alias(l, node);
  // N and N are 2 N, which reads as two elements a sample: the inputs tell that they are samples.
  const bool samples =
      axis && std::any_of(inputs.begin(), inputs.end(), [&](ValueIndex input) {
        return input != kAbsent && l.dims(input) && l.dims(input)->size() > *axis && (*l.dims(input))[*axis].batch;
      });
  if (!place || samples) return l.refuse(node, "joins along the batch, which cannot be predicted");
  std::vector<TensorId> parts;
  for (const ValueIndex input : inputs) {
    if (!l.is_data(input)) {
      // A trainable row before a sequence: the class token of a transformer.
      const bool token = inputs.size() == 2 && input == inputs.front() && l.is(input, Origin::parameter) && *place == 0 &&
                         per_sample(*l.dims(out))->size() == 2 && l.dims(input) && (*l.dims(input))[*axis] == Number{1.0};
      if (!token) return emit_by_bytes(l, node);
      return l.bind(node, out, l.emit(node, OpKind::prepend_token, {l.tensor(inputs[1])}, {}, {input}));
    }
    parts.push_back(l.tensor(input));
  }
  l.bind(node, out, l.emit(node, OpKind::concat, parts, ConcatAttributes{static_cast<std::int64_t>(*place)}));
}

void emit_reduce(Lowering& l, NodeIndex node) {
  const ValueIndex in = l.input(node, 0), out = l.output(node);
  if (!l.dims(in) || !l.dims(out)) return emit_unknown(l, node);
  const auto from = per_sample(*l.dims(in));
  if (!from) return emit_unknown(l, node);
  // Over the batch too: the loss itself.
  if (product(*l.dims(out)) == Number{1.0}) {
    (void)l.emit(node, OpKind::element_loss, {l.tensor(in)});
    return;
  }
  const auto to = per_sample(*l.dims(out));
  if (!to) return emit_unknown(l, node);
  const bool image = from->size() == 3 && elements(*to) == from->front() && l.type(node) == "ReduceMean" && from->front() > 1;
  if (image) return l.bind(node, out, l.emit(node, OpKind::global_average_pool, {l.tensor(in)}));
  for (std::size_t axis = 0; axis < from->size(); ++axis) {
    Shape without = *from, kept = *from;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(axis));
    kept[axis] = 1;
    if (without.empty()) without.push_back(1);
    if ((*to == without || *to == kept) && (*from)[axis] > 1)
      return l.bind(node, out, l.emit(node, OpKind::reduce, {l.tensor(in)}, ReduceAttributes{static_cast<std::int64_t>(axis)}));
  }
  emit_by_bytes(l, node);
}

void emit_pad(Lowering& l, NodeIndex node) {
  const ValueIndex in = l.input(node, 0), out = l.output(node);
  const auto pads = l.list(node, "pads", 1);
  if (!l.dims(in) || !l.dims(out) || !pads || !all_known(*pads)) return emit_unknown(l, node);
  const std::size_t rank = l.dims(in)->size();
  const bool none = std::all_of(pads->begin(), pads->end(), [](const Number& n) { return n.value == 0.0; });
  if (none) return emit_alias(l, node);
  const bool sides = rank == 4 && pads->size() == 8 && (*pads)[0].value == 0.0 && (*pads)[1].value == 0.0 &&
                     (*pads)[4].value == 0.0 && (*pads)[5].value == 0.0;
  if (!sides) return emit_by_bytes(l, node);
  constexpr double kMostPadding = 1e6;
  const bool sizes = std::all_of(pads->begin(), pads->end(), [](const Number& n) { return std::abs(n.value) <= kMostPadding; });
  if (!sizes) return l.refuse(node, "its pads {} are no sizes", to_text(*pads));
  const auto side = [&](std::size_t i) { return static_cast<std::int64_t>((*pads)[i].value); };
  const PadAttributes a{side(2), side(6), side(3), side(7)};
  const auto reader = l.only_reader(out);
  const bool even = a.top == a.bottom && a.left == a.right && a.top >= 0 && a.left >= 0;
  // The exporter writes the zeros of a padded average pool as a node of their own.
  const bool of_pool = even && reader && l.type(*reader) == "AveragePool";
  if (of_pool) {
    const AttributeText* own = l.attribute(*reader, "pads");
    const bool bare = own == nullptr || std::all_of(own->integers.begin(), own->integers.end(), [](auto p) { return p == 0; });
    if (bare) {
      l.set_pending_pad(out, a.top, a.left);
      return;
    }
  }
  l.bind(node, out, l.emit(node, OpKind::pad, {l.tensor(in)}, a));
}

void emit_resize(Lowering& l, NodeIndex node) {
  const ValueIndex in = l.input(node, 0), out = l.output(node);
  // Scales are the third input of Resize, the second of Upsample; sizes the fourth.
  const bool upsample = l.type(node) == "Upsample";
  const auto scales = l.list(node, "scales", upsample ? 1 : 2);
  const auto sizes = upsample ? std::nullopt : l.list(node, "sizes", 3);
  if (!l.dims(in)) return emit_unknown(l, node);
  Extents dims = *l.dims(in);
  if (sizes && sizes->size() == dims.size()) {
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (!dims[i].batch) dims[i] = (*sizes)[i];
  } else if (scales && scales->size() == dims.size()) {
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (!dims[i].batch && dims[i].known)
        dims[i] = Number{std::floor(dims[i].value * (*scales)[i].value), false, (*scales)[i].known};
  } else {
    return emit_unknown(l, node);
  }
  l.set_dims(out, dims);
  const auto from = per_sample(*l.dims(in)), to = per_sample(dims);
  const bool images = from && to && from->size() == 3 && to->size() == 3 && (*from)[0] == (*to)[0];
  const std::int64_t factor = images ? (*to)[1] / (*from)[1] : 0;
  if (!images || factor < 1 || (*to)[1] != factor * (*from)[1] || (*to)[2] != factor * (*from)[2]) return emit_by_bytes(l, node);
  l.bind(node, out, l.emit(node, OpKind::upsample, {l.tensor(in)}, UpsampleAttributes{factor}));
}

}  // namespace tbdsim::onnx
