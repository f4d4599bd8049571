// Any bytes as Hugging Face's config.json. What is accepted has a training step and counts that make sense.
#include "model/workload/hugging_face.hpp"
#include "model/workload/op_counts.hpp"
#include "model/workload/training_step.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto network = read_hugging_face(fuzz::bytes(data, size), "fuzz.json", "fuzz", std::nullopt, true);
  if (!network) {
    fuzz::require(!network.error().empty(), "a refused network has an error");
    return 0;
  }
  const TrainingStep step = training_step(network->graph);
  fuzz::require(step.update.size() == network->graph.parameters.size(), "every array is updated once");
  fuzz::require(macs_per_sample(network->graph).forward >= 0, "multiply-adds are counted");
  return 0;
}
