// Convolutions through cuDNN, by the algorithm that the plan names, else by the fastest of those that cuDNN ranks, as frameworks
// choose that try them all; the sample names it.
#include <array>
#include <cmath>

#include "calibrate/collect/convolution_algorithm.hpp"
#include "calibrate/cuda/setup.hpp"
#if TBDSIM_HAVE_CUDNN
#include "calibrate/cuda/cudnn_support.hpp"
#include "calibrate/cuda/event.hpp"
#endif

namespace tbdsim::calibrate {

#if TBDSIM_HAVE_CUDNN
namespace {

/// cuDNN numbers the algorithms of a pass from 0.
template <class Algorithm>
std::string name_of(Algorithm algorithm, std::string_view pass) {
  const auto names = convolution_algorithms(pass);
  const auto at = static_cast<std::size_t>(algorithm);
  return at < names.size() ? std::string(names[at]) : "unknown";
}

/// One convolution layer: descriptors and operands of all three passes.
struct Layer {
  const Cudnn* dnn = nullptr;
  Descriptor<cudnnTensorDescriptor_t> x, y;
  Descriptor<cudnnFilterDescriptor_t> w;
  Descriptor<cudnnConvolutionDescriptor_t> conv;
  Buffer input, filter, output, workspace;
};

/// The algorithm that the plan names, else the fastest; grants its workspace, however large. An algorithm is ranked for one kind
/// of arithmetic and runs under that alone; each may appear once with tensor cores and once without. What the ranking offers may
/// still be refused when it is run, or find no room.
template <class Perf, class Find, class Run>
Perf choose(Layer& layer, const GpuContext& gpu, const Sample& asked, Find find, Run run) {
  std::array<Perf, 16> ranked{};
  int count = 0;
  check_dnn(*layer.dnn, find(static_cast<int>(ranked.size()), &count, ranked.data()));
  const auto grant = [&](const Perf& perf) {
    check_dnn(*layer.dnn, layer.dnn->cudnnSetConvolutionMathType(
                              layer.conv.get(), asked.precision == "fp32" ? math_type(asked.precision) : perf.mathType));
    layer.workspace.reset();
    layer.workspace = std::make_shared<DeviceMemory>(perf.memory);
  };
  std::string refusal = "cuDNN offers no algorithm";
  Seconds least(INFINITY);
  Perf fastest{};
  for (int i = 0; i < count; ++i) {
    const Perf& perf = ranked[static_cast<std::size_t>(i)];
    if (perf.status != CUDNN_STATUS_SUCCESS) continue;
    if (!asked.algorithm.empty() && name_of(perf.algo, asked.pass) != asked.algorithm) continue;
    try {
      grant(perf);
      run(perf.algo);  // the first run loads the kernels
      constexpr int kTrials = 3;
      constexpr long long kBusyCycles = 200'000;  // about 0.1 ms: longer than the host takes to issue them
      const Seconds time = time_on(gpu.stream, kBusyCycles, [&] {
        for (int trial = 0; trial < kTrials; ++trial) run(perf.algo);
      });
      if (time >= least) continue;
      least = time;
      fastest = perf;
    } catch (const GpuFailure& failure) {
      (void)cudaGetLastError();
      refusal = failure.what();
    }
  }
  if (std::isinf(least.base()))
    throw GpuFailure(asked.algorithm.empty() ? refusal : "cuDNN does not run this convolution by " + asked.algorithm);
  grant(fastest);
  return fastest;
}

std::shared_ptr<Layer> make_layer(const GpuContext& gpu, const Measurement& m, cudnnTensorFormat_t format) {
  auto layer = std::make_shared<Layer>();
  const Cudnn& dnn = need_cudnn(gpu);
  layer->dnn = &dnn;
  const Element element = element_of(m.sample.precision);
  const int groups = whole(m, "groups");
  if (whole(m, "c") % groups != 0) throw GpuFailure("the groups do not divide the channels");
  layer->x = tensor4d(dnn, format, element, whole(m, "n"), whole(m, "c"), whole(m, "h"), whole(m, "w"));
  layer->w = make_descriptor(dnn, dnn.cudnnCreateFilterDescriptor, dnn.cudnnDestroyFilterDescriptor);
  check_dnn(dnn, dnn.cudnnSetFilter4dDescriptor(layer->w.get(), dnn_type(element), format, whole(m, "k"), whole(m, "c") / groups,
                                                whole(m, "r"), whole(m, "s")));
  layer->conv = make_descriptor(dnn, dnn.cudnnCreateConvolutionDescriptor, dnn.cudnnDestroyConvolutionDescriptor);
  check_dnn(dnn, dnn.cudnnSetConvolution2dDescriptor(layer->conv.get(), whole(m, "pad_h"), whole(m, "pad_w"),
                                                     whole(m, "stride_h"), whole(m, "stride_w"), whole(m, "dilation"),
                                                     whole(m, "dilation"), CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
  check_dnn(dnn, dnn.cudnnSetConvolutionGroupCount(layer->conv.get(), groups));
  check_dnn(dnn, dnn.cudnnSetConvolutionMathType(layer->conv.get(), math_type(m.sample.precision)));
  int n = 0, k = 0, p = 0, q = 0;
  check_dnn(dnn, dnn.cudnnGetConvolution2dForwardOutputDim(layer->conv.get(), layer->x.get(), layer->w.get(), &n, &k, &p, &q));
  layer->y = tensor4d(dnn, format, element, n, k, p, q);
  const auto elements = [](std::initializer_list<int> extents) {
    std::size_t product = 1;
    for (const int e : extents) product *= static_cast<std::size_t>(e);
    return product;
  };
  layer->input = random_buffer(elements({whole(m, "n"), whole(m, "c"), whole(m, "h"), whole(m, "w")}), element, gpu.stream);
  layer->filter =
      random_buffer(elements({whole(m, "k"), whole(m, "c") / groups, whole(m, "r"), whole(m, "s")}), element, gpu.stream);
  layer->output = random_buffer(elements({n, k, p, q}), element, gpu.stream);
  return layer;
}

constexpr float kOne = 1.0f, kZero = 0.0f;

Setup forward(const GpuContext& gpu, const Sample& asked, const std::shared_ptr<Layer>& l) {
  const auto run = [l](auto algo) {
    check_dnn(*l->dnn, l->dnn->cudnnConvolutionForward(l->dnn->handle, &kOne, l->x.get(), l->input->get(), l->w.get(),
                                                       l->filter->get(), l->conv.get(), algo, l->workspace->get(),
                                                       l->workspace->bytes(), &kZero, l->y.get(), l->output->get()));
  };
  const auto perf = choose<cudnnConvolutionFwdAlgoPerf_t>(
      *l, gpu, asked,
      [&](int most, int* count, auto* ranked) {
        return l->dnn->cudnnGetConvolutionForwardAlgorithm_v7(l->dnn->handle, l->x.get(), l->w.get(), l->conv.get(), l->y.get(),
                                                              most, count, ranked);
      },
      run);
  Setup setup;
  setup.algorithm = name_of(perf.algo, asked.pass);
  setup.run = [run, algo = perf.algo] { run(algo); };
  return setup;
}

Setup backward_data(const GpuContext& gpu, const Sample& asked, const std::shared_ptr<Layer>& l) {
  const auto run = [l](auto algo) {
    check_dnn(*l->dnn, l->dnn->cudnnConvolutionBackwardData(l->dnn->handle, &kOne, l->w.get(), l->filter->get(), l->y.get(),
                                                            l->output->get(), l->conv.get(), algo, l->workspace->get(),
                                                            l->workspace->bytes(), &kZero, l->x.get(), l->input->get()));
  };
  const auto perf = choose<cudnnConvolutionBwdDataAlgoPerf_t>(
      *l, gpu, asked,
      [&](int most, int* count, auto* ranked) {
        return l->dnn->cudnnGetConvolutionBackwardDataAlgorithm_v7(l->dnn->handle, l->w.get(), l->y.get(), l->conv.get(),
                                                                   l->x.get(), most, count, ranked);
      },
      run);
  Setup setup;
  setup.algorithm = name_of(perf.algo, asked.pass);
  setup.run = [run, algo = perf.algo] { run(algo); };
  return setup;
}

Setup backward_weights(const GpuContext& gpu, const Sample& asked, const std::shared_ptr<Layer>& l) {
  const auto run = [l](auto algo) {
    check_dnn(*l->dnn, l->dnn->cudnnConvolutionBackwardFilter(l->dnn->handle, &kOne, l->x.get(), l->input->get(), l->y.get(),
                                                              l->output->get(), l->conv.get(), algo, l->workspace->get(),
                                                              l->workspace->bytes(), &kZero, l->w.get(), l->filter->get()));
  };
  const auto perf = choose<cudnnConvolutionBwdFilterAlgoPerf_t>(
      *l, gpu, asked,
      [&](int most, int* count, auto* ranked) {
        return l->dnn->cudnnGetConvolutionBackwardFilterAlgorithm_v7(l->dnn->handle, l->x.get(), l->y.get(), l->conv.get(),
                                                                     l->w.get(), most, count, ranked);
      },
      run);
  Setup setup;
  setup.algorithm = name_of(perf.algo, asked.pass);
  setup.run = [run, algo = perf.algo] { run(algo); };
  return setup;
}

}  // namespace

Setup set_up_convolution(const GpuContext& gpu, const Measurement& m) {
  // Tensor-core kernels for 16-bit data want channels last, as frameworks lay it out for them.
  const bool channels_last = element_of(m.sample.precision) != Element::fp32;
  const auto layer = make_layer(gpu, m, channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW);
  Setup setup;
  if (m.sample.pass == "forward")
    setup = forward(gpu, m.sample, layer);
  else if (m.sample.pass == "backward_data")
    setup = backward_data(gpu, m.sample, layer);
  else if (m.sample.pass == "backward_weights")
    setup = backward_weights(gpu, m.sample, layer);
  else
    throw GpuFailure("conv has the passes forward, backward_data and backward_weights");
  setup.layout = channels_last ? "nhwc" : "nchw";
  return setup;
}

#else
Setup set_up_convolution(const GpuContext& gpu, const Measurement&) { throw GpuFailure(gpu.cudnn_reason); }
#endif

}  // namespace tbdsim::calibrate
