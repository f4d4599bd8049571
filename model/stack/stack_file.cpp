#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <filesystem>

#include "model/input/digest.hpp"
#include "model/input/known_word.hpp"
#include "model/input/toml_reader.hpp"
#include "model/stack/nccl.hpp"
#include "model/stack/stack.hpp"
#include "model/stack/store_file.hpp"
#include "model/support/edit_distance.hpp"

namespace tbdsim {
namespace {

std::vector<ConvolutionAlgorithm> read_algorithms(TomlTable& table, std::string_view key) {
  constexpr std::array kAll{ConvolutionAlgorithm::implicit_gemm, ConvolutionAlgorithm::direct,
                            ConvolutionAlgorithm::winograd_fused, ConvolutionAlgorithm::winograd_nonfused,
                            ConvolutionAlgorithm::fft};
  std::vector<ConvolutionAlgorithm> result;
  const std::vector<std::string> texts = table.texts_or_empty(key);
  for (const std::string& text : texts) {
    const auto* found = std::find_if(kAll.begin(), kAll.end(), [&](ConvolutionAlgorithm a) { return name(a) == text; });
    if (found != kAll.end()) {
      result.push_back(*found);
      continue;
    }
    std::vector<std::string> names;
    names.reserve(kAll.size());
    for (const auto algorithm : kAll) names.emplace_back(name(algorithm));
    const auto near = nearest(text, names);
    table.problem(key, fmt::format("unknown convolution algorithm \"{}\"{}", text,
                                   near ? fmt::format(", did you mean \"{}\"?", *near) : ""));
  }
  if (texts.empty()) table.problem(key, "expected at least one algorithm such as [\"implicit_gemm\"]");
  return result;
}

ConvolutionLibrary read_convolution(TomlTable table) {
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

}  // namespace

Result<Stack> read_stack(TomlFile file) {
  TomlTable root = file.root();
  Stack stack;
  (void)root.integer("schema", 1, 1);
  root.mark("extends");
  root.mark("without");
  stack.id = root.text("name");
  stack.framework = read_row(root, "framework", frameworks(), "framework").value_or(stack.framework);
  stack.version = root.text("version");
  stack.variant = root.text_or("variant", "");
  stack.zoo_variant = root.text("zoo_variant");
  stack.cuda = root.text_or("cuda", "");
  stack.nccl = root.text_or("nccl", "");
  if (const auto version = parse_nccl_version(stack.nccl); !stack.nccl.empty() && !version)
    root.problem("nccl", version.error().front().message);
  if (root.has("vendor")) stack.vendor = read_row(root, "vendor", vendors(), "vendor").value_or(stack.vendor);
  stack.minimum_compute_capability = root.text_or("minimum_compute_capability", "");
  stack.source = root.text("source");
  stack.convolution = read_convolution(root.table("convolution"));
  stack.host = read_host_settings(root.table("host"));
  stack.operators = read_operator_settings(root.table("operators"));
  stack.update = read_update_settings(root.table("update"));
  stack.memory = read_memory_settings(root.table("memory"));
  stack.exchange = read_exchange_settings(root.table("exchange"));
  if (root.has("features")) stack.features = read_framework_features(root.table("features"));
  if (root.has("engine")) stack.engine = read_engine_settings(root.table("engine"));
  if (root.has("metric")) stack.metric = read_metric_settings(root.table("metric"));
  if (root.has("parallel")) stack.parallel = read_parallel_settings(root.table("parallel"));
  if (root.has("ranks")) stack.ranks = read_rank_settings(root.table("ranks"));
  read_store(root, stack.store);
  read_input(root, stack.input);
  if (root.has("parameter_server")) stack.server = read_parameter_server(root.table("parameter_server"));
  root.finish();
  if (!file.errors().empty()) return tl::make_unexpected(file.errors());
  stack.file = file.name();
  stack.sha256 = sha256_hex(file.text());
  return stack;
}

}  // namespace tbdsim
