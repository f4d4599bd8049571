#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/support/result.hpp"

namespace tbdsim::onnx {

// What an ONNX file says, without its weights. Every string is a view into the bytes that were decoded.

/// Dimensions of a tensor; PyTorch takes 64 at most, what networks use is single digits.
inline constexpr std::size_t kMostRank = 64;

/// Types of elements, as ONNX numbers them (onnx.proto, TensorProto.DataType).
enum ElementType : int { kUndefined = 0, kFloat = 1, kInt32 = 6, kInt64 = 7, kString = 8, kBool = 9, kDouble = 11 };

/// A constant or an initial value. `values` are there for small tensors of numbers only; weights are passed over.
struct TensorText {
  std::string_view name;
  int type = kUndefined;
  std::vector<std::int64_t> dims;
  std::optional<std::vector<double>> values;
  bool outside = false;  ///< they lie in another file
};

/// What an attribute says it holds, as ONNX numbers it (AttributeProto.AttributeType); 0 in files before IR version 2.
enum AttributeType : int { kOneReal = 1, kOneInteger = 2, kIntegers = 7 };

struct AttributeText {
  std::string_view name;
  int type = 0;
  double real = 0.0;
  std::int64_t integer = 0;
  std::string_view text;
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
  std::optional<TensorText> tensor;
  bool holds_graph = false;  ///< a body of control flow
};

struct NodeText {
  std::string_view name, type, domain;
  std::vector<std::string_view> inputs, outputs;  ///< an empty name stands for an optional one left out
  std::vector<AttributeText> attributes;
};

/// A dimension: a number, a symbol ("N"), or unknown.
struct DimensionText {
  std::optional<std::int64_t> extent;
  std::string_view symbol;
};

struct ValueText {
  std::string_view name;
  int type = kUndefined;
  std::optional<std::vector<DimensionText>> dims;
};

struct ModelText {
  std::int64_t opset = 1;  ///< of the default domain
  std::string_view producer, producer_version;
  std::vector<std::pair<std::string_view, std::string_view>> metadata;
  std::vector<NodeText> nodes;
  std::vector<TensorText> initializers;
  std::vector<ValueText> inputs, outputs, known;  ///< known: shapes that the exporter noted of inner values
};

/// Decodes a file of the ONNX format (onnx.proto, any IR version). Weights, inside the file or beside it, are neither
/// read nor copied; a constant keeps its values up to 4,096 elements.
/// Errors: not ONNX or cut short, no graph or two, more than 100,000 nodes or 1,000,000 parts, a tensor whose values and
/// shape disagree. Memory is bounded by the number of parts.
[[nodiscard]] Result<ModelText> decode(std::string_view bytes, const std::string& file);

/// The bytes without the weights inside: what a digest of the file is taken over, so that weights need not be read.
/// Equal to `bytes` where no tensor holds more than 4,096 B.
[[nodiscard]] std::string without_weights(std::string_view bytes);

}  // namespace tbdsim::onnx
