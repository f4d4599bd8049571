#include "model/report/memory_batches_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/report/csv.hpp"
#include "model/report/memory_report_text.hpp"
#include "model/report/text_table.hpp"
#include "model/units/format.hpp"

namespace tbdsim {
namespace {

std::string title(const MemoryByBatch& t) {
  return paragraph(fmt::format("{} ({}), {}, {} on {} x {}, {}{}: memory of the fullest GPU by batch, of {}", t.model, t.variant,
                               t.precision, t.optimizer, t.gpus,
                               t.device == t.hardware ? t.device : fmt::format("{} of {}", t.device, t.hardware), t.stack,
                               t.gpus > 1 ? fmt::format(", {}", name(t.exchange)) : "", format(t.rows.front().memory.capacity))) +
         '\n';
}

std::string totals(const MemoryByBatch& t) {
  TextTable table({{"batch", Align::right},
                   {t.input_unit.empty() ? "" : t.input_unit + "s/s", Align::right},
                   {"step", Align::right},
                   {"allocated", Align::right},
                   {"nvidia-smi", Align::right},
                   {"80 % range", Align::right},
                   {"fits"}});
  for (const BatchMemory& row : t.rows) {
    const GpuMemory& gpu = fullest(row.memory);
    table.add({std::to_string(row.batch), row.step_time ? number_text(row.throughput) : "",
               row.step_time ? format(row.step_time->value) : "", format(gpu.allocated), format(gpu.peak),
               fmt::format("{} - {}", format(gpu.low), format(gpu.high)), row.memory.fits ? "yes" : "NO"});
  }
  return table.text();
}

std::string by_part(const MemoryByBatch& t) {
  std::vector<MemoryPart> parts;
  for (std::size_t i = 0; i < kMemoryPartCount; ++i)
    if (std::any_of(t.rows.begin(), t.rows.end(),
                    [&](const BatchMemory& row) { return fullest(row.memory).parts.bytes[i] > Bytes(0.0); }))
      parts.push_back(static_cast<MemoryPart>(i));
  std::vector<TextTable::Column> columns{{"batch", Align::right}};
  for (const MemoryPart part : parts) columns.push_back({part_label(part), Align::right});
  TextTable table(std::move(columns));
  for (const BatchMemory& row : t.rows) {
    std::vector<std::string> cells{std::to_string(row.batch)};
    for (const MemoryPart part : parts) cells.push_back(format(fullest(row.memory).parts[part]));
    table.add(std::move(cells));
  }
  return "By structure, at the peak\n" + table.text();
}

}  // namespace

std::string memory_batches_table(const MemoryByBatch& t) { return title(t) + totals(t) + '\n' + by_part(t); }

std::string memory_batches_csv(const MemoryByBatch& t) {
  std::vector<std::string> header{"batch_per_gpu", "step_time_s",     "throughput_samples_per_s", "gpu",
                                  "fits",          "allocated_bytes", "reserved_bytes",           "peak_bytes",
                                  "low_bytes",     "high_bytes"};
  for (std::size_t i = 0; i < kMemoryPartCount; ++i) header.push_back(std::string(name(static_cast<MemoryPart>(i))) + "_bytes");
  std::string text = csv_line(header);
  for (const BatchMemory& row : t.rows) {
    const GpuMemory& gpu = fullest(row.memory);
    std::vector<std::string> cells{std::to_string(row.batch), row.step_time ? fmt::format("{}", row.step_time->value.base()) : "",
                                   row.step_time ? fmt::format("{}", row.throughput) : "", std::to_string(gpu.gpu),
                                   row.memory.fits ? "true" : "false"};
    for (const Bytes bytes : {gpu.allocated, gpu.reserved, gpu.peak, gpu.low, gpu.high})
      cells.push_back(fmt::format("{:.0f}", bytes.base()));
    for (const Bytes bytes : gpu.parts.bytes) cells.push_back(fmt::format("{:.0f}", bytes.base()));
    text += csv_line(cells);
  }
  return text;
}

}  // namespace tbdsim
