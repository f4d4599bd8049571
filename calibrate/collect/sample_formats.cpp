#include "calibrate/collect/sample_formats.hpp"

#include <fmt/format.h>

#include "calibrate/decode/sample_family.hpp"

namespace tbdsim::calibrate {
namespace {

constexpr KeyMeaning kKernelSamples[] = {
    {"", "**`device`**", "id of the catalogue", ""},
    {"", "**`family`**, **`op`**",
     "one of the families below; `matmul` or `linear` of gemm, `add sub mul div pow relu gelu tanh sigmoid` of elementwise, else "
     "the family",
     ""},
    {"", "**`precision`**", "`fp32`, `tf32`, `fp16`, `bf16` or `fp8`", ""},
    {"", "**`pass`**", "`forward`, `backward_data`, `backward_weights`, `backward`, `update` or `none`", ""},
    {"", "**`shape`**", "`key=value;...` with all keys of its family, below", ""},
    {"", "**`time_s`**", "above 0", ""},
    {"", "**`timing`**", "`kernel` or `call`", ""},
    {"", "`spread_s`", "standard deviation of repeated measurements", "not known"},
    {"", "`algorithm`, `layout`", "as the library names them", "not known"},
    {"", "`clock_mhz`, `memory_clock_mhz`, `power_w`", "while it was measured", "not known"},
    {"", "`driver`, `library`, `date`, `source`", "where the row is from", "empty"},
    {"", "`flags`", "words with blanks between them", "none"},
};

constexpr KeyMeaning kPlanOfMeasurements[] = {
    {"", "**`name`**, **`budget`**", "text; time after which nothing new begins", ""},
    {"[stop]", "`relative_error`, `least`, `most`, `longest`",
     "when a kernel has been repeated enough: error of the mean, fewest and most repetitions, longest time",
     "the collector's own"},
    {"[[measure]]", "**`family`**, `op`", "one family", "the family"},
    {"[[measure]]", "`precision`, `pass`, `cache`", "lists, every combination is measured; `cache` is `cold` or `hot`",
     "`fp32`, `forward`, `cold`"},
    {"[[measure]]", "**`shape`**", "list of texts as in samples", ""},
    {"[[measure]]", "`algorithm`", "list, of convolutions", "the fastest that the library ranks"},
};

constexpr FileFormat kFormats[] = {
    {"Kernel samples",
     "CSV with a header row, for `calibrate fit` and `check`; `collect` writes it. `timing` is `kernel` (device time) or `call` "
     "(with its launch from the host)",
     kKernelSamples},
    {"Plan of measurements", "TOML, for `calibrate collect --plan`", kPlanOfMeasurements},
};

}  // namespace

std::span<const FileFormat> sample_formats() { return kFormats; }

std::string sample_formats_page() {
  std::string text = "# File formats of tbdsim calibrate\n\n" + formats_markdown(sample_formats()) +
                     "## Families\n\n| family | keys of `shape` |\n|---|---|\n";
  for (const SampleFamily& family : sample_families()) {
    std::string keys;
    for (const ShapeKey& key : family.keys)
      keys += fmt::format("{}`{}`{}", keys.empty() ? "" : ", ", key.name, key.absent ? " (may be absent)" : "");
    text += fmt::format("| `{}` | {} |\n", family.name, keys);
  }
  return text;
}

}  // namespace tbdsim::calibrate
