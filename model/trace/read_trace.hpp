#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "model/support/result.hpp"
#include "model/trace/trace.hpp"

namespace tbdsim::trace {

/// Traces that can be read.
enum class TraceFormat { kineto, nsight, nvprof, chakra, chakra_json };

/// By what the bytes begin with and hold: an SQLite database, an object or a list of trace events, nvprof's CSV, nodes of Chakra.
/// Nothing: none of them. gzip is looked through by `read_trace` alone.
[[nodiscard]] std::optional<TraceFormat> trace_format(std::string_view bytes);

/// A trace of the PyTorch profiler (Kineto's or Chrome's JSON, also packed with gzip), Nsight Systems (`nsys export --type
/// sqlite`), nvprof (`--print-gpu-trace --csv`) or Chakra (.et, or the JSON that its linker writes). Errors: no file, larger than
/// 2 GiB, another tool's, cut short (with the place), times that run backwards, dependencies in a circle, nothing recorded.
[[nodiscard]] Result<Trace> read_trace(const std::string& path);

/// The same from memory, for all but Nsight Systems. `name` is what messages call the file.
[[nodiscard]] Result<Trace> parse_trace(std::string_view bytes, const std::string& name, TraceFormat format);

/// The readers, one file each.
[[nodiscard]] Result<Trace> parse_kineto(std::string_view text, const std::string& name);
[[nodiscard]] Result<Trace> parse_nvprof(std::string_view text, const std::string& name);
[[nodiscard]] Result<Trace> parse_chakra(std::string_view bytes, const std::string& name);
[[nodiscard]] Result<Trace> parse_chakra_json(std::string_view text, const std::string& name);
[[nodiscard]] Result<Trace> read_nsight(const std::string& path);

/// Puts events in order and checks what all readers promise. Errors: an event that ends before it starts, no event.
[[nodiscard]] Result<Trace> finished(Trace trace, const std::string& name);

/// What a kernel that a collective library calls so is: an exchange, else a kernel.
[[nodiscard]] Activity kernel_activity(std::string_view name);

}  // namespace tbdsim::trace
