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

void read_host(TomlTable table, Stack& stack) {
  const std::string coupling = table.text("coupling");
  if (coupling == "serialized")
    stack.coupling = HostCoupling::serialized;
  else if (coupling != "queued")
    table.problem("coupling", fmt::format("expected \"queued\" or \"serialized\", got \"{}\"", coupling));
  stack.eager = table.boolean_or("eager", false);
  stack.dispatch = table.quantity<Seconds>("dispatch", kNotNegative);
  stack.update_dispatch = table.quantity<Seconds>("update_dispatch", kNotNegative);
  stack.start_up = table.quantity<Seconds>("start_up", kNotNegative);
  (void)table.text("source");
  table.finish();
}

void read_operators(TomlTable table, Stack& stack) {
  stack.fuses_batch_norm_relu = table.boolean_or("fuses_batch_norm_relu", false);
  stack.fuses_elementwise = table.boolean_or("fuses_elementwise", false);
  stack.compiles_kernels = table.boolean_or("compiles_kernels", false);
  stack.inplace_activation = table.boolean_or("inplace_activation", true);
  stack.channels_last = table.boolean_or("channels_last", false);
  stack.turns_filters = table.boolean_or("turns_filters", false);
  stack.separate_bias = table.boolean_or("separate_bias", true);
  stack.batch_norm_forward_passes = table.number_or("batch_norm_forward_passes", 3, kPositive);
  stack.batch_norm_backward_passes = table.number_or("batch_norm_backward_passes", 5, kPositive);
  stack.fuses_linear_bias = table.boolean_or("fuses_linear_bias", false);
  stack.fused_attention = table.boolean_or("fused_attention", false);
  stack.amp_16_bit = table.boolean_or("amp_16_bit", false);
  stack.vectorizes_16_bit = table.boolean_or("vectorizes_16_bit", true);
  stack.dropout_forward_passes = table.number_or("dropout_forward_passes", 3, kPositive);
  stack.dropout_backward_passes = table.number_or("dropout_backward_passes", 3, kPositive);
  stack.softmax_backward_passes = table.number_or("softmax_backward_passes", 3, kPositive);
  const std::string recurrent = table.text_or("recurrent", "library");
  if (recurrent == "cells")
    stack.recurrent = RecurrentKernels::cells;
  else if (recurrent != "library")
    table.problem("recurrent", fmt::format("expected \"library\" or \"cells\", got \"{}\"", recurrent));
  stack.persistent_recurrent = table.boolean_or("persistent_recurrent", false);
  (void)table.text("source");
  table.finish();
}

void read_update(TomlTable table, Stack& stack) {
  const std::string kind = table.text("kind");
  if (kind == "multi_tensor")
    stack.update = UpdateKind::multi_tensor;
  else if (kind != "per_array")
    table.problem("kind", fmt::format("expected \"per_array\" or \"multi_tensor\", got \"{}\"", kind));
  stack.update_kernels_per_array = static_cast<int>(table.integer("kernels_per_array", 1, 16));
  stack.update_passes_sgd_momentum = table.number("passes_sgd_momentum", kPositive);
  stack.update_fuses_loops = table.boolean_or("fuses_loops", false);
  stack.update_checks_overflow = table.boolean_or("checks_overflow", false);
  stack.update_extra_passes = table.number_or("extra_passes", 0, kNotNegative);
  stack.gradient_passes = table.number_or("gradient_passes", 0, kNotNegative);
  stack.gradient_kernels = stack.gradient_passes > 0 ? static_cast<int>(table.integer("gradient_kernels", 1, 16)) : 0;
  (void)table.text("source");
  table.finish();
}

void read_memory(TomlTable table, Stack& stack) {
  const std::string plan = table.text("plan");
  if (plan == "mxnet")
    stack.memory_plan = MemoryPlan::mxnet;
  else if (plan == "bfc")
    stack.memory_plan = MemoryPlan::bfc;
  else if (plan == "blobs")
    stack.memory_plan = MemoryPlan::blobs;
  else if (plan != "caching_allocator")
    table.problem("plan", fmt::format("expected \"mxnet\", \"bfc\", \"caching_allocator\" or \"blobs\", got \"{}\"", plan));
  stack.context = table.quantity<Bytes>("context", kNotNegative);
  stack.context_per_thread = table.quantity_if<Bytes>("context_per_thread").value_or(Bytes(0.0));
  stack.training_start = table.quantity_if<Bytes>("training_start").value_or(Bytes(0.0));
  if (table.has("batches_on_device")) stack.batches_on_device = static_cast<int>(table.integer("batches_on_device", 1, 64));
  stack.keeps_gradients = table.boolean_or("keeps_gradients", false);
  stack.adam_arrays = table.number_or("adam_arrays", 0, kNotNegative);
  stack.flattens_gradients = table.boolean_or("flattens_gradients", false);
  (void)table.text("source");
  table.finish();
}

void read_exchange(TomlTable table, Stack& stack) {
  stack.exchange_bucket = table.quantity<Bytes>("bucket", kNotNegative);
  stack.exchange_overlaps = table.boolean_or("overlaps_backward", true);
  stack.exchange_copies_all = table.boolean_or("copies_all_gradients", false);
  stack.exchange_first_bucket = table.quantity_if<Bytes>("first_bucket").value_or(Bytes(0.0));
  stack.exchange_amp_16_bit = table.boolean_or("amp_16_bit", false);
  stack.exchange_cycle = table.quantity_if<Seconds>("cycle").value_or(Seconds(0.0));
  if (table.has("launch")) stack.exchange_launch = table.text("launch");
  if (table.has("overlap_cost")) stack.exchange_overlap_cost = table.number("overlap_cost", kNotNegative);
  (void)table.text("source");
  table.finish();
}

Framework read_framework(TomlTable& root) {
  std::vector<std::string_view> names;
  for (const FrameworkInfo& row : frameworks()) names.push_back(row.name);
  return parse_framework(read_known_word(root, "framework", names, "framework")).value_or(Stack{}.framework);
}

}  // namespace

Result<Stack> read_stack(TomlFile file) {
  TomlTable root = file.root();
  Stack stack;
  (void)root.integer("schema", 1, 1);
  stack.id = root.text("name");
  stack.framework = read_framework(root);
  stack.version = root.text("version");
  stack.variant = root.text_or("variant", "");
  stack.zoo_variant = root.text("zoo_variant");
  stack.cuda = root.text_or("cuda", "");
  stack.nccl = root.text_or("nccl", "");
  if (const auto version = parse_nccl_version(stack.nccl); !stack.nccl.empty() && !version)
    root.problem("nccl", version.error().front().message);
  stack.vendor = root.text_or("vendor", "NVIDIA");
  stack.minimum_compute_capability = root.text_or("minimum_compute_capability", "");
  stack.source = root.text("source");
  stack.convolution = read_convolution(root.table("convolution"));
  read_host(root.table("host"), stack);
  read_operators(root.table("operators"), stack);
  read_update(root.table("update"), stack);
  read_memory(root.table("memory"), stack);
  read_exchange(root.table("exchange"), stack);
  if (root.has("engine")) stack.engine = read_engine_settings(root.table("engine"));
  if (root.has("metric")) stack.metric = read_metric_settings(root.table("metric"));
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

Result<Stack> read_stack(const std::string& path) {
  auto file = TomlFile::open(path);
  if (!file) return tl::make_unexpected(file.error());
  return read_stack(std::move(*file));
}

}  // namespace tbdsim
