// Mixtures of experts: rows go to some of many feed-forward blocks and come back.
#include "model/workload/operators/row_groups.hpp"
#include "model/workload/operators/saving.hpp"
#include "model/workload/operators/shape_rules.hpp"
#include "model/workload/shape_inference.hpp"

namespace tbdsim {
namespace {

InferredShape route_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const auto& [per_token, groups, chosen] = std::get<RouteAttributes>(attributes);
  const Shape &x = *inputs[0], &scores = *inputs[1];
  if (x.size() != 2 || scores.size() != 2 || x[0] != scores[0])
    return refuse_shape("expects a sequence and its rows' scores of all experts, got {} and {}", to_text(x), to_text(scores));
  if (per_token < 1 || per_token > scores[1]) return refuse_shape("a row cannot go to {} of {} experts", per_token, scores[1]);
  if (groups > 0 && (scores[1] % groups != 0 || chosen < 1 || chosen > groups || per_token > chosen * (scores[1] / groups)))
    return refuse_shape("a row cannot go to {} of {} experts in {} of {} groups", per_token, scores[1], chosen, groups);
  return Shape{x[0] * per_token, x[1]};
}

/// Probabilities of all experts, which stay fp32; for each expert of a row its number, the row's place among those of the expert,
/// and its weight.
SavedByOp keep_routes(const SavingContext& c) {
  const Shape& scores = c.graph.tensor(c.op.inputs[1]).shape;
  const auto rows = static_cast<double>(c.output().front());
  return {{}, saved_count(scores) * kSavedStatistic + rows * (2.0 * kSavedIndex + kSavedStatistic), {}};
}

InferredShape grouped_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const auto& a = std::get<GroupedLinearAttributes>(attributes);
  const Shape& x = *inputs[0];
  if (x.size() != 2) return wants_sequence(x);
  if (a.experts < 1 || a.out_features < 1)
    return refuse_shape("experts and features must be at least 1, got {} and {}", a.experts, a.out_features);
  return Shape{x[0], a.out_features};
}

std::vector<ParameterSpec> grouped_arrays(const ParameterRequest& r) {
  using Role = ParameterSpec::Role;
  const auto& a = std::get<GroupedLinearAttributes>(r.attributes);
  std::vector<ParameterSpec> specs{{Role::weight, {a.experts, a.out_features, r.input.back()}, {}}};
  if (a.bias) specs.push_back({Role::bias, {a.experts, a.out_features}, {}});
  return specs;
}

/// Every row meets one expert's weights.
std::int64_t grouped_macs(const OpGraph& graph, const Op& op) {
  return elements(graph.output_shape(op)) * graph.input_shape(op).back();
}

InferredShape combine_shape(const OpAttributes&, const ShapeInputs& inputs) {
  const Shape &rows = *inputs[0], &scores = *inputs[1];
  if (rows.size() != 2 || scores.size() != 2 || rows[0] % scores[0] != 0)
    return refuse_shape("expects equally many rows for each row of scores, got {} and {}", to_text(rows), to_text(scores));
  return Shape{scores[0], rows[1]};
}

constexpr OperatorRow kRows[]{
    // Softmax or sigmoid, the highest scores, sorting by expert, and the copy of rows in that order. The choice has no gradient:
    // that of the scores comes from where their rows are weighed. Backward adds up the gradients of a row's copies.
    {
        .kind = OpKind::route,
        .name = "route",
        .takes = "sequence, scores of all experts for each of its rows",
        .keys = "`per_token`: experts that a row goes to; `groups`, `groups_per_token` (0: any): of experts, in which all of a "
                "row's lie",
        .min_inputs = 2,
        .max_inputs = 2,
        .attributes = defaults<RouteAttributes>,
        .shape = route_shape,
        .passes = {1, 1, 1, 1},
        .access = ElementAccess::vectors,
        .saved = keep_routes,
        .gradient_inputs = 1,
        .placement = Placement::routed,
    },
    {
        .kind = OpKind::grouped_linear,
        .name = "grouped_linear",
        .takes = "sequence of routed rows",
        .keys = "`experts`, `features`; `bias` (false): every expert has weights of its own",
        .family = OpFamily::experts,
        .attributes = defaults<GroupedLinearAttributes>,
        .shape = grouped_shape,
        .parameters = grouped_arrays,
        .macs = grouped_macs,
        .splits_backward = true,
        .saved = keep_input,
        .mirrored = false,
        .autocast = AutocastRule::narrow,
        .placement = Placement::experts,
    },
    // Backward: the gradient read for rows and weights, rows read for the gradient of the weights, their gradients written.
    {
        .kind = OpKind::combine,
        .name = "combine",
        .takes = "sequence of routed rows, scores of all experts",
        .keys = "adds up the rows of each token by the weights that its scores give",
        .min_inputs = 2,
        .max_inputs = 2,
        .shape = combine_shape,
        .passes = {1, 1, 2, 1},
        .access = ElementAccess::vectors,
        .saved = keep_input,
        .placement = Placement::routed,
    },
};

}  // namespace

std::span<const OperatorRow> expert_rows() { return kRows; }

}  // namespace tbdsim
