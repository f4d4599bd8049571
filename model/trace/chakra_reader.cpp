// Chakra execution traces: the protobuf form, and the JSON that its linker writes of a host and a device trace.
// Source: mlcommons/chakra, schema/protobuf/et_def.proto.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/input/protobuf_reader.hpp"
#include "model/support/quote.hpp"
#include "model/trace/read_trace.hpp"

namespace tbdsim::trace {
namespace {

constexpr Nanoseconds kMicrosecond = 1000;
/// Longer than any run: 31 years.
constexpr std::uint64_t kMostMicroseconds = std::uint64_t{1'000'000'000} * 1'000'000;

enum class NodeType : std::uint64_t { invalid, metadata, load, store, compute, send, receive, collective };

struct Node {
  std::uint64_t id = 0;
  std::string_view name;
  NodeType type = NodeType::invalid;
  std::vector<std::uint64_t> after;
  std::uint64_t start = 0, duration = 0;  ///< microseconds; start 0: not told
};

Activity activity_of(NodeType type) {
  switch (type) {
    case NodeType::load:
      return Activity::copy_to_device;
    case NodeType::store:
      return Activity::copy_to_host;
    case NodeType::send:
    case NodeType::receive:
    case NodeType::collective:
      return Activity::exchange;
    default:
      return Activity::kernel;
  }
}

/// Numbers of a field that may come packed or one by one.
void add_numbers(const ProtobufField& field, std::vector<std::uint64_t>& numbers) {
  if (field.kind == ProtobufField::Kind::varint) numbers.push_back(field.value);
  if (field.kind != ProtobufField::Kind::bytes) return;
  ProtobufReader packed(field.bytes);
  for (std::uint64_t value = 0; packed.next_varint(value);) numbers.push_back(value);
}

bool read_node(std::string_view message, Node& node) {
  ProtobufReader reader(message);
  for (ProtobufField field; reader.next(field);) {
    switch (field.number) {
      case 1:
        node.id = field.value;
        break;
      case 2:
        node.name = field.bytes;
        break;
      case 3:
        node.type = static_cast<NodeType>(field.value);
        break;
      case 4:
      case 5:
        add_numbers(field, node.after);
        break;
      case 6:
        node.start = field.value;
        break;
      case 7:
        node.duration = field.value;
        break;
      default:
        break;
    }
  }
  return !reader.broken();
}

tl::unexpected<Errors> refuse(const std::string& name, std::string why) {
  return tl::make_unexpected(Errors{Error{std::move(why), SourceRef{name, 0, 0}}});
}

/// Indices of nodes such that each comes after those that it depends on; fewer than there are: a circle.
std::vector<std::size_t> ordered(const std::vector<Node>& nodes, const std::vector<std::vector<std::size_t>>& before) {
  std::vector<std::size_t> open(nodes.size()), ready, order;
  std::vector<std::vector<std::size_t>> next(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    open[i] = before[i].size();
    for (const std::size_t b : before[i]) next[b].push_back(i);
    if (open[i] == 0) ready.push_back(i);
  }
  // First in, first out, so that equal nodes keep the file's order.
  for (std::size_t at = 0; at < ready.size(); ++at) {
    order.push_back(ready[at]);
    for (const std::size_t n : next[ready[at]])
      if (--open[n] == 0) ready.push_back(n);
  }
  return order;
}

/// Lays nodes out in time. Those without a start begin as soon as what they depend on has ended and their stream, one for
/// computation and one for all else, is free.
Result<Trace> laid_out(const std::vector<Node>& nodes, const std::string& name) {
  std::unordered_map<std::uint64_t, std::size_t> place;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (!place.try_emplace(nodes[i].id, i).second) return refuse(name, fmt::format("two nodes have the id {}", nodes[i].id));
  std::vector<std::vector<std::size_t>> before(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const std::uint64_t id : nodes[i].after)
      if (const auto found = place.find(id); found != place.end()) before[i].push_back(found->second);
  const std::vector<std::size_t> order = ordered(nodes, before);
  if (order.size() < nodes.size()) {
    std::vector<bool> placed(nodes.size());
    for (const std::size_t i : order) placed[i] = true;
    const auto in_circle = static_cast<std::size_t>(std::find(placed.begin(), placed.end(), false) - placed.begin());
    return refuse(name, fmt::format("node {} ({}) depends on itself, over {} nodes at most", nodes[in_circle].id,
                                    tbdsim::quoted(nodes[in_circle].name), nodes.size() - order.size()));
  }
  Trace trace;
  trace.tool = "Chakra";
  trace.one_step = true;
  Names names(trace.names);
  std::vector<Nanoseconds> end(nodes.size());
  Nanoseconds free[2] = {0, 0};
  for (const std::size_t i : order) {
    const Node& node = nodes[i];
    if (node.start > kMostMicroseconds || node.duration > kMostMicroseconds)
      return refuse(
          name, fmt::format("node {} ({}): a time of more than {} us", node.id, tbdsim::quoted(node.name), kMostMicroseconds));
    const Activity activity = activity_of(node.type);
    const int stream = activity == Activity::kernel ? 0 : 1;
    Nanoseconds start = static_cast<Nanoseconds>(node.start) * kMicrosecond;
    if (node.start == 0) {
      for (const std::size_t b : before[i]) start = std::max(start, end[b]);
      if (node.duration > 0) start = std::max(start, free[stream]);
    }
    end[i] = start + static_cast<Nanoseconds>(node.duration) * kMicrosecond;
    if (end[i] > static_cast<Nanoseconds>(kMostMicroseconds) * kMicrosecond)
      return refuse(name, "all nodes together take longer than any run");
    if (node.duration == 0 || node.type == NodeType::invalid || node.type == NodeType::metadata) continue;
    free[stream] = end[i];
    Event event;
    event.start = start;
    event.end = end[i];
    event.activity = activity == Activity::kernel ? kernel_activity(node.name) : activity;
    event.stream = stream;
    event.name = names.number(node.name);
    trace.events.push_back(event);
  }
  return finished(std::move(trace), name);
}

}  // namespace

Result<Trace> parse_chakra(std::string_view bytes, const std::string& name) {
  std::vector<Node> nodes;
  bool first = true;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint64_t size = 0;
    int shift = 0;
    std::size_t begin = at;
    for (bool more = true; more; ++begin, shift += 7) {
      if (begin >= bytes.size() || shift > 56) return refuse(name, fmt::format("cut short or damaged at byte {}", at));
      const auto byte = static_cast<unsigned char>(bytes[begin]);
      size |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      more = (byte & 0x80) != 0;
    }
    if (size > bytes.size() - begin)
      return refuse(name,
                    fmt::format("cut short: the message at byte {} has {} bytes, {} are there", at, size, bytes.size() - begin));
    // The first message tells the version.
    Node node;
    if (!first && !read_node(bytes.substr(begin, size), node))
      return refuse(name, fmt::format("the message at byte {} is damaged", at));
    if (!first) nodes.push_back(std::move(node));
    first = false;
    at = begin + size;
  }
  return laid_out(nodes, name);
}

Result<Trace> parse_chakra_json(std::string_view text, const std::string& name) {
  constexpr int kMostDepth = 64;
  const auto depth = [](int level, nlohmann::json::parse_event_t, nlohmann::json&) { return level < kMostDepth; };
  const nlohmann::json root = nlohmann::json::parse(text.begin(), text.end(), depth, false);
  if (root.is_discarded()) return refuse(name, "not valid JSON, or cut short");
  const auto listed = root.find("nodes");
  if (listed == root.end() || !listed->is_array()) return refuse(name, "nodes: expected a list");
  Trace trace;
  trace.tool = "Chakra";
  trace.one_step = true;
  Names names(trace.names);
  const auto number = [](const nlohmann::json& node, const char* key) -> std::optional<double> {
    const auto found = node.find(key);
    return found != node.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
  };
  for (const nlohmann::json& node : *listed) {
    if (!node.is_object()) return refuse(name, "nodes: expected objects");
    const auto start = number(node, "ts"), time = number(node, "dur"), stream = number(node, "stream");
    const auto category = node.find("cat"), called = node.find("name");
    if (!start || !time || category == node.end() || !category->is_string() || called == node.end() || !called->is_string())
      continue;
    const auto& kind = category->get_ref<const std::string&>();
    const bool copies = kind == "gpu_memcpy", fills = kind == "gpu_memset";
    if (kind != "kernel" && !copies && !fills) continue;
    constexpr double kMost = 9e15;  // microseconds that a double holds whole
    if (!(*start >= 0.0 && *time >= 0.0 && *start < kMost && *time < kMost))
      return refuse(name, fmt::format("{}: a time out of range", tbdsim::quoted(called->get<std::string>())));
    Event event;
    event.start = static_cast<Nanoseconds>(std::llround(*start * 1e3));
    event.end = event.start + static_cast<Nanoseconds>(std::llround(*time * 1e3));
    event.stream = stream && *stream >= 0 && *stream < 1e6 ? static_cast<std::int32_t>(*stream) : 0;
    const auto& text_of = called->get_ref<const std::string&>();
    event.activity = fills ? Activity::fill : copies ? Activity::copy_to_device : kernel_activity(text_of);
    event.name = names.number(text_of);
    trace.events.push_back(event);
  }
  return finished(std::move(trace), name);
}

}  // namespace tbdsim::trace
