#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/decode/sample_table.hpp"

namespace tbdsim::calibrate {

/// Tables of other tools that tell times of kernels or collectives.
enum class ForeignFormat {
  products,          ///< CSV with columns m, n, k and a time
  nccl_tests,        ///< what all_reduce_perf and its like print
  nsight_systems,    ///< `nsys stats --report cuda_gpu_kern_sum --format csv`
  pytorch_profiler,  ///< `key_averages().table()`
};
[[nodiscard]] std::string_view name(ForeignFormat format);
/// By the header of the table; nothing where no line is one.
[[nodiscard]] std::optional<ForeignFormat> format_of(std::string_view text);

/// What a table does not tell of its rows, from the user; empty: unknown.
struct ForeignDefaults {
  std::string device, precision, library, op;
  bool transposed = false;   ///< products: the second operand lies as a linear layer's weights do, n rows of k
  bool call_timing = false;  ///< times hold the launch from the host
};

/// Columns m, n, k; the time in one of ms, time_ms, us, time_us, s, time_s (two of them are refused); b or batch, ta, tb,
/// precision or dtype, device, library where there are. Errors, all at once: a missing shape or time, a value out of range, an
/// unknown column, two units, an unsupported precision.
[[nodiscard]] Result<std::vector<Sample>> import_products(std::string text, const std::string& file,
                                                          const ForeignDefaults& defaults);

/// One sample a size, out of place; several outputs one after another are as many runs. Ranks, nodes, boards' hosts and the
/// release are read from the comment lines, the operation from the program's name where it is printed. Errors, all at once: no
/// operation or another than `defaults.op`, no ranks, no row of sizes; a size, type or time that is none, wrong results.
[[nodiscard]] Result<std::vector<Sample>> import_nccl_tests(std::string_view text, const std::string& file,
                                                            const ForeignDefaults& defaults);

/// One kernel of a summary, all its launches together.
struct SummarizedKernel {
  std::string name;
  std::string_view kind;  ///< products, attention, memory, exchange, copies: by its name
  std::int64_t launches = 0;
  Seconds total;
};
struct KernelSummary {
  std::vector<SummarizedKernel> kernels;
  std::vector<std::string> notes;  ///< kernels that the table leaves out, by its own total
};
/// Ranges that a profiler marks beside kernels are left out. Errors: a missing column, a time or count that is none, no kernel,
/// kernels that take longer than the table's own total.
[[nodiscard]] Result<KernelSummary> import_kernel_summary(const std::string& text, const std::string& file, ForeignFormat format);
/// What a kernel does, by what libraries call it.
[[nodiscard]] std::string_view kernel_kind(std::string_view name);

}  // namespace tbdsim::calibrate
