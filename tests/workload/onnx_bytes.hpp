#pragma once
// Writes files of the ONNX format, byte by byte, for tests: what they hold is read in the test, not in a binary.
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tbdsim::onnx_bytes {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>((value & 0x7FU) | 0x80U);
  return bytes + static_cast<char>(value);
}
inline std::string number(std::uint64_t field, std::int64_t value) {
  return varint(field << 3U) + varint(static_cast<std::uint64_t>(value));
}
inline std::string text(std::uint64_t field, const std::string& value) {
  return varint((field << 3U) | 2U) + varint(value.size()) + value;
}
inline std::string real(std::uint64_t field, float value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return varint((field << 3U) | 5U) + bytes;
}

using Dimension = std::variant<int, const char*>;
using Dimensions = std::vector<Dimension>;
constexpr int kReal = 1, kInteger = 7;

inline std::string value(const std::string& name, const Dimensions& dims, int type = kReal) {
  std::string shape;
  for (const Dimension& d : dims) {
    const int* extent = std::get_if<int>(&d);
    shape += text(1, extent != nullptr ? number(1, *extent) : text(2, std::get<const char*>(d)));
  }
  return text(1, name) + text(2, text(1, number(1, type) + text(2, shape)));
}

/// A tensor of integers with one dimension; a scalar when `scalar`.
inline std::string integers(const std::string& name, const std::vector<std::int64_t>& values, bool scalar = false) {
  std::string raw(values.size() * sizeof(std::int64_t), '\0');
  if (!values.empty()) std::memcpy(raw.data(), values.data(), raw.size());
  return (scalar ? "" : number(1, static_cast<std::int64_t>(values.size()))) + number(2, kInteger) + text(8, name) + text(9, raw);
}
inline std::string scalar(const std::string& name, float value) { return number(2, kReal) + real(4, value) + text(8, name); }

inline std::string list(const std::string& name, const std::vector<std::int64_t>& values) {
  std::string bytes = text(1, name);
  for (const std::int64_t v : values) bytes += number(8, v);
  return bytes + number(20, 7);
}
inline std::string single(const std::string& name, std::int64_t value) {
  return text(1, name) + number(3, value) + number(20, 2);
}
inline std::string word(const std::string& name, const std::string& value) {
  return text(1, name) + text(4, value) + number(20, 3);
}

/// A graph under construction. Names of values are free; an empty input name leaves an optional input out.
struct File {
  std::string graph;
  int opset = 14;
  std::string producer = "test", version = "1";
  std::string rest;  ///< further fields of the model

  File& input(const std::string& name, const Dimensions& dims, int type = kReal) { return field(11, value(name, dims, type)); }
  File& output(const std::string& name) { return field(12, text(1, name)); }
  File& weight(const std::string& name, const std::vector<int>& dims) {
    std::string tensor;
    for (const int d : dims) tensor += number(1, d);
    return field(5, tensor + number(2, kReal) + text(8, name));
  }
  File& constant(const std::string& tensor) { return field(5, tensor); }
  File& node(const std::string& type, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
             const std::vector<std::string>& attributes = {}, const std::string& name = {}) {
    std::string node;
    for (const std::string& i : inputs) node += text(1, i);
    for (const std::string& o : outputs) node += text(2, o);
    node += text(3, name.empty() ? "/" + outputs.front() : name) + text(4, type);
    for (const std::string& a : attributes) node += text(5, a);
    return field(1, node);
  }
  [[nodiscard]] std::string bytes() const {
    return number(1, 7) + text(2, producer) + text(3, version) + text(7, graph) + text(8, text(1, "") + number(2, opset)) + rest;
  }

 private:
  File& field(std::uint64_t number, const std::string& message) {
    graph += text(number, message);
    return *this;
  }
};

}  // namespace tbdsim::onnx_bytes
