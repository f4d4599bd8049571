// Any bytes as a system file, as a GPU file and as the table of architectures. What is accepted must be usable: rings and
// relations are searched, and a GPU survives being written and read again.
#include "model/hardware/hardware_file.hpp"
#include "tests/architectures.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;

namespace {

/// The pair matrix grows with the square of the GPUs; larger nodes would only slow the search for new paths.
constexpr int kMostGpus = 16;

void require_refusal(const Errors& errors) {
  fuzz::require(!errors.empty(), "a refused file has an error");
  // Problems of files that a system names come after its own, so order is promised within one file only.
  Errors here;
  for (const Error& error : errors) {
    if (error.where.file == errors.front().where.file) here.push_back(error);
  }
  fuzz::require_good(here);
}

void try_device(const std::string& text) {
  const auto device = parse_device(all_architectures(), text, "fuzz.toml");
  if (!device) return require_refusal(device.error());
  const std::string written = to_toml(*device);
  const auto again = parse_device(all_architectures(), written, "fuzz.toml");
  fuzz::require(again.has_value(), "a written GPU can be read");
  fuzz::require(to_toml(*again) == written, "a GPU read again is the same");
}

void try_system(const std::string& text) {
  // Neither folder exists, so catalogue names in the bytes find nothing and a run depends on the bytes alone.
  static const auto kArchitectures = std::make_shared<const Architectures>(all_architectures());
  const auto system = parse_system(Catalogue{"no-catalogue", nullptr, kArchitectures}, text, "no-folder/fuzz.toml");
  if (!system) return require_refusal(system.error());
  const Topology& topology = system->topology;
  fuzz::require(static_cast<int>(topology.gpus().size()) == system->gpu_count, "every GPU is a vertex");
  if (system->gpu_count > kMostGpus) return;
  const RingSet rings = find_rings(topology, topology.gpus(), default_ring_options(system->device));
  fuzz::require(rings.rings.empty() == (system->gpu_count < 2), "two or more GPUs have a ring");
  const int pairs = system->gpu_count * (system->gpu_count - 1);
  fuzz::require(peer_pairs(topology) <= pairs, "no more peers than pairs");
}

void try_architectures(const std::string& text) {
  auto file = TomlFile::parse(text, "fuzz.toml");
  if (!file) return require_refusal(file.error());
  const auto read = Architectures::read(std::move(*file));
  if (!read) return require_refusal(read.error());
  for (const Architecture& row : read->families()) fuzz::require(!row.family.empty() && !row.name.empty(), "a family has a name");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::bytes(data, size);
  try_device(text);
  try_system(text);
  try_architectures(text);
  return 0;
}
