#include "model/workload/shape_inference.hpp"

#include <cassert>

#include "model/workload/shape_rules.hpp"

namespace tbdsim {
namespace {

using Inferred = InferredShape;
using Inputs = std::vector<const Shape*>;

template <class... Args>
tl::unexpected<std::string> refuse(fmt::format_string<Args...> format, Args&&... args) {
  return refuse_shape(format, std::forward<Args>(args)...);
}

Inferred convolution(const ConvolutionAttributes& a, const Shape& x) {
  if (x.size() != 3) return wants_image(x);
  if (a.out_channels < 1) return refuse("out_channels must be at least 1, got {}", a.out_channels);
  if (a.kernel_h < 1 || a.kernel_w < 1 || a.stride_h < 1 || a.stride_w < 1 || a.dilation < 1 || a.groups < 1)
    return refuse("kernel, stride, dilation and groups must be at least 1");
  if (a.pad_h < 0 || a.pad_w < 0) return refuse("padding must not be negative");
  if (x[0] % a.groups != 0 || a.out_channels % a.groups != 0)
    return refuse("{} input and {} output channels do not divide into {} groups", x[0], a.out_channels, a.groups);
  const std::int64_t reach_h = a.dilation * (a.kernel_h - 1) + 1;
  const std::int64_t reach_w = a.dilation * (a.kernel_w - 1) + 1;
  const std::int64_t height = x[1] + 2 * a.pad_h;
  const std::int64_t width = x[2] + 2 * a.pad_w;
  if (reach_h > height || reach_w > width)
    return refuse("kernel {}x{} is larger than the padded input {}x{}", reach_h, reach_w, height, width);
  return Shape{a.out_channels, (height - reach_h) / a.stride_h + 1, (width - reach_w) / a.stride_w + 1};
}

Inferred transposed_convolution(const ConvolutionAttributes& a, const Shape& x) {
  if (x.size() != 3) return wants_image(x);
  if (a.out_channels < 1) return refuse("out_channels must be at least 1, got {}", a.out_channels);
  if (a.kernel_h < 1 || a.kernel_w < 1 || a.stride_h < 1 || a.stride_w < 1) return refuse("kernel and stride must be at least 1");
  if (a.groups != 1 || a.dilation != 1) return refuse("a transposed convolution has one group and no dilation");
  const std::int64_t height = (x[1] - 1) * a.stride_h + a.kernel_h - 2 * a.pad_h;
  const std::int64_t width = (x[2] - 1) * a.stride_w + a.kernel_w - 2 * a.pad_w;
  if (a.pad_h < 0 || a.pad_w < 0 || height < 1 || width < 1)
    return refuse("padding {}x{} leaves nothing of {}", a.pad_h, a.pad_w, to_text(x));
  return Shape{a.out_channels, height, width};
}

std::int64_t pooled(std::int64_t extent, std::int64_t kernel, std::int64_t stride, std::int64_t pad, bool ceil_mode) {
  const std::int64_t span = extent + 2 * pad - kernel;
  if (!ceil_mode) return span / stride + 1;
  const std::int64_t windows = (span + stride - 1) / stride + 1;
  return (windows - 1) * stride >= extent + pad ? windows - 1 : windows;
}

Inferred pool(const PoolAttributes& a, const Shape& x) {
  if (x.size() != 3) return wants_image(x);
  if (a.kernel_h < 1 || a.kernel_w < 1 || a.stride_h < 1 || a.stride_w < 1) return refuse("kernel and stride must be at least 1");
  if (a.pad_h < 0 || a.pad_w < 0 || 2 * a.pad_h > a.kernel_h || 2 * a.pad_w > a.kernel_w)
    return refuse("padding {}x{} must be between 0 and half of the kernel {}x{}", a.pad_h, a.pad_w, a.kernel_h, a.kernel_w);
  if (a.kernel_h > x[1] + 2 * a.pad_h || a.kernel_w > x[2] + 2 * a.pad_w)
    return refuse("kernel {}x{} is larger than the padded input {}x{}", a.kernel_h, a.kernel_w, x[1] + 2 * a.pad_h,
                  x[2] + 2 * a.pad_w);
  return Shape{x[0], pooled(x[1], a.kernel_h, a.stride_h, a.pad_h, a.ceil_mode),
               pooled(x[2], a.kernel_w, a.stride_w, a.pad_w, a.ceil_mode)};
}

Inferred linear(const LinearAttributes& a, const Shape& x) {
  if (x.size() != 1 && x.size() != 2) return refuse("expects a vector or a sequence, got {}; flatten it first", to_text(x));
  if (a.out_features < 1) return refuse("out_features must be at least 1, got {}", a.out_features);
  Shape y = x;
  y.back() = a.out_features;
  return y;
}

Inferred same_shape(const Inputs& inputs) {
  for (const Shape* other : inputs)
    if (*other != *inputs[0]) return refuse("shapes {} and {} differ", to_text(*inputs[0]), to_text(*other));
  return *inputs[0];
}

// Squeeze-and-excitation scales each channel: CxHxW times Cx1x1.
Inferred multiply(const Inputs& inputs) {
  const Shape& x = *inputs[0];
  if (inputs.size() == 2 && x.size() == 3 && *inputs[1] == Shape{x[0], 1, 1}) return x;
  return same_shape(inputs);
}

Inferred slice(const SliceAttributes& a, const Shape& x) {
  if (a.axis < 0 || a.axis >= static_cast<std::int64_t>(x.size()))
    return refuse("axis {} is outside the {} dimensions of {}", a.axis, x.size(), to_text(x));
  const auto axis = static_cast<std::size_t>(a.axis);
  if (a.begin < 0 || a.begin >= a.end || a.end > x[axis])
    return refuse("range {}..{} is empty or outside dimension {} of {}", a.begin, a.end, a.axis, to_text(x));
  Shape y = x;
  y[axis] = a.end - a.begin;
  return y;
}

Inferred pad(const PadAttributes& a, const Shape& x) {
  if (x.size() != 3) return wants_image(x);
  if (a.top < 0 || a.bottom < 0 || a.left < 0 || a.right < 0) return refuse("padding must not be negative");
  return Shape{x[0], x[1] + a.top + a.bottom, x[2] + a.left + a.right};
}

Inferred embedding(const EmbeddingAttributes& a, const Shape& x) {
  if (x.size() != 1) return refuse("expects a sequence of tokens (T), got {}", to_text(x));
  if (a.rows < 1 || a.width < 1) return refuse("rows and width must be at least 1, got {} and {}", a.rows, a.width);
  return Shape{x[0], a.width};
}

Inferred recurrent(const RecurrentAttributes& a, const Shape& x) {
  if (x.size() != 2) return refuse("expects a sequence (TxH), got {}", to_text(x));
  if (a.hidden < 1 || a.layers < 1) return refuse("hidden and layers must be at least 1, got {} and {}", a.hidden, a.layers);
  return Shape{x[0], a.hidden * (a.bidirectional ? 2 : 1)};
}

Inferred attention(const AttentionAttributes& a, const Shape& queries, const Shape& keys, const Shape& values) {
  if (queries.size() != 2 || keys.size() != 2 || keys != values || keys[1] != queries[1])
    return refuse("expects queries, keys and values of one width, as many keys as values, got {}, {} and {}", to_text(queries),
                  to_text(keys), to_text(values));
  if (a.heads < 1 || queries[1] % a.heads != 0) return refuse("width {} does not divide into {} heads", queries[1], a.heads);
  return queries;
}

Inferred matmul(const MatmulAttributes& a, const Shape& left, const Shape& right) {
  const std::size_t rank = left.size();
  const bool batched = rank == 3 && right.size() == 3 && left[0] == right[0];
  if (!(rank == 2 && right.size() == 2) && !batched)
    return refuse("expects two matrices or two equal stacks of matrices, got {} and {}", to_text(left), to_text(right));
  const std::int64_t inner = a.transpose_b ? right[rank - 1] : right[rank - 2];
  if (left[rank - 1] != inner)
    return refuse("inner dimensions {} and {} of {} and {} differ", left[rank - 1], inner, to_text(left), to_text(right));
  Shape y = left;
  y[rank - 1] = a.transpose_b ? right[rank - 2] : right[rank - 1];
  return y;
}

Inferred checked_unary(OpKind kind, const OpAttributes& attributes, const Shape& x) {
  if (kind == OpKind::dropout) {
    const double p = std::get<DropoutAttributes>(attributes).probability;
    if (!(p >= 0.0 && p < 1.0)) return refuse("probability must be at least 0 and below 1, got {}", p);
  }
  if (kind == OpKind::channel_shuffle) {
    const std::int64_t groups = std::get<ShuffleAttributes>(attributes).groups;
    if (x.size() != 3) return wants_image(x);
    if (groups < 1 || x[0] % groups != 0) return refuse("{} channels do not divide into {} groups", x[0], groups);
  }
  if (kind == OpKind::local_response_norm) {
    if (x.size() != 3) return wants_image(x);
    const std::int64_t size = std::get<LocalResponseNormAttributes>(attributes).size;
    if (size < 1) return refuse("size must be at least 1, got {}", size);
  }
  return x;
}

}  // namespace

std::int64_t gates(OpKind kind) {
  switch (kind) {
    case OpKind::lstm:
      return 4;
    case OpKind::gru:
      return 3;
    default:
      assert(kind == OpKind::vanilla_rnn);
      return 1;
  }
}

tl::expected<Shape, std::string> infer_shape(OpKind kind, const OpAttributes& attributes, const Inputs& inputs) {
  const OpKindInfo& row = info(kind);
  const auto count = static_cast<int>(inputs.size());
  if (count < row.min_inputs || count > row.max_inputs) {
    const bool exact = row.min_inputs == row.max_inputs;
    const int wanted = count < row.min_inputs ? row.min_inputs : row.max_inputs;
    return refuse("{} takes {}{} input{}, got {}", row.name,
                  exact            ? ""
                  : count < wanted ? "at least "
                                   : "at most ",
                  wanted, wanted == 1 ? "" : "s", count);
  }
  if (count == 0) return refuse("the input is made by the graph itself");
  const Shape& x = *inputs[0];
  switch (kind) {
    case OpKind::convolution:
      return convolution(std::get<ConvolutionAttributes>(attributes), x);
    case OpKind::transposed_convolution:
      return transposed_convolution(std::get<ConvolutionAttributes>(attributes), x);
    case OpKind::linear:
      return linear(std::get<LinearAttributes>(attributes), x);
    case OpKind::pool:
      return pool(std::get<PoolAttributes>(attributes), x);
    case OpKind::global_average_pool:
      if (x.size() != 3) return wants_image(x);
      return Shape{x[0], 1, 1};
    case OpKind::add:
      return same_shape(inputs);
    case OpKind::multiply:
      return multiply(inputs);
    case OpKind::slice:
      return slice(std::get<SliceAttributes>(attributes), x);
    case OpKind::pad:
      return pad(std::get<PadAttributes>(attributes), x);
    case OpKind::embedding:
      return embedding(std::get<EmbeddingAttributes>(attributes), x);
    case OpKind::lstm:
    case OpKind::gru:
    case OpKind::vanilla_rnn:
      return recurrent(std::get<RecurrentAttributes>(attributes), x);
    case OpKind::attention:
      return attention(std::get<AttentionAttributes>(attributes), x, *inputs[1], *inputs[2]);
    case OpKind::matmul:
      return matmul(std::get<MatmulAttributes>(attributes), x, *inputs[1]);
    case OpKind::reshape:
    case OpKind::concat:
    case OpKind::transpose:
    case OpKind::learned_bias:
    case OpKind::prepend_token:
    case OpKind::gather:
    case OpKind::reduce:
    case OpKind::group_norm:
    case OpKind::pairwise_add:
    case OpKind::upsample:
    case OpKind::proposals:
    case OpKind::roi_pool:
    case OpKind::by_bytes:
      return infer_arranged(kind, attributes, inputs);
    default:
      return checked_unary(kind, attributes, x);
  }
}

namespace {

std::vector<ParameterSpec> recurrent_parameters(OpKind kind, const RecurrentAttributes& a, std::int64_t input) {
  std::vector<ParameterSpec> specs;
  const std::int64_t rows = gates(kind) * a.hidden;
  const int directions = a.bidirectional ? 2 : 1;
  using Role = ParameterSpec::Role;
  for (std::int64_t layer = 0; layer < a.layers; ++layer) {
    const std::int64_t columns = layer == 0 ? input : a.hidden * directions;
    for (int direction = 0; direction < directions; ++direction) {
      const std::string suffix = fmt::format("l{}{}", layer, direction == 1 ? "_reverse" : "");
      specs.push_back({Role::recurrent, {rows, columns}, "weight_ih_" + suffix});
      specs.push_back({Role::recurrent, {rows, a.hidden}, "weight_hh_" + suffix});
      if (!a.bias) continue;
      specs.push_back({Role::recurrent, {rows}, "bias_ih_" + suffix});
      specs.push_back({Role::recurrent, {rows}, "bias_hh_" + suffix});
    }
  }
  return specs;
}

}  // namespace

std::vector<ParameterSpec> parameters_of(OpKind kind, const OpAttributes& attributes, const Shape& input,
                                         bool keeps_fixed_gamma) {
  using Role = ParameterSpec::Role;
  std::vector<ParameterSpec> specs;
  switch (kind) {
    case OpKind::convolution: {
      const auto& a = std::get<ConvolutionAttributes>(attributes);
      specs.push_back({Role::weight, {a.out_channels, input[0] / a.groups, a.kernel_h, a.kernel_w}, {}});
      if (a.bias) specs.push_back({Role::bias, {a.out_channels}, {}});
      break;
    }
    case OpKind::linear: {
      const auto& a = std::get<LinearAttributes>(attributes);
      if (!a.tied) specs.push_back({Role::weight, {a.out_features, input.back()}, {}});
      if (a.bias) specs.push_back({Role::bias, {a.out_features}, {}});
      break;
    }
    case OpKind::batch_norm: {
      const std::int64_t channels = input.size() == 2 ? input[1] : input[0];
      if (std::get<BatchNormAttributes>(attributes).scale || keeps_fixed_gamma) specs.push_back({Role::gamma, {channels}, {}});
      specs.push_back({Role::beta, {channels}, {}});
      break;
    }
    case OpKind::layer_norm:
      specs.push_back({Role::gamma, {input.back()}, {}});
      specs.push_back({Role::beta, {input.back()}, {}});
      break;
    case OpKind::embedding: {
      const auto& a = std::get<EmbeddingAttributes>(attributes);
      if (!a.tied) specs.push_back({Role::weight, {a.rows, a.width}, {}});
      break;
    }
    case OpKind::transposed_convolution: {
      const auto& a = std::get<ConvolutionAttributes>(attributes);
      specs.push_back({Role::weight, {input[0], a.out_channels, a.kernel_h, a.kernel_w}, {}});
      if (a.bias) specs.push_back({Role::bias, {a.out_channels}, {}});
      break;
    }
    case OpKind::group_norm:
      specs.push_back({Role::gamma, {input[0]}, {}});
      specs.push_back({Role::beta, {input[0]}, {}});
      break;
    case OpKind::learned_bias: {
      const auto& a = std::get<LearnedBiasAttributes>(attributes);
      const std::int64_t rows = a.rows;
      if (!a.tied) specs.push_back({Role::bias, rows == 0 ? Shape{input.back()} : Shape{rows, input.back()}, {}});
      break;
    }
    case OpKind::prepend_token:
      specs.push_back({Role::weight, {1, input.back()}, {}});
      break;
    case OpKind::by_bytes:
      for (const Shape& shape : std::get<ByBytesAttributes>(attributes).parameters) specs.push_back({Role::weight, shape, {}});
      break;
    case OpKind::lstm:
    case OpKind::gru:
    case OpKind::vanilla_rnn:
      return recurrent_parameters(kind, std::get<RecurrentAttributes>(attributes), input.back());
    default:
      break;
  }
  return specs;
}

}  // namespace tbdsim
