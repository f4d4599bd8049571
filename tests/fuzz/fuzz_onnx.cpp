// Any bytes as a file of the ONNX format. What is accepted has a training step and counts that make sense.
#include "model/workload/onnx_import.hpp"
#include "model/workload/op_counts.hpp"
#include "model/workload/saved_tensors.hpp"
#include "model/workload/training_step.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes = fuzz::bytes(data, size);
  const auto network = import_onnx(bytes, "fuzz.onnx", "fuzz", {});
  if (!network) {
    fuzz::require(!network.error().empty(), "a refused network has an error");
    fuzz::require_good(network.error());
    return 0;
  }
  const TrainingStep step = training_step(network->graph);
  fuzz::require(step.update.size() == network->graph.parameters.size(), "every array is updated once");
  fuzz::require(macs_per_sample(network->graph).forward >= 0, "multiply-adds are counted");
  fuzz::require(saved_bytes(network->graph, SavingRules::autograd).per_sample.base() >= 0.0, "kept bytes are counted");
  return 0;
}
