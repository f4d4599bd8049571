// Traces of the PyTorch profiler: Chrome's JSON with the categories and arguments that Kineto gives its events. Read in one pass,
// event by event, as such files have hundreds of megabytes. Source: pytorch/kineto, libkineto/src/output_json.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/support/quote.hpp"
#include "model/trace/owners.hpp"
#include "model/trace/read_trace.hpp"

namespace tbdsim::trace {
namespace {

constexpr int kMicroToNano = 3;
constexpr std::string_view kStepMark = "ProfilerStep", kModuleMark = "nn.Module: ", kOptimizerMark = "Optimizer.";

bool begins(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }
bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// What is read of one event; texts are kept to be used again.
struct Fields {
  std::string name, category, phase, process;
  std::optional<Nanoseconds> start, time;
  std::int64_t pid = 0, tid = 0, correlation = -1, sequence = -1, forward_thread = 0, device = -1, stream = -1, bytes = 0;

  void clear() {
    name.clear();
    category.clear();
    phase.clear();
    process.clear();
    start.reset();
    time.reset();
    pid = tid = forward_thread = bytes = 0;
    correlation = sequence = device = stream = -1;
  }
};

/// What categories mean, as Kineto has written them over the years; the autograd profiler before it wrote none.
enum class Category { other, kernel, copy, fill, op, annotation, python, runtime };
constexpr std::pair<std::string_view, Category> kCategories[] = {{"kernel", Category::kernel},
                                                                 {"Kernel", Category::kernel},
                                                                 {"gpu_memcpy", Category::copy},
                                                                 {"Memcpy", Category::copy},
                                                                 {"gpu_memset", Category::fill},
                                                                 {"Memset", Category::fill},
                                                                 {"cpu_op", Category::op},
                                                                 {"Operator", Category::op},
                                                                 {"user_annotation", Category::annotation},
                                                                 {"python_function", Category::python},
                                                                 {"cuda_runtime", Category::runtime},
                                                                 {"cuda_driver", Category::runtime},
                                                                 {"Runtime", Category::runtime},
                                                                 {"hip_runtime", Category::runtime},
                                                                 {"privateuse1_runtime", Category::runtime}};

Category category_of(const Fields& fields) {
  if (fields.category.empty()) {
    if (holds(fields.process, "CUDA")) return Category::kernel;
    return holds(fields.process, "CPU") ? Category::op : Category::other;
  }
  const auto* const found = std::find_if(std::begin(kCategories), std::end(kCategories),
                                         [&](const auto& known) { return known.first == fields.category; });
  return found == std::end(kCategories) ? Category::other : found->second;
}

/// Events of all kinds as they come, and the trace that they make.
class Collector {
 public:
  Trace trace;
  std::size_t seen = 0;  ///< events, whatever they are
  std::string problem;

  void add(const Fields& fields) {
    ++seen;
    if (fields.phase != "X" || !fields.start || !fields.time) return;
    if (*fields.time < 0) {
      problem = fmt::format("{} has a duration below zero", tbdsim::quoted(fields.name));
      return;
    }
    const Span span{*fields.start, *fields.start + *fields.time};
    constexpr std::uint64_t kThreads = 1'000'003;
    // Any number will do that tells threads apart; process and thread may be any numbers themselves.
    const auto thread =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(fields.pid) * kThreads + static_cast<std::uint64_t>(fields.tid));
    switch (category_of(fields)) {
      case Category::kernel:
        return add_device(fields, span, kernel_activity(fields.name));
      case Category::copy:
        return add_device(fields, span,
                          holds(fields.name, "HtoD")   ? Activity::copy_to_device
                          : holds(fields.name, "DtoH") ? Activity::copy_to_host
                                                       : Activity::copy_on_device);
      case Category::fill:
        return add_device(fields, span, Activity::fill);
      case Category::runtime:
        return add_call(fields, span, thread);
      case Category::op:
      case Category::annotation:
      case Category::python:
        return add_host(fields, span, thread);
      case Category::other:
        break;
    }
  }

  Trace take() {
    if (trace.events.empty()) {
      operators_as_events();
    } else {
      find_owners(spans_, calls_);
      for (std::size_t i = 0; i < trace.events.size(); ++i) {
        const auto found = call_of_.find(correlations_[i]);
        if (correlations_[i] < 0 || found == call_of_.end()) continue;
        const HostCall& call = calls_[found->second];
        trace.events[i].issued = call.span.start;
        trace.events[i].op = call.op;
        trace.events[i].module = call.module;
      }
    }
    return std::move(trace);
  }

 private:
  void add_device(const Fields& fields, Span span, Activity activity) {
    Event event;
    event.start = span.start;
    event.end = span.end;
    event.activity = activity;
    event.device = static_cast<std::int32_t>(fields.device >= 0 ? fields.device : fields.pid);
    event.stream = static_cast<std::int32_t>(fields.stream >= 0 ? fields.stream : fields.tid);
    event.name = names_.number(fields.name);
    event.bytes = fields.bytes;
    trace.events.push_back(event);
    correlations_.push_back(fields.correlation);
  }

  void add_call(const Fields& fields, Span span, std::int64_t thread) {
    const bool blocking = begins(fields.name, "cudaMemcpy") && !holds(fields.name, "Async");
    if (holds(fields.name, "Synchronize") || blocking) trace.waits.push_back(span);
    if (fields.correlation < 0) return;
    call_of_.try_emplace(fields.correlation, calls_.size());
    calls_.push_back({span, thread, -1, -1});
  }

  void add_host(const Fields& fields, Span span, std::int64_t thread) {
    if (begins(fields.name, kStepMark)) {
      trace.marks.push_back(span);
      return;
    }
    const Category category = category_of(fields);
    const bool layer = begins(fields.name, kModuleMark);
    if (category == Category::python && !layer) return;
    HostSpan host{span, thread, 0, false, fields.sequence, fields.forward_thread > 0};
    host.module = layer || (category == Category::annotation && !begins(fields.name, kOptimizerMark));
    host.backward = host.backward || holds(fields.name, "Backward");
    host.name = names_.number(layer ? std::string_view(fields.name).substr(kModuleMark.size()) : std::string_view(fields.name));
    spans_.push_back(host);
  }

  /// Of a trace without a device: the outermost operators of each thread.
  void operators_as_events() {
    trace.on_host = true;
    find_owners(spans_, calls_);  // puts spans in order
    std::vector<HostCall> tops;
    std::vector<std::int32_t> names;
    for (const HostSpan& span : spans_) {
      if (span.module) continue;
      if (!tops.empty() && tops.back().thread == span.thread && span.span.start < tops.back().span.end) continue;
      tops.push_back({span.span, span.thread, -1, -1});
      names.push_back(span.name);
    }
    find_owners(spans_, tops);
    std::vector<std::int64_t> threads;
    for (std::size_t i = 0; i < tops.size(); ++i) {
      if (threads.empty() || threads.back() != tops[i].thread) threads.push_back(tops[i].thread);
      Event event;
      event.start = tops[i].span.start;
      event.end = tops[i].span.end;
      event.stream = static_cast<std::int32_t>(threads.size()) - 1;
      event.name = names[i];
      event.op = names[i];
      event.module = tops[i].module;
      trace.events.push_back(event);
    }
  }

  Names names_{trace.names};
  std::vector<HostSpan> spans_;
  std::vector<HostCall> calls_;
  std::vector<std::int64_t> correlations_;  ///< of each event
  std::unordered_map<std::int64_t, std::size_t> call_of_;
};

/// Follows the parser to the events, wherever they stand.
class Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Reader(Collector& collector) : collector_(collector) {}
  std::string trouble;
  std::size_t trouble_at = 0;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t value) override {
    const auto whole = std::max(value, -static_cast<std::int64_t>(kMostMicroseconds));
    return number(whole, whole * kThousand);
  }
  bool number_unsigned(std::uint64_t value) override {
    const auto whole = static_cast<std::int64_t>(std::min<std::uint64_t>(value, kMostMicroseconds));
    return number(whole, whole * kThousand);
  }
  bool number_float(double, const std::string& text) override {
    const auto nanoseconds = decimal_nanoseconds(text, kMicroToNano);
    return number(nanoseconds.value_or(0) / kThousand, nanoseconds);
  }
  bool string(std::string& value) override {
    if (in_devices_) {
      if (key_ == "name" && collector_.trace.device.empty()) collector_.trace.device = value;
    } else if (depth_ == event_depth_) {
      if (key_ == "name")
        fields_.name.swap(value);
      else if (key_ == "cat")
        fields_.category.swap(value);
      else if (key_ == "ph")
        fields_.phase.swap(value);
      else if (key_ == "pid")
        fields_.process.swap(value);
    }
    return true;
  }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(true); }
  bool start_array(std::size_t) override { return open(false); }
  bool end_object() override {
    if (depth_ == event_depth_ && in_event_) {
      collector_.add(fields_);
      if (!collector_.problem.empty()) {
        trouble = collector_.problem;
        return false;
      }
    }
    return close();
  }
  bool end_array() override { return close(); }
  bool key(std::string& value) override {
    key_.swap(value);
    if (depth_ == 1) {
      in_events_ = key_ == "traceEvents";
      in_devices_ = key_ == "deviceProperties";
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) override {
    // What was read last may be any bytes.
    const std::string_view what = std::string_view(error.what()).substr(0, std::string_view(error.what()).find("; last read"));
    const std::size_t at = what.find(": ");
    trouble = fmt::format("not valid JSON: {}", at == std::string_view::npos ? what : what.substr(at + 2));
    trouble_at = position > 0 ? position - 1 : 0;
    return false;
  }

 private:
  static constexpr std::int64_t kThousand = 1000;
  static constexpr std::uint64_t kMostMicroseconds = std::uint64_t{1} << 51;  // 71 years
  static constexpr int kMostDepth = 64;

  bool open(bool object) {
    ++depth_;
    if (depth_ > kMostDepth) {
      trouble = fmt::format("more than {} brackets open", kMostDepth);
      return false;
    }
    if (depth_ == 1) event_depth_ = object ? 3 : 2;  // {"traceEvents": [{ or [{
    if (depth_ == 1 && !object) in_events_ = true;
    if (depth_ == event_depth_) {
      if (object && in_events_) fields_.clear();
      in_event_ = object && in_events_;
    }
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }
  bool number(std::int64_t value, std::optional<Nanoseconds> nanoseconds) {
    if (!in_event_) return true;
    if (depth_ == event_depth_) {
      if (key_ == "ts")
        fields_.start = nanoseconds;
      else if (key_ == "dur")
        fields_.time = nanoseconds;
      else if (key_ == "pid")
        fields_.pid = value;
      else if (key_ == "tid")
        fields_.tid = value;
    } else if (depth_ == event_depth_ + 1) {
      if (key_ == "correlation")
        fields_.correlation = value;
      else if (key_ == "stream")
        fields_.stream = value;
      else if (key_ == "device")
        fields_.device = value;
      else if (key_ == "bytes")
        fields_.bytes = value;
      else if (key_ == "Sequence number")
        fields_.sequence = value;
      else if (key_ == "Fwd thread id")
        fields_.forward_thread = value;
    }
    return true;
  }

  Collector& collector_;
  Fields fields_;
  std::string key_;
  int depth_ = 0, event_depth_ = 3;
  bool in_events_ = false, in_devices_ = false, in_event_ = false;
};

Error placed(std::string_view text, const std::string& name, std::size_t at, std::string message) {
  const std::string_view before = text.substr(0, at);
  const std::size_t newline = before.rfind('\n');
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  return Error{std::move(message), SourceRef{name, line, static_cast<int>(std::min(at, text.size()) - begin) + 1}};
}

}  // namespace

Result<Trace> parse_kineto(std::string_view text, const std::string& name) {
  Collector collector;
  collector.trace.tool = "PyTorch profiler";
  Reader reader(collector);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &reader))
    return tl::make_unexpected(Errors{reader.trouble_at > 0 ? placed(text, name, reader.trouble_at, reader.trouble)
                                                            : Error{reader.trouble, SourceRef{name, 0, 0}}});
  if (collector.seen == 0)
    return tl::make_unexpected(
        Errors{Error{"no trace event: expected \"traceEvents\" or a list of events", SourceRef{name, 0, 0}}});
  const std::size_t seen = collector.seen;
  Trace trace = collector.take();
  if (trace.events.empty())
    return tl::make_unexpected(Errors{
        Error{fmt::format("{} events, none of them a kernel, copy or operator as PyTorch's profiler writes them: the trace of "
                          "another tool?",
                          seen),
              SourceRef{name, 0, 0}}});
  return finished(std::move(trace), name);
}

}  // namespace tbdsim::trace
