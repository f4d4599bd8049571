#pragma once
#include <string>

#include "model/prediction/memory_report.hpp"

namespace tbdsim {

/// How a memory report is broken down.
enum class MemoryView { structure, layer, type, time };

[[nodiscard]] std::string memory_table(const MemoryReport& report, MemoryView view);
/// One row per part and GPU, per layer, per type of layer, or per moment.
[[nodiscard]] std::string memory_csv(const MemoryReport& report, MemoryView view);
/// A header and one row: the answer of --max-batch, in the words of the JSON.
[[nodiscard]] std::string largest_batch_csv(const LargestBatch& largest);
/// Of GPUs of which there is at least one: the one with the highest peak.
[[nodiscard]] const GpuMemory& fullest(const MemoryVerdict& memory);
/// A board's memory as vendors print it: "24 GB" for 24 GiB, "288 GB" where it is no whole number of GiB.
[[nodiscard]] std::string sold_memory(Bytes capacity);
/// "3 GB of 16.9 GB, sold as 16 GB, per GPU (80 % range 2.8 GB to 3.2 GB): fits, 13.9 GB free". Expects at least one GPU.
[[nodiscard]] std::string fit_text(const MemoryVerdict& memory);
/// What a job keeps in its hosts' memory, and whether that is large enough.
[[nodiscard]] std::string host_fit_text(const HostMemory& host);
/// "feature maps"
[[nodiscard]] std::string part_label(MemoryPart part);

}  // namespace tbdsim
