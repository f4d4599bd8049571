// Any bytes as a network file. What is accepted has a training step and counts that make sense.
#include "model/workload/network_file.hpp"
#include "model/workload/op_counts.hpp"
#include "model/workload/training_step.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto file = TomlFile::parse(fuzz::bytes(data, size), "fuzz.toml");
  if (!file) return 0;
  const auto graph = read_network(std::move(*file));
  if (!graph) {
    fuzz::require(!graph.error().empty(), "a refused network has an error");
    return 0;
  }
  const TrainingStep step = training_step(*graph);
  fuzz::require(step.update.size() == graph->parameters.size(), "every array is updated once");
  fuzz::require(macs_per_sample(*graph).forward >= 0, "multiply-adds are counted");
  return 0;
}
