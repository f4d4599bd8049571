// Recurrent layers through cuDNN 8 and later, stepped algorithm; sequences of equal length.
#include "calibrate/cuda/setup.hpp"
#if TBDSIM_HAVE_CUDNN
#include "calibrate/cuda/cudnn_support.hpp"
#endif

namespace tbdsim::calibrate {

#if TBDSIM_HAVE_CUDNN
namespace {

cudnnRNNMode_t cell_of(const std::string& kind) {
  if (kind == "lstm") return CUDNN_LSTM;
  if (kind == "gru") return CUDNN_GRU;
  if (kind == "vanilla") return CUDNN_RNN_RELU;
  throw GpuFailure("rnn has the cells vanilla, lstm and gru");
}

struct Recurrent {
  const Cudnn* dnn = nullptr;
  Descriptor<cudnnDropoutDescriptor_t> dropout;
  Descriptor<cudnnRNNDescriptor_t> rnn;
  Descriptor<cudnnRNNDataDescriptor_t> x, y;
  Descriptor<cudnnTensorDescriptor_t> h;
  Buffer dropout_states, lengths, input, output, input_gradient, output_gradient, hidden, hidden_out, cell, cell_out, weights,
      weight_gradient, workspace, reserve;

  void forward() const {
    check_dnn(*dnn, dnn->cudnnRNNForward(dnn->handle, rnn.get(), CUDNN_FWD_MODE_TRAINING, lengths->as<std::int32_t>(), x.get(),
                                         input->get(), y.get(), output->get(), h.get(), hidden->get(), hidden_out->get(), h.get(),
                                         cell->get(), cell_out->get(), weights->bytes(), weights->get(), workspace->bytes(),
                                         workspace->get(), reserve->bytes(), reserve->get()));
  }
  void backward_data() const {
    check_dnn(*dnn, dnn->cudnnRNNBackwardData_v8(dnn->handle, rnn.get(), lengths->as<std::int32_t>(), y.get(), output->get(),
                                                 output_gradient->get(), x.get(), input_gradient->get(), h.get(), hidden->get(),
                                                 hidden_out->get(), nullptr, h.get(), cell->get(), cell_out->get(), nullptr,
                                                 weights->bytes(), weights->get(), workspace->bytes(), workspace->get(),
                                                 reserve->bytes(), reserve->get()));
  }
  void backward_weights() const {
    check_dnn(*dnn, dnn->cudnnRNNBackwardWeights_v8(dnn->handle, rnn.get(), CUDNN_WGRAD_MODE_ADD, lengths->as<std::int32_t>(),
                                                    x.get(), input->get(), h.get(), hidden->get(), y.get(), output->get(),
                                                    weights->bytes(), weight_gradient->get(), workspace->bytes(),
                                                    workspace->get(), reserve->bytes(), reserve->get()));
  }
};

Descriptor<cudnnRNNDataDescriptor_t> sequences(const Cudnn& dnn, Element element, int steps, int batch, int width) {
  auto d = make_descriptor(dnn, dnn.cudnnCreateRNNDataDescriptor, dnn.cudnnDestroyRNNDataDescriptor);
  const std::vector<int> lengths(static_cast<std::size_t>(batch), steps);
  check_dnn(dnn, dnn.cudnnSetRNNDataDescriptor(d.get(), dnn_type(element), CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, steps, batch,
                                               width, lengths.data(), nullptr));
  return d;
}

/// One layer in one direction whose input is as wide as its state is measured without the product of its inputs: that is a
/// matrix product like others, and the cost of the steps shows alone.
bool skips_input(const Measurement& m) {
  return whole(m, "input") == whole(m, "hidden") && whole(m, "layers") == 1 && whole(m, "directions") == 1;
}

std::shared_ptr<Recurrent> make_recurrent(const GpuContext& gpu, const Measurement& m) {
  auto r = std::make_shared<Recurrent>();
  const Cudnn& dnn = need_cudnn(gpu);
  r->dnn = &dnn;
  const Element element = element_of(m.sample.precision);
  const int batch = whole(m, "batch"), steps = whole(m, "steps"), hidden = whole(m, "hidden"), input = whole(m, "input"),
            layers = whole(m, "layers"), directions = whole(m, "directions");
  if (directions > 2) throw GpuFailure("a recurrent layer has one or two directions");
  std::size_t state_bytes = 0;
  check_dnn(dnn, dnn.cudnnDropoutGetStatesSize(dnn.handle, &state_bytes));
  r->dropout_states = std::make_shared<DeviceMemory>(state_bytes);
  r->dropout = make_descriptor(dnn, dnn.cudnnCreateDropoutDescriptor, dnn.cudnnDestroyDropoutDescriptor);
  check_dnn(dnn, dnn.cudnnSetDropoutDescriptor(r->dropout.get(), dnn.handle, 0.0f, r->dropout_states->get(), state_bytes, 1));
  r->rnn = make_descriptor(dnn, dnn.cudnnCreateRNNDescriptor, dnn.cudnnDestroyRNNDescriptor);
  check_dnn(dnn, dnn.cudnnSetRNNDescriptor_v8(
                     r->rnn.get(), CUDNN_RNN_ALGO_STANDARD, cell_of(m.sample.kind), CUDNN_RNN_SINGLE_INP_BIAS,
                     directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL,
                     skips_input(m) ? CUDNN_SKIP_INPUT : CUDNN_LINEAR_INPUT, dnn_type(element), CUDNN_DATA_FLOAT,
                     math_type(m.sample.precision), input, hidden, hidden, layers, r->dropout.get(), 0));
  r->x = sequences(dnn, element, steps, batch, input);
  r->y = sequences(dnn, element, steps, batch, hidden * directions);
  r->h = make_descriptor(dnn, dnn.cudnnCreateTensorDescriptor, dnn.cudnnDestroyTensorDescriptor);
  const int extents[3] = {layers * directions, batch, hidden}, strides[3] = {batch * hidden, hidden, 1};
  check_dnn(dnn, dnn.cudnnSetTensorNdDescriptor(r->h.get(), dnn_type(element), 3, extents, strides));
  const auto data = [&](int a, int b, int c) {
    return random_buffer(static_cast<std::size_t>(a) * static_cast<std::size_t>(b) * static_cast<std::size_t>(c), element,
                         gpu.stream);
  };
  r->input = data(steps, batch, input);
  r->input_gradient = data(steps, batch, input);
  r->output = data(steps, batch, hidden * directions);
  r->output_gradient = data(steps, batch, hidden * directions);
  for (Buffer* state : {&r->hidden, &r->hidden_out, &r->cell, &r->cell_out}) *state = data(extents[0], batch, hidden);
  std::size_t weight_bytes = 0, work_bytes = 0, reserve_bytes = 0;
  check_dnn(dnn, dnn.cudnnGetRNNWeightSpaceSize(dnn.handle, r->rnn.get(), &weight_bytes));
  check_dnn(dnn, dnn.cudnnGetRNNTempSpaceSizes(dnn.handle, r->rnn.get(), CUDNN_FWD_MODE_TRAINING, r->x.get(), &work_bytes,
                                               &reserve_bytes));
  r->weights = random_buffer(weight_bytes / bytes_of(element), element, gpu.stream);
  r->weight_gradient = random_buffer(weight_bytes / bytes_of(element), element, gpu.stream);
  r->workspace = std::make_shared<DeviceMemory>(work_bytes);
  r->reserve = std::make_shared<DeviceMemory>(reserve_bytes);
  const std::vector<std::int32_t> lengths(static_cast<std::size_t>(batch), steps);
  r->lengths = std::make_shared<DeviceMemory>(lengths.size() * sizeof(std::int32_t));
  // On the stream that reads them: it does not wait for the default stream.
  check(cudaMemcpyAsync(r->lengths->get(), lengths.data(), r->lengths->bytes(), cudaMemcpyHostToDevice, gpu.stream));
  check(cudaStreamSynchronize(gpu.stream));
  return r;
}

}  // namespace

Setup set_up_recurrent(const GpuContext& gpu, const Measurement& m) {
  const auto r = make_recurrent(gpu, m);
  Setup setup;
  setup.algorithm = "stepped";
  setup.layout = "sequence-major";
  if (skips_input(m)) setup.flags = "skip-input";
  r->forward();  // backward needs what forward keeps
  if (m.sample.pass == "forward")
    setup.run = [r] { r->forward(); };
  else if (m.sample.pass == "backward_data")
    setup.run = [r] { r->backward_data(); };
  else if (m.sample.pass == "backward")
    setup.run = [r] {
      r->backward_data();
      r->backward_weights();
    };
  else
    throw GpuFailure("rnn has the passes forward, backward_data and backward");
  return setup;
}

#else
Setup set_up_recurrent(const GpuContext& gpu, const Measurement&) { throw GpuFailure(gpu.cudnn_reason); }
#endif

}  // namespace tbdsim::calibrate
