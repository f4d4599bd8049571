// Attention as one operator: all between the projections of queries, keys and values and that of the result.
#include <algorithm>

#include "model/workload/operators/row_groups.hpp"
#include "model/workload/operators/saving.hpp"
#include "model/workload/operators/shape_rules.hpp"
#include "model/workload/shape_inference.hpp"

namespace tbdsim {
namespace {

InferredShape attention_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const auto& a = std::get<AttentionAttributes>(attributes);
  const Shape &queries = *inputs[0], &keys = *inputs[1], &values = *inputs[2];
  const bool grouped = a.kv_heads > 0;
  const Shape expected{keys.empty() ? 0 : keys[0], a.value_width > 0 ? (grouped ? a.kv_heads : a.heads) * a.value_width
                                                   : keys.empty()    ? 0
                                                                     : keys.back()};
  if (queries.size() != 2 || keys.size() != 2 || values != expected || (!grouped && keys[1] != queries[1]))
    return refuse_shape("expects queries, keys and values of one width, as many keys as values, got {}, {} and {}",
                        to_text(queries), to_text(keys), to_text(values));
  if (a.heads < 1 || queries[1] % a.heads != 0)
    return refuse_shape("width {} does not divide into {} heads", queries[1], a.heads);
  if (grouped && a.heads % a.kv_heads != 0)
    return refuse_shape("{} heads of queries do not share {} heads of keys and values evenly", a.heads, a.kv_heads);
  if (grouped && keys[1] != queries[1] / a.heads * a.kv_heads)
    return refuse_shape("{} heads of {} features expect {} of keys and values, got {}", a.kv_heads, queries[1] / a.heads,
                        queries[1] / a.heads * a.kv_heads, keys[1]);
  return Shape{queries[0], a.value_width > 0 ? a.heads * a.value_width : queries[1]};
}

std::vector<ParameterSpec> attention_arrays(const ParameterRequest& r) {
  const auto& a = std::get<AttentionAttributes>(r.attributes);
  if (!a.sinks) return {};
  return {{ParameterSpec::Role::weight, {a.heads}, {}}};
}

/// Scores, and the values that they weigh. A mask leaves all of them counted, as is usual; a window so many for each query.
std::int64_t attention_macs(const OpGraph& graph, const Op& op) {
  const std::int64_t keys = graph.tensor(op.inputs[1]).shape.front(),
                     window = std::get<AttentionAttributes>(op.attributes).window;
  return (elements(graph.input_shape(op)) + elements(graph.output_shape(op))) * (window > 0 ? std::min(window, keys) : keys);
}

/// Gradients of weights and values, queries and keys.
std::int64_t attention_backward_macs(const OpGraph& graph, const Op& op) { return 2 * attention_macs(graph, op); }

/// Operands, and the weights of all scores; the fused kernel's result and one fp32 sum for each row of scores instead.
SavedByOp keep_attention(const SavingContext& c) {
  SavedByOp kept{c.op.inputs, {}, {}};
  const auto heads = static_cast<double>(std::get<AttentionAttributes>(c.op.attributes).heads);
  const double rows = heads * static_cast<double>(c.output().front());
  if (c.fused_attention) {
    kept.tensors.push_back(c.op.output);
    kept.extra_per_sample = rows * kSavedStatistic;
  } else {
    kept.extra_per_sample = rows * static_cast<double>(c.graph.tensor(c.op.inputs[1]).shape.front()) * c.element;
  }
  return kept;
}

InferredShape rope_shape(const OpAttributes&, const ShapeInputs& inputs) {
  const Shape& x = *inputs[0];
  if (x.size() != 2 && x.size() != 3) return wants_sequence(x);
  if (x.back() % 2 != 0) return refuse_shape("expects an even number of features, got {}", x.back());
  return x;
}

InferredShape latent_keys_shape(const OpAttributes& attributes, const ShapeInputs& inputs) {
  const std::int64_t heads = std::get<LatentKeysAttributes>(attributes).heads;
  const Shape &own = *inputs[0], &shared = *inputs[1];
  if (own.size() != 2 || shared.size() != 2 || own[0] != shared[0])
    return refuse_shape("expects two sequences of one length, got {} and {}", to_text(own), to_text(shared));
  if (heads < 1 || own[1] % heads != 0) return refuse_shape("width {} does not divide into {} heads", own[1], heads);
  return Shape{own[0], own[1] + heads * shared[1]};
}

/// Eager PyTorch casts to fp32 (2 bytes read, 4 written), multiplies pairs as complex numbers (8) and casts back (6).
Passes rope_passes(const Op&, const PassFacts& facts) {
  if (!facts.composes_rotary) return {1, 1, 0, 2};
  Passes passes = facts.narrow ? Passes{5, 5, 5, 5} : Passes{1, 1, 1, 1};
  passes.forward_kernels = passes.backward_kernels = facts.narrow ? 3 : 1;
  return passes;
}

constexpr std::string_view kRopeNames[]{"RotaryEmbedding"};

constexpr OperatorRow kRows[]{
    {
        .kind = OpKind::attention,
        .name = "attention",
        .takes = "queries, keys, values: sequences of one width",
        .keys = "`heads` (1), `causal` (false), `kv_heads` (= heads): of keys and values, which are then narrower; `window` (all "
                "keys): of a causal mask; `value_width` (as of keys): features of a head of values; `sinks` (false): a trainable "
                "score for each head; one kernel where the stack fuses attention",
        .family = OpFamily::attention,
        .min_inputs = 3,
        .max_inputs = 3,
        .attributes = defaults<AttentionAttributes>,
        .shape = attention_shape,
        .parameters = attention_arrays,
        .macs = attention_macs,
        .backward_macs = attention_backward_macs,
        .multiplies_activations = true,
        .saved = keep_attention,
        .autocast = AutocastRule::narrow,
        .placement = Placement::heads,
    },
    // One kernel, as Megatron-LM's and compiled ones. The angles are a constant table of one head, so nothing is kept, and the
    // gradient is turned back. Source: Su et al., arXiv:2104.09864.
    {
        .kind = OpKind::rope,
        .name = "rope",
        .takes = "sequence, or one for each head",
        .keys = "rotary embedding of queries or keys",
        .shape = rope_shape,
        .framework_passes = rope_passes,
        .access = ElementAccess::vectors,
        .placement = Placement::follows,
        .onnx = kRopeNames,
    },
    // The rotary part of the keys of latent attention is the same for all heads. Backward adds up its gradients.
    {
        .kind = OpKind::latent_keys,
        .name = "latent_keys",
        .takes = "sequence of features of each head, sequence of features of all heads",
        .keys = "`heads` (1): that each get the shared features behind their own",
        .min_inputs = 2,
        .max_inputs = 2,
        .attributes = defaults<LatentKeysAttributes>,
        .shape = latent_keys_shape,
        .passes = {1, 1, 1, 1},
        .access = ElementAccess::vectors,
        .placement = Placement::follows,
    },
};

}  // namespace

std::span<const OperatorRow> attention_rows() { return kRows; }

}  // namespace tbdsim
