#include <fmt/format.h>

#include "model/input/digest.hpp"
#include "model/input/known_word.hpp"
#include "model/input/read_capability.hpp"
#include "model/input/toml_reader.hpp"
#include "model/stack/nccl.hpp"
#include "model/stack/stack.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

/// A release of CUDA; empty where the key is missing. Errors: no version, and one that is far beyond all that there are.
std::string read_cuda(TomlTable& root) {
  constexpr int kMost = 20;  // 13 is the newest of the catalogue
  std::string text = root.text_or("cuda", "");
  const auto version = parse_nccl_version(text);
  if (!text.empty() && (!version || version->major > kMost))
    root.problem("cuda", fmt::format("expected a release of CUDA such as \"11.2\", at most {}, got {}", kMost, quoted(text)));
  return text;
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
  stack.cuda = read_cuda(root);
  stack.nccl = root.text_or("nccl", "");
  if (const auto version = parse_nccl_version(stack.nccl); !stack.nccl.empty() && !version)
    root.problem("nccl", version.error().front().message);
  if (root.has("vendor")) stack.vendor = read_row(root, "vendor", vendors(), "vendor").value_or(stack.vendor);
  stack.minimum_compute_capability = read_capability(root, "minimum_compute_capability");
  stack.source = root.text("source");
  stack.convolution = read_convolution_library(root.table("convolution"));
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
  stack.store = read_store_settings(root);
  stack.input = read_input_settings(root);
  if (root.has("parameter_server")) stack.server = read_parameter_server(root.table("parameter_server"));
  root.finish();
  if (!file.errors().empty()) return tl::make_unexpected(file.errors());
  stack.file = file.name();
  stack.sha256 = sha256_hex(file.text());
  return stack;
}

}  // namespace tbdsim
