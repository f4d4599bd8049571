// Families that the collector's own kernels serve.
#include <algorithm>
#include <array>
#include <utility>

#include "calibrate/cuda/setup.hpp"

namespace tbdsim::calibrate {
namespace {

Elementwise elementwise_op(const std::string& name) {
  using E = Elementwise;
  constexpr std::array<std::pair<std::string_view, E>, 9> kOps{{{"add", E::add},
                                                                {"sub", E::sub},
                                                                {"mul", E::mul},
                                                                {"div", E::div},
                                                                {"pow", E::pow},
                                                                {"relu", E::relu},
                                                                {"gelu", E::gelu},
                                                                {"tanh", E::tanh},
                                                                {"sigmoid", E::sigmoid}}};
  const auto* const found = std::find_if(kOps.begin(), kOps.end(), [&](const auto& entry) { return entry.first == name; });
  if (found == kOps.end()) throw GpuFailure("elementwise has no op " + name);
  return found->second;
}

std::size_t product(int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); }

void only_forward(const Measurement& m) {
  if (m.sample.pass != "forward" && m.sample.pass != "none") throw GpuFailure(m.sample.family + " is measured forward alone");
}

}  // namespace

Setup set_up_elementwise(const GpuContext& gpu, const Measurement& m) {
  only_forward(m);
  const Element element = element_of(m.sample.precision);
  const auto elements = static_cast<std::size_t>(m.sample.at("elements"));
  const int inputs = whole(m, "inputs");
  const Buffer a = random_buffer(elements, element, gpu.stream);
  Setup setup;
  if (m.sample.op == "sum") {
    const Buffer out = random_buffer(1, Element::fp32, gpu.stream);
    setup.run = [=, stream = gpu.stream] { launch_sum(element, a->get(), out->as<float>(), elements, stream); };
    return setup;
  }
  if (inputs < 1 || inputs > 2 || whole(m, "outputs") != 1) throw GpuFailure("elementwise has one or two inputs and one output");
  const Buffer b = inputs == 2 ? random_buffer(elements, element, gpu.stream) : nullptr;
  const Buffer out = random_buffer(elements, element, gpu.stream);
  const Elementwise op = elementwise_op(m.sample.op);
  setup.run = [=, stream = gpu.stream] {
    launch_elementwise({op, element, a->get(), b ? b->get() : nullptr, out->get(), elements}, stream);
  };
  return setup;
}

Setup set_up_layer_norm(const GpuContext& gpu, const Measurement& m) {
  const Element element = element_of(m.sample.precision);
  const int rows = whole(m, "rows"), cols = whole(m, "cols");
  const Buffer in = random_buffer(product(rows, cols), element, gpu.stream);
  const Buffer out = random_buffer(product(rows, cols), element, gpu.stream);
  const Buffer gamma = random_buffer(static_cast<std::size_t>(cols), element, gpu.stream);
  Setup setup;
  if (m.sample.pass == "forward") {
    setup.run = [=, stream = gpu.stream] { launch_layer_norm(element, in->get(), gamma->get(), out->get(), rows, cols, stream); };
  } else if (m.sample.pass == "backward") {
    const Buffer gradient = random_buffer(product(rows, cols), element, gpu.stream);
    setup.run = [=, stream = gpu.stream] {
      launch_layer_norm_backward(element, in->get(), gradient->get(), gamma->get(), out->get(), rows, cols, stream);
    };
  } else {
    throw GpuFailure("layer_norm has the passes forward and backward");
  }
  return setup;
}

Setup set_up_embedding(const GpuContext& gpu, const Measurement& m) {
  const int rows = whole(m, "rows"), width = whole(m, "width"), lookups = whole(m, "lookups");
  const bool forward = m.sample.pass == "forward";
  if (!forward && m.sample.pass != "backward") throw GpuFailure("embedding has the passes forward and backward");
  const Element element = forward ? element_of(m.sample.precision) : Element::fp32;
  const Buffer table = random_buffer(product(rows, width), element, gpu.stream);
  const Buffer values = random_buffer(product(lookups, width), element, gpu.stream);
  const Buffer index = make_buffer(static_cast<std::size_t>(lookups) * 4, DeviceMemory::Content::index, gpu.stream, false,
                                   static_cast<unsigned>(rows));
  Setup setup;
  if (forward)
    setup.run = [=, stream = gpu.stream] {
      launch_embedding(element, table->get(), index->as<unsigned>(), values->get(), lookups, width, stream);
    };
  else
    setup.run = [=, stream = gpu.stream] {
      launch_embedding_backward(table->as<float>(), index->as<unsigned>(), values->as<float>(), lookups, width, stream);
    };
  return setup;
}

Setup set_up_optimizer(const GpuContext& gpu, const Measurement& m) {
  const auto elements = static_cast<std::size_t>(m.sample.at("elements"));
  const int states = whole(m, "states"), tensors = whole(m, "tensors");
  if (states > 2) throw GpuFailure("optimizer has 0, 1 or 2 states");
  std::array<Buffer, 4> arrays;
  for (Buffer& array : arrays) array = random_buffer(elements, Element::fp32, gpu.stream);
  const std::size_t part = elements / static_cast<std::size_t>(tensors);
  if (part == 0) throw GpuFailure("more tensors than elements");
  Setup setup;
  setup.algorithm = "one kernel a tensor";
  setup.run = [=, stream = gpu.stream] {
    for (int t = 0; t < tensors; ++t) {
      const std::size_t at = static_cast<std::size_t>(t) * part;
      launch_optimizer(states, arrays[0]->as<float>() + at, arrays[1]->as<float>() + at, arrays[2]->as<float>() + at,
                       arrays[3]->as<float>() + at, part, stream);
    }
  };
  return setup;
}

}  // namespace tbdsim::calibrate
