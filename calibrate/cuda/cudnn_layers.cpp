// Softmax, batch normalisation, pooling and dropout through cuDNN.
#include "calibrate/cuda/setup.hpp"
#if TBDSIM_HAVE_CUDNN
#include "calibrate/cuda/cudnn_support.hpp"
#endif

namespace tbdsim::calibrate {

#if TBDSIM_HAVE_CUDNN
namespace {

constexpr float kOne = 1.0f, kZero = 0.0f;
constexpr double kEpsilon = 1e-5;  // PyTorch's default of batch norm; forward and backward must agree

bool forward_pass(const Measurement& m) {
  if (m.sample.pass == "forward") return true;
  if (m.sample.pass == "backward") return false;
  throw GpuFailure(m.sample.family + " has the passes forward and backward");
}

/// A tensor with data of its own, and the data of its gradient.
struct Operand {
  Descriptor<cudnnTensorDescriptor_t> desc;
  Buffer data, gradient;
};
Operand operand(const GpuContext& gpu, const Cudnn& dnn, Element element, int n, int c, int h, int w) {
  const std::size_t count =
      static_cast<std::size_t>(n) * static_cast<std::size_t>(c) * static_cast<std::size_t>(h) * static_cast<std::size_t>(w);
  return {tensor4d(dnn, CUDNN_TENSOR_NCHW, element, n, c, h, w), random_buffer(count, element, gpu.stream),
          random_buffer(count, element, gpu.stream)};
}

}  // namespace

Setup set_up_softmax(const GpuContext& gpu, const Measurement& m) {
  const Cudnn& dnn = need_cudnn(gpu);
  const Operand x = operand(gpu, dnn, element_of(m.sample.precision), whole(m, "rows"), whole(m, "cols"), 1, 1);
  const Operand y = operand(gpu, dnn, element_of(m.sample.precision), whole(m, "rows"), whole(m, "cols"), 1, 1);
  Setup setup;
  setup.layout = "rows";
  if (forward_pass(m)) {
    setup.run = [&dnn, x, y] {
      check_dnn(dnn, dnn.cudnnSoftmaxForward(dnn.handle, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_INSTANCE, &kOne, x.desc.get(),
                                             x.data->get(), &kZero, y.desc.get(), y.data->get()));
    };
  } else {
    setup.run = [&dnn, x, y] {
      check_dnn(
          dnn, dnn.cudnnSoftmaxBackward(dnn.handle, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_INSTANCE, &kOne, y.desc.get(),
                                        y.data->get(), y.desc.get(), y.gradient->get(), &kZero, x.desc.get(), x.gradient->get()));
    };
  }
  return setup;
}

Setup set_up_batch_norm(const GpuContext& gpu, const Measurement& m) {
  const Cudnn& dnn = need_cudnn(gpu);
  const int c = whole(m, "c");
  const Operand x = operand(gpu, dnn, element_of(m.sample.precision), whole(m, "n"), c, whole(m, "hw"), 1);
  const Operand y = operand(gpu, dnn, element_of(m.sample.precision), whole(m, "n"), c, whole(m, "hw"), 1);
  auto stats = make_descriptor(dnn, dnn.cudnnCreateTensorDescriptor, dnn.cudnnDestroyTensorDescriptor);
  check_dnn(dnn, dnn.cudnnDeriveBNTensorDescriptor(stats.get(), x.desc.get(), CUDNN_BATCHNORM_SPATIAL));
  const auto of_channels = [&] { return random_buffer(static_cast<std::size_t>(c), Element::fp32, gpu.stream); };
  const Buffer scale = of_channels(), bias = of_channels(), mean = of_channels(), inverse_deviation = of_channels();
  const auto forward = [=, &dnn] {
    check_dnn(dnn, dnn.cudnnBatchNormalizationForwardTraining(dnn.handle, CUDNN_BATCHNORM_SPATIAL, &kOne, &kZero, x.desc.get(),
                                                              x.data->get(), y.desc.get(), y.data->get(), stats.get(),
                                                              scale->get(), bias->get(), 1.0, nullptr, nullptr, kEpsilon,
                                                              mean->get(), inverse_deviation->get()));
  };
  Setup setup;
  setup.layout = "nchw";
  setup.run = forward;
  if (forward_pass(m)) return setup;
  // Backward takes the statistics that forward saves, as frameworks do: without them it would read the input once more.
  forward();
  const Buffer scale_gradient = of_channels(), bias_gradient = of_channels();
  setup.run = [=, &dnn] {
    check_dnn(dnn, dnn.cudnnBatchNormalizationBackward(dnn.handle, CUDNN_BATCHNORM_SPATIAL, &kOne, &kZero, &kOne, &kZero,
                                                       x.desc.get(), x.data->get(), y.desc.get(), y.gradient->get(), x.desc.get(),
                                                       x.gradient->get(), stats.get(), scale->get(), scale_gradient->get(),
                                                       bias_gradient->get(), kEpsilon, mean->get(), inverse_deviation->get()));
  };
  return setup;
}

Setup set_up_pool(const GpuContext& gpu, const Measurement& m) {
  const Cudnn& dnn = need_cudnn(gpu);
  const Element element = element_of(m.sample.precision);
  const int pad = whole(m, "pad"), stride = whole(m, "stride");
  const int p = (whole(m, "h") + 2 * pad - whole(m, "r")) / stride + 1,
            q = (whole(m, "w") + 2 * pad - whole(m, "s")) / stride + 1;
  if (p < 1 || q < 1) throw GpuFailure("the window is larger than the padded input");
  const bool maximum = m.sample.kind == "max";
  if (!maximum && m.sample.kind != "average") throw GpuFailure("pool has the kinds max and average");
  auto pool = make_descriptor(dnn, dnn.cudnnCreatePoolingDescriptor, dnn.cudnnDestroyPoolingDescriptor);
  check_dnn(dnn,
            dnn.cudnnSetPooling2dDescriptor(pool.get(), maximum ? CUDNN_POOLING_MAX : CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING,
                                            CUDNN_NOT_PROPAGATE_NAN, whole(m, "r"), whole(m, "s"), pad, pad, stride, stride));
  const Operand x = operand(gpu, dnn, element, whole(m, "n"), whole(m, "c"), whole(m, "h"), whole(m, "w"));
  const Operand y = operand(gpu, dnn, element, whole(m, "n"), whole(m, "c"), p, q);
  Setup setup;
  setup.layout = "nchw";
  if (forward_pass(m)) {
    setup.run = [=, &dnn] {
      check_dnn(dnn, dnn.cudnnPoolingForward(dnn.handle, pool.get(), &kOne, x.desc.get(), x.data->get(), &kZero, y.desc.get(),
                                             y.data->get()));
    };
  } else {
    setup.run = [=, &dnn] {
      check_dnn(
          dnn, dnn.cudnnPoolingBackward(dnn.handle, pool.get(), &kOne, y.desc.get(), y.data->get(), y.desc.get(),
                                        y.gradient->get(), x.desc.get(), x.data->get(), &kZero, x.desc.get(), x.gradient->get()));
    };
  }
  return setup;
}

Setup set_up_dropout(const GpuContext& gpu, const Measurement& m) {
  const Cudnn& dnn = need_cudnn(gpu);
  const Operand x = operand(gpu, dnn, element_of(m.sample.precision), 1, whole(m, "elements"), 1, 1);
  std::size_t state_bytes = 0, reserve_bytes = 0;
  check_dnn(dnn, dnn.cudnnDropoutGetStatesSize(dnn.handle, &state_bytes));
  check_dnn(dnn, dnn.cudnnDropoutGetReserveSpaceSize(x.desc.get(), &reserve_bytes));
  const auto states = std::make_shared<DeviceMemory>(state_bytes), reserve = std::make_shared<DeviceMemory>(reserve_bytes);
  auto dropout = make_descriptor(dnn, dnn.cudnnCreateDropoutDescriptor, dnn.cudnnDestroyDropoutDescriptor);
  check_dnn(dnn, dnn.cudnnSetDropoutDescriptor(dropout.get(), dnn.handle, 0.5f, states->get(), states->bytes(), 1));
  Setup setup;
  if (forward_pass(m)) {
    setup.run = [=, &dnn] {
      check_dnn(dnn, dnn.cudnnDropoutForward(dnn.handle, dropout.get(), x.desc.get(), x.data->get(), x.desc.get(),
                                             x.gradient->get(), reserve->get(), reserve_bytes));
      (void)states;
    };
  } else {
    setup.run = [=, &dnn] {
      check_dnn(dnn, dnn.cudnnDropoutBackward(dnn.handle, dropout.get(), x.desc.get(), x.gradient->get(), x.desc.get(),
                                              x.data->get(), reserve->get(), reserve_bytes));
      (void)states;
    };
  }
  return setup;
}

#else
Setup set_up_softmax(const GpuContext& gpu, const Measurement&) { throw GpuFailure(gpu.cudnn_reason); }
Setup set_up_batch_norm(const GpuContext& gpu, const Measurement&) { throw GpuFailure(gpu.cudnn_reason); }
Setup set_up_pool(const GpuContext& gpu, const Measurement&) { throw GpuFailure(gpu.cudnn_reason); }
Setup set_up_dropout(const GpuContext& gpu, const Measurement&) { throw GpuFailure(gpu.cudnn_reason); }
#endif

}  // namespace tbdsim::calibrate
