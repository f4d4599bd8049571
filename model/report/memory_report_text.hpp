#pragma once
#include <string>

#include "model/analysis/memory_report.hpp"

namespace tbdsim {

/// How a memory report is broken down.
enum class MemoryView { structure, layer, time };

[[nodiscard]] std::string memory_table(const MemoryReport& report, MemoryView view);
/// One row per part and GPU, per layer, or per moment.
[[nodiscard]] std::string memory_csv(const MemoryReport& report, MemoryView view);
/// "feature maps"
[[nodiscard]] std::string part_label(MemoryPart part);

}  // namespace tbdsim
