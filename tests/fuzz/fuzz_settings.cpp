// Any bytes as settings of a training framework, in each form: what is read is translated by every framework, or refused with a
// reason.
#include "model/configuration/framework_arguments/layout_file.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kFrameworks = load_frameworks(TBDSIM_SOURCE_DIR);
  fuzz::require(kFrameworks.has_value(), "the catalogue's frameworks are sound");
  for (const char* name : {"fuzz.sh", "fuzz.toml", "fuzz.json", "fuzz.yaml"}) {
    const auto settings = read_settings(fuzz::bytes(data, size), name);
    if (!settings) {
      fuzz::require(!settings.error().empty(), "refused settings have an error");
      continue;
    }
    fuzz::require(!settings->empty(), "what is read has settings");
    for (const TrainingFramework& framework : *kFrameworks) {
      const auto layout = translate(framework, *settings, name);
      if (!layout) {
        fuzz::require(!layout.error().empty(), "a refused layout has an error");
        continue;
      }
      for (const StatedOption& stated : layout->options) fuzz::require(stated.option != nullptr, "an option that there is");
    }
  }
  return 0;
}
