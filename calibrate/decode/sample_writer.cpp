#include "calibrate/decode/sample_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace tbdsim::calibrate {
namespace {

constexpr double kMega = 1e6;

/// Quoted where RFC 4180 asks for it.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + '"';
}

template <class Q>
std::string amount(const std::optional<Q>& value, double unit) {
  return value ? fmt::format("{:.9g}", value->base() / unit) : std::string();
}

}  // namespace

std::string shape_text(const Sample& sample) {
  const SampleFamily* const family = find_family(sample.family);
  assert(family != nullptr);
  std::string text;
  for (const ShapeKey& key : family->keys) {
    const auto* const own = std::find_if(sample.shape.data(), sample.shape.data() + sample.shape.size(),
                                         [&](const auto& s) { return s.first == key.name; });
    const bool written = own != sample.shape.data() + sample.shape.size();
    if (key.absent && (!written || own->second == *key.absent)) continue;
    if (!text.empty()) text += ';';
    text += key.kind == KeyKind::text ? fmt::format("{}={}", key.name, sample.kind)
                                      : fmt::format("{}={}", key.name, static_cast<std::int64_t>(sample.at(key.name)));
  }
  return text;
}

std::string sample_header() { return fmt::format("{}\n", fmt::join(sample_columns(), ",")); }

std::string sample_row(const Sample& s) {
  const std::string cells[] = {s.device,
                               s.family,
                               s.op,
                               s.precision,
                               s.pass,
                               shape_text(s),
                               fmt::format("{:.9g}", s.time.base()),
                               amount(s.spread, 1.0),
                               s.call_timing ? "call" : "kernel",
                               s.algorithm,
                               s.layout,
                               amount(s.clock, kMega),
                               amount(s.memory_clock, kMega),
                               amount(s.power, 1.0),
                               s.driver,
                               s.library,
                               s.date,
                               s.flags,
                               s.source};
  std::string row;
  for (const std::string& cell : cells) {
    if (!row.empty()) row += ',';
    row += field(cell);
  }
  return row + '\n';
}

}  // namespace tbdsim::calibrate
