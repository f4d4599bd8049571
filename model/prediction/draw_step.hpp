#pragma once
#include "model/prediction/divided_step.hpp"

namespace tbdsim {

/// A drawing has at most so many blocks, or two micro-batches of every stage.
inline constexpr std::size_t kMostDrawnBlocks = 6'000;

/// The timeline of a step. Memory is that of the verdict's ranks at their peak, of which feature maps follow the micro-batches in
/// flight; all else is counted as always there. Where there are more micro-batches than a
/// drawing has room for, the first ones and the last ones are drawn, at their times. Errors: those of `configured_schedule`.
[[nodiscard]] Result<StepDrawing> draw_step(const Configuration& configuration, const DividedStep& step,
                                            const MemoryVerdict& memory);

}  // namespace tbdsim
