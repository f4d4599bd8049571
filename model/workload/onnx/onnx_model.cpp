#include "model/workload/onnx/onnx_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "model/input/protobuf_reader.hpp"
#include "model/support/quote.hpp"

namespace tbdsim::onnx {
namespace {

using Kind = ProtobufField::Kind;

// The largest networks have some ten thousand nodes.
constexpr std::size_t kMostNodes = 100000;
constexpr std::size_t kMostParts = 1000000;
constexpr std::size_t kMostValues = 4096;
constexpr std::size_t kSmallPayload = 4096;

std::int64_t as_integer(std::uint64_t bits) { return std::bit_cast<std::int64_t>(bits); }
double as_float(std::uint64_t bits) { return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))); }

class Decoder {
 public:
  explicit Decoder(const std::string& file) : file_(file) {}

  Result<ModelText> decode(std::string_view bytes) {
    ModelText model;
    bool graph = false;
    each(bytes, "the model", [&](const ProtobufField& f) {
      if (f.number == 2) model.producer = f.bytes;
      if (f.number == 3) model.producer_version = f.bytes;
      if (f.number == 7 && f.kind == Kind::bytes) {
        if (graph) problem("holds two graphs, expected one");
        graph = true;
        read_graph(f.bytes, model);
      }
      if (f.number == 8) read_opset(f.bytes, model);
      if (f.number == 14) model.metadata.push_back(read_entry(f.bytes));
    });
    if (!graph && errors_.empty()) problem("not an ONNX file: it holds no graph");
    if (graph && model.nodes.empty() && errors_.empty()) problem("the graph has no nodes");
    if (!errors_.empty()) return tl::make_unexpected(std::move(errors_));
    return model;
  }

 private:
  const std::string& file_;
  Errors errors_;
  std::size_t parts_ = 0;

  void problem(std::string message) {
    if (errors_.empty()) errors_.push_back(Error{std::move(message), SourceRef{file_, 0, 0}});
  }

  /// Counts one part that is kept in memory.
  bool keeps() {
    if (++parts_ > kMostParts) problem(fmt::format("more than {} parts, which no network has", kMostParts));
    return errors_.empty();
  }

  template <class Take>
  void each(std::string_view message, std::string_view what, const Take& take) {
    ProtobufReader reader(message);
    ProtobufField field;
    while (errors_.empty() && reader.next(field)) take(field);
    if (reader.broken() && errors_.empty()) problem(fmt::format("not an ONNX file, or cut short: {} cannot be decoded", what));
  }

  /// Appends a repeated number, alone or packed.
  template <class T, class Convert>
  void append(const ProtobufField& field, std::size_t fixed, std::vector<T>& list, std::size_t most, const Convert& convert) {
    if (field.kind != Kind::bytes) {
      if (list.size() < most && keeps()) list.push_back(convert(field.value));
      return;
    }
    ProtobufReader packed(field.bytes);
    std::uint64_t bits = 0;
    while (list.size() <= most && (fixed > 0 ? packed.next_fixed(fixed, bits) : packed.next_varint(bits))) {
      if (!keeps()) return;
      list.push_back(convert(bits));
    }
    if (packed.broken()) problem("not an ONNX file, or cut short: a list of numbers cannot be decoded");
  }

  std::pair<std::string_view, std::string_view> read_entry(std::string_view message) {
    std::pair<std::string_view, std::string_view> entry;
    (void)keeps();
    each(message, "an entry of the metadata",
         [&](const ProtobufField& f) { (f.number == 1 ? entry.first : entry.second) = f.bytes; });
    return entry;
  }

  void read_opset(std::string_view message, ModelText& model) {
    std::string_view domain;
    std::int64_t version = 1;
    each(message, "an operator set", [&](const ProtobufField& f) {
      if (f.number == 1) domain = f.bytes;
      if (f.number == 2) version = as_integer(f.value);
    });
    if (domain.empty() || domain == "ai.onnx") model.opset = version;
  }

  void read_graph(std::string_view message, ModelText& model) {
    each(message, "the graph", [&](const ProtobufField& f) {
      if (f.kind != Kind::bytes || !keeps()) return;
      switch (f.number) {
        case 1:
          if (model.nodes.size() == kMostNodes)
            return problem(fmt::format("more than {} nodes, which no network has", kMostNodes));
          return model.nodes.push_back(read_node(f.bytes, model.nodes.size()));
        case 5:
          return model.initializers.push_back(read_tensor(f.bytes, "an initial value"));
        case 11:
          return model.inputs.push_back(read_value(f.bytes));
        case 12:
          return model.outputs.push_back(read_value(f.bytes));
        case 13:
          return model.known.push_back(read_value(f.bytes));
        default:
          return;
      }
    });
  }

  NodeText read_node(std::string_view message, std::size_t index) {
    NodeText node;
    const std::string what = fmt::format("node {}", index);
    each(message, what, [&](const ProtobufField& f) {
      if (f.kind != Kind::bytes || !keeps()) return;
      if (f.number == 1) node.inputs.push_back(f.bytes);
      if (f.number == 2) node.outputs.push_back(f.bytes);
      if (f.number == 3) node.name = f.bytes;
      if (f.number == 4) node.type = f.bytes;
      if (f.number == 5) node.attributes.push_back(read_attribute(f.bytes, what));
      if (f.number == 7) node.domain = f.bytes;
    });
    return node;
  }

  AttributeText read_attribute(std::string_view message, const std::string& node) {
    AttributeText attribute;
    each(message, node, [&](const ProtobufField& f) {
      const bool bytes = f.kind == Kind::bytes;
      if (f.number == 1 && bytes) attribute.name = f.bytes;
      if (f.number == 2 && f.kind == Kind::fixed32) attribute.real = as_float(f.value);
      if (f.number == 3 && f.kind == Kind::varint) attribute.integer = as_integer(f.value);
      if (f.number == 4 && bytes) attribute.text = f.bytes;
      if (f.number == 5 && bytes) attribute.tensor = read_tensor(f.bytes, node);
      if (f.number == 6 || f.number == 11) attribute.holds_graph = true;
      if (f.number == 20 && f.kind == Kind::varint) attribute.type = static_cast<int>(f.value);
      if (f.number == 7) append(f, 4, attribute.reals, kMostValues, as_float);
      if (f.number == 8) append(f, 0, attribute.integers, kMostValues, as_integer);
    });
    return attribute;
  }

  ValueText read_value(std::string_view message) {
    ValueText value;
    each(message, "a value of the graph", [&](const ProtobufField& f) {
      if (f.number == 1) value.name = f.bytes;
      if (f.number != 2) return;
      each(f.bytes, "a type", [&](const ProtobufField& type) {
        if (type.number == 1) read_tensor_type(type.bytes, value);
      });
    });
    return value;
  }

  void read_tensor_type(std::string_view message, ValueText& value) {
    each(message, "a type", [&](const ProtobufField& f) {
      if (f.number == 1) value.type = static_cast<int>(f.value);
      if (f.number != 2 || f.kind != Kind::bytes) return;
      value.dims.emplace();
      each(f.bytes, "a shape", [&](const ProtobufField& dim) {
        if (dim.number != 1 || value.dims->size() == kMostRank || !keeps()) return;
        DimensionText& dimension = value.dims->emplace_back();
        each(dim.bytes, "a dimension", [&](const ProtobufField& d) {
          if (d.number == 1) dimension.extent = as_integer(d.value);
          if (d.number == 2) dimension.symbol = d.bytes;
        });
      });
    });
  }

  /// Where the numbers of a tensor stand. Of several, which no exporter writes, the last counts.
  struct Payload {
    std::vector<double> values;
    std::string_view raw;
    bool has_raw = false, outside = false;
  };

  TensorText read_tensor(std::string_view message, std::string_view what) {
    TensorText tensor;
    Payload payload;
    const auto integer = [](std::uint64_t bits) { return static_cast<double>(as_integer(bits)); };
    const auto real = [](std::uint64_t bits) { return std::bit_cast<double>(bits); };
    each(message, what, [&](const ProtobufField& f) {
      if (f.number == 1) append(f, 0, tensor.dims, kMostRank, as_integer);
      if (f.number == 2) tensor.type = static_cast<int>(f.value);
      // Anything longer is a weight.
      const bool small = f.kind != Kind::bytes || f.bytes.size() <= 8 * kMostValues;
      if (f.number == 4 && small) append(f, 4, payload.values, kMostValues, as_float);
      if ((f.number == 5 || f.number == 7 || f.number == 11) && small) append(f, 0, payload.values, kMostValues, integer);
      if (f.number == 10 && small) append(f, 8, payload.values, kMostValues, real);
      if (f.number == 8) tensor.name = f.bytes;
      if (f.number == 9) payload.raw = f.bytes, payload.has_raw = true;
      if (f.number == 13 || (f.number == 14 && f.value != 0)) payload.outside = true;
    });
    take_values(tensor, std::move(payload), what);
    return tensor;
  }

  void take_values(TensorText& tensor, Payload payload, std::string_view what) {
    double count = 1.0;
    for (const std::int64_t extent : tensor.dims) {
      if (extent < 0) return problem(fmt::format("{}: tensor {} has a negative dimension", what, quoted(tensor.name)));
      count *= static_cast<double>(extent);
    }
    tensor.outside = payload.outside;
    if (payload.outside || count > static_cast<double>(kMostValues) || tensor.type == kString) return;
    if (payload.has_raw) payload.values = read_raw(tensor, payload.raw);
    if (payload.values.empty() && count > 0.0) return;  // only its shape is known
    const std::size_t held = payload.values.size();
    if (static_cast<double>(held) != count)
      return problem(fmt::format("{}: tensor {} holds {}{} values, its shape asks for {}", what, quoted(tensor.name),
                                 held > kMostValues ? "more than " : "", std::min(held, kMostValues), count));
    tensor.values = std::move(payload.values);
  }

  std::vector<double> read_raw(const TensorText& tensor, std::string_view raw) {
    std::size_t size = 0;
    switch (tensor.type) {
      case kFloat:
      case kInt32:
        size = 4;
        break;
      case kInt64:
      case kDouble:
        size = 8;
        break;
      case 2:
      case 3:
      case kBool:
        size = 1;
        break;
      default:
        return {};  // 16-bit and exotic types: no shape is computed from them
    }
    ProtobufReader numbers(raw);
    std::vector<double> values;
    std::uint64_t bits = 0;
    while (values.size() <= kMostValues && numbers.next_fixed(size, bits)) {
      if (!keeps()) break;
      switch (tensor.type) {
        case kFloat:
          values.push_back(as_float(bits));
          break;
        case kDouble:
          values.push_back(std::bit_cast<double>(bits));
          break;
        case kInt32:
          values.push_back(static_cast<double>(static_cast<std::int32_t>(static_cast<std::uint32_t>(bits))));
          break;
        case kInt64:
          values.push_back(static_cast<double>(as_integer(bits)));
          break;
        default:
          values.push_back(static_cast<double>(bits));
      }
    }
    return values;
  }
};

}  // namespace

Result<ModelText> decode(std::string_view bytes, const std::string& file) { return Decoder(file).decode(bytes); }

std::string without_weights(std::string_view bytes) {
  std::string kept;
  std::size_t from = 0;
  const auto skip = [&](std::string_view payload) {
    if (payload.size() <= kSmallPayload) return;
    const auto at = static_cast<std::size_t>(payload.data() - bytes.data());
    kept.append(bytes.substr(from, at - from));
    from = at + payload.size();
  };
  ProtobufReader model(bytes);
  for (ProtobufField graph; model.next(graph);) {
    if (graph.number != 7) continue;
    ProtobufReader parts(graph.bytes);
    for (ProtobufField tensor; parts.next(tensor);) {
      if (tensor.number != 5) continue;
      ProtobufReader fields(tensor.bytes);
      for (ProtobufField payload; fields.next(payload);)
        if (payload.number >= 4 && payload.number <= 11 && payload.number != 8) skip(payload.bytes);
    }
  }
  kept.append(bytes.substr(from));
  return kept;
}

}  // namespace tbdsim::onnx
