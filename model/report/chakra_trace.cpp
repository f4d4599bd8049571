#include "model/report/chakra_trace.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace tbdsim {
namespace {

/// Fields of a message in the wire format of protocol buffers.
class Message {
 public:
  Message& number(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3);
    varint(value);
    return *this;
  }
  Message& text(std::uint32_t field, std::string_view value) {
    varint(std::uint64_t{field} << 3 | 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  /// As a file holds it: after its length.
  [[nodiscard]] std::string with_length() const {
    Message length;
    length.varint(bytes_.size());
    return length.bytes_ + bytes_;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    constexpr std::uint64_t kMore = 0x80;
    for (; value >= kMore; value >>= 7) bytes_ += static_cast<char>((value & (kMore - 1)) | kMore);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

// Numbers of the schema: fields of a node and of an attribute, kinds of nodes, all-reduce among collectives.
enum Field : std::uint32_t { kId = 1, kName, kType, kControl, kData, kStart, kDuration, kAttribute = 10 };
enum AttributeField : std::uint32_t { kAttributeName = 1, kSigned = 9, kUnsigned = 13, kTruth = 27, kText = 30 };
constexpr std::uint64_t kCompute = 4, kCollective = 7, kAllReduce = 0;

std::string attribute(std::string_view name, AttributeField field, std::uint64_t value) {
  return Message().text(kAttributeName, name).number(field, value).bytes();
}

std::uint64_t micros(Seconds time) { return static_cast<std::uint64_t>(std::llround(std::max(0.0, 1e6 * time.base()))); }
std::uint64_t whole(double value) { return static_cast<std::uint64_t>(std::llround(std::clamp(value, 0.0, 1e18))); }

/// A kernel or an exchange.
struct Node {
  Seconds start, end;
  const KernelTime* kernel = nullptr;  ///< absent: an exchange
  std::size_t number = 0;              ///< of the exchange
};

std::vector<Node> nodes_of(const Prediction& prediction) {
  std::vector<Node> nodes;
  for (const KernelTime& kernel : prediction.detail.kernels)
    nodes.push_back({kernel.start, kernel.start + kernel.time, &kernel, 0});
  for (std::size_t i = 0; i < prediction.detail.exchanges.size(); ++i) {
    const ExchangeTime& exchange = prediction.detail.exchanges[i];
    nodes.push_back({exchange.start, exchange.start + exchange.time, nullptr, i});
  }
  std::stable_sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) { return a.start < b.start; });
  return nodes;
}

/// The last node before `i` of one sort that had ended when `i` began.
std::optional<std::size_t> ended_before(const std::vector<Node>& nodes, std::size_t i, bool exchange) {
  const Seconds rounding(1e-9);
  for (std::size_t k = i; k-- > 0;)
    if ((nodes[k].kernel == nullptr) == exchange && nodes[k].end <= nodes[i].start + rounding) return k;
  return std::nullopt;
}

}  // namespace

bool names_chakra(const std::string& path) { return path.size() > 3 && path.substr(path.size() - 3) == ".et"; }

std::string chakra_trace(const Prediction& prediction) {
  std::string all =
      Message().text(1, "0.0.4").text(2, Message().text(kAttributeName, "writer").text(kText, kChakraMark).bytes()).with_length();
  const std::vector<Node> nodes = nodes_of(prediction);
  const double size = prediction.detail.exchanges.empty()
                          ? 0.0
                          : prediction.exchanged.bytes.base() / static_cast<double>(prediction.detail.exchanges.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    const bool exchange = node.kernel == nullptr;
    Message message;
    message.number(kId, i + 1);
    message.text(kName, exchange ? "all-reduce " + std::to_string(node.number) : node.kernel->layer + " " + node.kernel->name);
    message.number(kType, exchange ? kCollective : kCompute);
    const bool update = !exchange && node.kernel->pass == Pass::update;
    for (const bool of_exchanges : {false, true}) {
      if (of_exchanges && !exchange && !update) continue;
      if (const auto before = ended_before(nodes, i, of_exchanges)) message.number(kData, *before + 1);
    }
    message.number(kStart, micros(node.start)).number(kDuration, micros(node.end) - micros(node.start));
    message.text(kAttribute, attribute("is_cpu_op", kTruth, 0));
    if (exchange) {
      message.text(kAttribute, attribute("comm_type", kSigned, kAllReduce));
      message.text(kAttribute, attribute("comm_size", kSigned, whole(size)));
    } else {
      message.text(kAttribute, attribute("num_ops", kSigned, whole(node.kernel->flop.base())));
      message.text(kAttribute, attribute("tensor_size", kUnsigned, whole(node.kernel->bytes.base())));
    }
    all += message.with_length();
  }
  return all;
}

}  // namespace tbdsim
