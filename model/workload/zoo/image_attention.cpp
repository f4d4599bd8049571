#include "model/workload/zoo/image_attention.hpp"

namespace tbdsim {
namespace {

/// Rows x width to (windows heads) x patches x head width, as batched products read it: a copy.
TensorId split_heads(GraphBuilder& g, TensorId x, const ImageAttention& a, const std::string& name) {
  const std::int64_t patches = g.shape(x).front() / a.windows, head = a.width / a.heads;
  const TensorId parts = g.reshape(x, {a.windows, patches, a.heads, head}, name + "_heads");
  return g.reshape(g.transpose(parts, {0, 2, 1, 3}, name + "_permute"), {a.windows * a.heads, patches, head}, name + "_batch");
}

TensorId join_heads(GraphBuilder& g, TensorId x, const ImageAttention& a, const std::string& name) {
  const Shape in = g.shape(x);
  if (in.size() != 3) return x;  // only after an earlier problem
  const TensorId parts = g.reshape(x, {a.windows, a.heads, in[1], in[2]}, name + "_windows");
  return g.reshape(g.transpose(parts, {0, 2, 1, 3}, name + "_permute"), {a.windows * in[1], a.width}, name + "_merge");
}

}  // namespace

TensorId image_attention(GraphBuilder& g, TensorId x, const ImageAttention& a, const std::string& prefix) {
  const TensorId product = g.linear(x, 3 * a.width, prefix + "qkv", a.bias && !a.query_value_bias);
  const auto part = [&](std::int64_t index, const char* name) {
    return g.add(OpKind::slice, {product}, SliceAttributes{1, index * a.width, (index + 1) * a.width}, prefix + name);
  };
  const auto biased = [&](TensorId y, const char* name) {
    return a.query_value_bias ? g.add(OpKind::learned_bias, {y}, LearnedBiasAttributes{}, prefix + name) : y;
  };
  const TensorId query = biased(part(0, "query"), "q_bias"), key = part(1, "key"), value = biased(part(2, "value"), "v_bias");
  if (a.fused)
    return g.linear(g.add(OpKind::attention, {query, key, value}, AttentionAttributes{a.heads}, prefix + "attention"), a.width,
                    prefix + "proj");
  TensorId q = split_heads(g, query, a, prefix + "query");
  if (a.scales_queries) q = g.add(OpKind::multiply, {q}, {}, prefix + "query_scale");
  TensorId scores = g.add(OpKind::matmul, {q, split_heads(g, key, a, prefix + "key")}, MatmulAttributes{true}, prefix + "scores");
  if (!a.scales_queries) scores = g.add(OpKind::multiply, {scores}, {}, prefix + "scores_scale");
  if (a.distances > 0)
    scores =
        g.add(OpKind::learned_bias, {scores}, LearnedBiasAttributes{a.distances, false, a.heads}, prefix + "relative_position");
  if (a.masked) scores = g.add(OpKind::mask, {scores}, {}, prefix + "mask");
  const TensorId shares = g.add(OpKind::softmax, {scores}, {}, prefix + "softmax");
  const TensorId context =
      g.add(OpKind::matmul, {shares, split_heads(g, value, a, prefix + "value")}, MatmulAttributes{false}, prefix + "context");
  return g.linear(join_heads(g, context, a, prefix + "context"), a.width, prefix + "proj");
}

TensorId image_mlp(GraphBuilder& g, TensorId x, std::int64_t hidden, const std::string& prefix) {
  const std::int64_t width = g.shape(x).back();
  x = g.activation(g.linear(x, hidden, prefix + "fc1"), ActivationKind::gelu, prefix + "act");
  return g.linear(x, width, prefix + "fc2");
}

}  // namespace tbdsim
