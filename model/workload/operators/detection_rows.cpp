// Boxes and regions of detectors.
#include "model/workload/operators/row_groups.hpp"
#include "model/workload/operators/saving.hpp"
#include "model/workload/operators/shape_rules.hpp"

namespace tbdsim {
namespace {

InferredShape proposals_shape(const OpAttributes& attributes, const ShapeInputs&) {
  const auto& a = std::get<ProposalAttributes>(attributes);
  if (a.kept < 1 || a.candidates < a.kept)
    return refuse_shape("expects at least 1 box kept of as many candidates or more, got {} of {}", a.kept, a.candidates);
  return Shape{a.kept, 4};
}

InferredShape roi_pool_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const auto& a = std::get<RoiPoolAttributes>(attributes);
  const Shape& x = *inputs[0];
  if (x.size() != 3) return wants_image(x);
  if (a.regions < 1 || a.size < 1) return refuse_shape("regions and size must be at least 1, got {} and {}", a.regions, a.size);
  return Shape{x[0], a.regions * a.size, a.size};
}

/// For each output, where its maximum lies; regions (four corners and the image's number) are few.
SavedByOp keep_roi_pool(const SavingContext& c) {
  constexpr Bytes kPosition{4.0};  // int32
  return {{}, saved_count(c.output()) * kPosition, {}};
}

constexpr OperatorRow kRows[]{
    {
        .kind = OpKind::proposals,
        .name = "proposals",
        .takes = "one or two, any",
        .keys = "`candidates`, `kept`: boxes before and after overlaps are suppressed",
        .max_inputs = 2,
        .attributes = defaults<ProposalAttributes>,
        .shape = proposals_shape,
        .passes = {2, 2, 0, 0},
        // Which boxes are kept is a choice, not a function with a slope.
        .gradient = GradientRule::none,
    },
    {
        .kind = OpKind::roi_pool,
        .name = "roi_pool",
        .takes = "image, optionally boxes",
        .keys = "`regions`, `size`: windows of the map, stacked along the height",
        .max_inputs = 2,
        .attributes = defaults<RoiPoolAttributes>,
        .shape = roi_pool_shape,
        // A region's window of the map is read once per output; gradients are scattered into the whole map.
        .passes = {1, 2, 1, 2},
        .saved = keep_roi_pool,
    },
};

}  // namespace

std::span<const OperatorRow> detection_rows() { return kRows; }

}  // namespace tbdsim
