#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/configuration/option_table.hpp"
#include "model/support/result.hpp"

namespace tbdsim {

/// A change of one option of a job: another value, or a factor of the number that it has.
struct OptionChange {
  const OptionRow* option = nullptr;
  std::string value;             ///< as it was stated
  std::optional<double> factor;  ///< of `2x`
  std::string key;               ///< as it was stated, for messages
  Error place;                   ///< of the assignment, without a message
  std::size_t notice = 0;        ///< which of the notices of all assignments tells what became of it
};

/// A job as it was: its options with the numbers that they leave open.
struct JobNumbers {
  PredictOptions stated;
  int gpus_per_node = 1;  ///< of its hardware
};

/// Makes the changes in their order. `before` may be absent where no change needs it. More GPUs than several full nodes have take
/// more nodes, unless a change states nodes. Fills in the notices of the changes. Errors: a value that the option does not take;
/// a factor of what is no number, or with a product that is none.
[[nodiscard]] Result<void> change_options(const std::vector<OptionChange>& changes, const std::optional<JobNumbers>& before,
                                          PredictOptions& options, std::vector<std::string>& notices);

/// Whether a change depends on the job as it was.
[[nodiscard]] bool need_the_job(const std::vector<OptionChange>& changes);

}  // namespace tbdsim
