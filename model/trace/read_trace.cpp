#include "model/trace/read_trace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/input/file_text.hpp"
#include "model/support/quote.hpp"
#include "model/trace/gzip.hpp"

namespace tbdsim::trace {
namespace {

constexpr std::size_t kMostMebibytes = 2048;
/// How far the word that tells a format may be from the beginning.
constexpr std::size_t kBeginning = 1 << 16;

/// Sums of what lies within these bounds stay within 64 bits: 120 years on whatever clock, three years of work.
constexpr Nanoseconds kMostTime = 4'000'000'000'000'000'000, kLongest = 100'000'000'000'000'000;

std::string shown(const Trace& trace, const Event& event) { return tbdsim::quoted(trace.name_of(event)); }

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

tl::unexpected<Errors> refuse(const std::string& name, std::string why) {
  return tl::make_unexpected(Errors{Error{std::move(why), SourceRef{name, 0, 0}}});
}

}  // namespace

std::optional<TraceFormat> trace_format(std::string_view bytes) {
  if (bytes.substr(0, 15) == "SQLite format 3") return TraceFormat::nsight;
  const std::string_view beginning = bytes.substr(0, kBeginning);
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return std::nullopt;
  if (beginning[first] == '{' || beginning[first] == '[') {
    if (holds(beginning, "\"traceEvents\"") || holds(beginning, "\"ph\"")) return TraceFormat::kineto;
    if (holds(beginning, "\"nodes\"") && holds(beginning, "\"ctrl_deps\"")) return TraceFormat::chakra_json;
    // A long list of properties may stand before the events.
    if (holds(bytes, "\"traceEvents\"")) return TraceFormat::kineto;
    return std::nullopt;
  }
  if (holds(beginning, "\"Start\",\"Duration\"") || holds(beginning, "Start,Duration,Grid")) return TraceFormat::nvprof;
  // Chakra: the length of a message, then the tag of its version, a short text.
  if (bytes.size() > 4 && static_cast<unsigned char>(bytes[0]) < 0x80 && bytes[1] == '\x0a' &&
      static_cast<unsigned char>(bytes[2]) <= 16)
    return TraceFormat::chakra;
  return std::nullopt;
}

Activity kernel_activity(std::string_view name) {
  for (const std::string_view word : {"nccl", "rccl", "AllReduce", "allreduce", "all_reduce", "deep_ep"})
    if (holds(name, word)) return Activity::exchange;
  return Activity::kernel;
}

Result<Trace> finished(Trace trace, const std::string& name) {
  if (trace.events.empty())
    return refuse(name, fmt::format("a trace of {} without a kernel, copy or operator: was the device profiled?", trace.tool));
  const auto far = [](Nanoseconds time) { return time < -kMostTime || time > kMostTime; };
  Nanoseconds all = 0, earliest = kMostTime, latest = -kMostTime;
  for (const Event& event : trace.events) {
    if (far(event.start) || far(event.end)) return refuse(name, fmt::format("{}: a time out of range", shown(trace, event)));
    if (event.end < event.start)
      return refuse(name, fmt::format("{} ends {} ns before it starts", shown(trace, event), event.start - event.end));
    earliest = std::min(earliest, event.start);
    latest = std::max(latest, event.end);
    all = std::min(kLongest + 1, all + std::min(kLongest, event.time()));
  }
  if (latest - earliest > kLongest || all > kLongest)
    return refuse(name, "events that take, or lie apart, more than three years");
  // What hosts noted on another clock says nothing of these events.
  const auto other = [&](Nanoseconds time) { return time < earliest - kLongest || time > latest + kLongest; };
  const auto elsewhere = [&](const Span& span) { return other(span.start) || other(span.end) || span.end < span.start; };
  for (Event& event : trace.events)
    if (event.issued && other(*event.issued)) event.issued.reset();
  trace.waits.erase(std::remove_if(trace.waits.begin(), trace.waits.end(), elsewhere), trace.waits.end());
  trace.marks.erase(std::remove_if(trace.marks.begin(), trace.marks.end(), elsewhere), trace.marks.end());
  std::stable_sort(trace.events.begin(), trace.events.end(), [](const Event& a, const Event& b) { return a.start < b.start; });
  std::sort(trace.waits.begin(), trace.waits.end(), [](const Span& a, const Span& b) { return a.end < b.end; });
  std::sort(trace.marks.begin(), trace.marks.end(), [](const Span& a, const Span& b) { return a.start < b.start; });
  return trace;
}

Result<Trace> parse_trace(std::string_view bytes, const std::string& name, TraceFormat format) {
  switch (format) {
    case TraceFormat::kineto:
      return parse_kineto(bytes, name);
    case TraceFormat::nvprof:
      return parse_nvprof(bytes, name);
    case TraceFormat::chakra:
      return parse_chakra(bytes, name);
    case TraceFormat::chakra_json:
      return parse_chakra_json(bytes, name);
    case TraceFormat::nsight:
      break;
  }
  return refuse(name, "a database is read from its file");
}

Result<Trace> read_trace(const std::string& path) {
  auto bytes = read_file(path, kMostMebibytes);
  if (!bytes) return tl::make_unexpected(bytes.error());
  if (is_gzip(*bytes)) {
    bytes = unpack_gzip(*bytes, path, kMostMebibytes << 20);
    if (!bytes) return tl::make_unexpected(bytes.error());
  }
  const auto format = trace_format(*bytes);
  if (!format)
    return refuse(
        path,
        "no trace that can be read: expected JSON of the PyTorch profiler (also .gz), an SQLite export of Nsight Systems, "
        "the CSV of `nvprof --print-gpu-trace --csv`, or a Chakra execution trace");
  if (*format == TraceFormat::nsight) return read_nsight(path);
  return parse_trace(*bytes, path, *format);
}

}  // namespace tbdsim::trace
