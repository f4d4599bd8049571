#include "model/stack/convolution_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "model/support/edit_distance.hpp"

namespace tbdsim {
namespace {

constexpr std::array<std::string_view, 5> kNames{"implicit_gemm", "direct", "winograd_fused", "winograd_nonfused", "fft"};

std::vector<ConvolutionAlgorithm> read_algorithms(TomlTable& table, std::string_view key) {
  std::vector<ConvolutionAlgorithm> result;
  const std::vector<std::string> texts = table.texts_or_empty(key);
  for (const std::string& text : texts) {
    const auto* const found = std::find(kNames.begin(), kNames.end(), text);
    if (found != kNames.end()) {
      result.push_back(static_cast<ConvolutionAlgorithm>(found - kNames.begin()));
      continue;
    }
    const auto near = nearest(text, std::vector<std::string>(kNames.begin(), kNames.end()));
    table.problem(key, fmt::format("unknown convolution algorithm \"{}\"{}", text,
                                   near ? fmt::format(", did you mean \"{}\"?", *near) : ""));
  }
  if (texts.empty()) table.problem(key, "expected at least one algorithm such as [\"implicit_gemm\"]");
  return result;
}

}  // namespace

std::string_view name(ConvolutionAlgorithm algorithm) { return kNames[static_cast<std::size_t>(algorithm)]; }

ConvolutionLibrary read_convolution_library(TomlTable table) {
  ConvolutionLibrary library;
  library.name = table.text("library");
  library.generation = table.text("generation");
  library.forward = read_algorithms(table, "forward");
  library.backward_data = read_algorithms(table, "backward_data");
  library.backward_weights = read_algorithms(table, "backward_weights");
  library.workspace_limit = table.quantity_if<Bytes>("workspace_limit");
  (void)table.text("source");
  table.finish();
  return library;
}

}  // namespace tbdsim
