#pragma once
#include <string>
#include <string_view>

#include "model/prediction/prediction.hpp"

namespace tbdsim {

/// A letter for a block as pipelines are drawn: F, B, W.
[[nodiscard]] std::string_view letter(pipeline::BlockKind kind);

/// "first 32 and last 32 of 512 micro-batches"; "all 8 micro-batches".
[[nodiscard]] std::string drawn_text(const StepDrawing& drawing);

/// A step that is simulated layer by layer as events of the Trace Event Format: for each rank of its pipeline a lane of F, B and
/// W blocks with the bubbles between them, one of exposed communication, and its memory. Within a pass, waits are drawn at its
/// end, whichever of its layers they belong to; blocks that run as a pair span the pair. Expects a drawing.
[[nodiscard]] std::string pipeline_trace(const Prediction& prediction);

}  // namespace tbdsim
