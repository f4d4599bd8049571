#pragma once
#include <vector>

#include "model/study/sweep_store.hpp"

namespace tbdsim {

/// Options and values of a row as one text, an option a line; what would end a line within a value is escaped.
[[nodiscard]] std::string config_text(const std::vector<std::pair<std::string, std::string>>& pairs);
/// The same read back, in the order of the axes.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> config_pairs(const std::string& config);

/// Which rows of a sweep, in its order, no other row beats in time a sample, cost a sample and memory of a GPU together.
///
/// Rows are set against rows of the same work (the same network, variant of it and input size) that are paid for alike: what is
/// bought against what is bought, what is rented against what is rented. Rows without a price are left out, unless no row of
/// their work has one: then time and memory count. What does not fit its GPUs, or has no figures, is on no front.
/// Errors: those of the store.
[[nodiscard]] Result<std::vector<bool>> sweep_front(const SweepStore& store);

}  // namespace tbdsim
