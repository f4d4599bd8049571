#pragma once
#include <string>

#include "model/prediction/memory_batches.hpp"

namespace tbdsim {

/// Two tables of the fullest GPU: throughput and whole memory, then memory by its parts, a row for each batch.
[[nodiscard]] std::string memory_batches_table(const MemoryByBatch& table);
/// A header and a row for each batch.
[[nodiscard]] std::string memory_batches_csv(const MemoryByBatch& table);
/// One object of schema "tbdsim.memory/1" with `batches` in place of one batch's objects.
[[nodiscard]] std::string memory_batches_json(const MemoryByBatch& table);

}  // namespace tbdsim
