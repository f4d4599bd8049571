#pragma once
#include "model/schedule/pipeline/pipeline_schedule.hpp"
#include "model/support/result.hpp"

namespace tbdsim::pipeline {

/// The table of a schedule. Error: unmet_demand(kind, shape).
///
/// - gpipe: all forward blocks, then all backward blocks, both in the order of the micro-batches. arXiv:1811.06965.
/// - 1f1b: rank i of p runs p-1-i forward blocks, then one forward and one backward in turn. arXiv:2104.04473, figure 4.
/// - interleaved: a rank takes p micro-batches through a chunk, then the same ones through its next. 2(p-1-i) + (v-1)p forward
///   blocks come first. With v = 1 that warm-up is longer than 1f1b's. arXiv:2104.04473, figure 4; Megatron-LM schedules.py.
/// - zb-h1: as 1f1b; rank i runs the weights block i micro-batches after its backward, so the last ranks have some left to do
///   while the last micro-batches go back. arXiv:2401.10241, section 2.1.
/// - zb-v: two chunks as a V; the order is made for F = B = W. arXiv:2401.10241, section 6; PyTorch ScheduleZBVZeroBubble.
/// - dualpipe: half of the micro-batches enters at each end, and a forward of one direction is joined with a backward of the
///   other. arXiv:2412.19437, figure 5; deepseek-ai/DualPipe dualpipe.py.
[[nodiscard]] Result<PipelineSchedule> generate(ScheduleKind kind, PipelineShape shape);

}  // namespace tbdsim::pipeline
