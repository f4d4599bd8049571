#include <fmt/format.h>

#include "model/report/catalogue_entry.hpp"

namespace tbdsim {
namespace {

std::string names(const std::vector<ConvolutionAlgorithm>& algorithms) {
  std::string text;
  for (const ConvolutionAlgorithm algorithm : algorithms) text += fmt::format("{}{}", text.empty() ? "" : ", ", name(algorithm));
  return text;
}

std::string name(MemoryPlan plan) {
  switch (plan) {
    case MemoryPlan::mxnet:
      return "mxnet";
    case MemoryPlan::caching_allocator:
      return "caching_allocator";
    case MemoryPlan::bfc:
      return "bfc";
    case MemoryPlan::blobs:
      return "blobs";
  }
  return "";
}

}  // namespace

CatalogueEntry describe(const Stack& s) {
  CatalogueEntry entry{"stack", s.id, s.id, s.source, {}, {}};
  entry.add_text("framework", "framework", std::string(name(s.framework)), true);
  entry.add_text("version", "version", s.version, true);
  entry.add_text("variant", "variant", s.variant);
  entry.add_text("CUDA", "cuda", s.cuda, true);
  entry.add_text("vendor of its devices", "vendor", std::string(name(s.vendor)));
  entry.add_text("compute capability from", "minimum_compute_capability", s.minimum_compute_capability);
  entry.add_text("convolution library", "convolution_library", s.convolution.name, true);
  entry.add_text("convolutions, forward", "convolution_forward", names(s.convolution.forward));
  entry.add_text("convolutions, backward data", "convolution_backward_data", names(s.convolution.backward_data));
  entry.add_text("convolutions, backward weights", "convolution_backward_weights", names(s.convolution.backward_weights));
  entry.add("convolution workspace at most", "convolution_workspace_bytes", s.convolution.workspace_limit);
  entry.add_text("network definitions", "zoo_variant", s.zoo_variant);
  entry.add_text("host and device", "host_coupling", s.host.coupling == HostCoupling::queued ? "queued" : "serialized");
  entry.add("dispatch per operator", "dispatch_s", std::optional(s.host.dispatch), true);
  if (s.engine.operation > Seconds(0.0))
    entry.add("dispatch per engine operation", "engine_operation_s", std::optional(s.engine.operation));
  entry.add("dispatch per update kernel", "update_dispatch_s", std::optional(s.host.update_dispatch));
  entry.add_flag("fuses batch norm and ReLU", "fuses_batch_norm_relu", s.operators.fusion.batch_norm_relu);
  entry.add_flag("fuses elementwise operators", "fuses_elementwise", s.operators.fusion.elementwise);
  entry.add_flag("compiles kernels", "compiles_kernels", s.operators.loads.compiles_kernels);
  entry.add_flag("channels last", "channels_last", s.operators.order.channels_last);
  if (s.operators.order.channels_last_in_16_bits)
    entry.add_flag("channels last in 16 bits", "channels_last_in_16_bits", s.operators.order.channels_last_in_16_bits);
  entry.add_text("memory plan", "memory_plan", name(s.memory.plan));
  entry.add("context", "context_bytes", std::optional(s.memory.context));
  entry.add("start-up of a run", "start_up_s", std::optional(s.host.start_up));
  entry.add_text("NCCL", "nccl", s.nccl);
  entry.add("exchange bucket", "exchange_bucket_bytes", std::optional(s.exchange.bucket));
  entry.add_flag("exchange overlaps backward", "exchange_overlaps", s.exchange.overlaps);
  return entry;
}

namespace {

/// Counts of the whole network, and of its layers.
void add_counts(const OpGraph& graph, CatalogueEntry& entry) {
  WorkloadSummary summary = summarize_workload(graph);
  entry.add_count("parameters", "parameters", summary.parameters);
  entry.add_count("parameter arrays", "parameter_arrays", summary.parameter_arrays);
  entry.add_count("multiply-adds per sample, forward", "forward_macs_per_sample", summary.macs.forward);
  entry.add_count("multiply-adds per sample, backward", "backward_macs_per_sample", summary.macs.backward);
  entry.add("kept for backward per sample, fp32", "saved_bytes_per_sample", std::optional(summary.saved_per_sample));
  entry.add("kept for backward per step, fp32", "saved_bytes_fixed", std::optional(summary.saved_fixed));
  entry.layers = std::move(summary.layers);
}

}  // namespace

void add_structure(const ZooEntry& model, const OpGraph& graph, CatalogueEntry& entry) {
  entry.add_text("layers", "layers", model.layers.empty() ? std::to_string(depth(graph)) : model.layers, true);
  const std::string_view dominant = model.dominant_layer.empty() ? dominant_layer(graph) : std::string_view(model.dominant_layer);
  entry.add_text("dominant layer by work", "dominant_layer", std::string(dominant), true);
}

CatalogueEntry describe(const ZooEntry& model) {
  CatalogueEntry entry{"model", fmt::format("{}@{}", model.name, model.variant), model.name, model.source, {}, {}};
  entry.add_text("variant", "variant", model.variant);
  entry.add_text("application", "application", model.application, true);
  entry.add_text("data set", "dataset", model.dataset, true);
  if (model.image > 0) entry.add_count("image side", "image", model.image);
  if (model.seq_len > 0) entry.add_count("sequence length", "seq_len", model.seq_len);
  entry.add_count("default batch", "default_batch", model.default_batch);
  return entry;
}

CatalogueEntry describe(const ZooEntry& model, const OpGraph& graph) {
  CatalogueEntry entry = describe(model);
  add_structure(model, graph, entry);
  for (Fact& fact : entry.facts) {
    if ((fact.key != "image" && fact.key != "seq_len") || graph.ops.empty()) continue;
    fact = {"input of one sample",
            "input_shape",
            to_text(graph.output_shape(graph.ops.front())),
            to_text(graph.output_shape(graph.ops.front())),
            {},
            false};
  }
  add_counts(graph, entry);
  return entry;
}

CatalogueEntry describe_file(const std::string& file, const OpGraph& graph) {
  CatalogueEntry entry{"model", graph.name, graph.name, file, {}, {}};
  entry.add_text("variant", "variant", graph.variant);
  entry.add_text("input of one sample", "input_shape", to_text(graph.output_shape(graph.ops.front())));
  entry.add_count("default batch", "default_batch", graph.default_batch);
  add_structure(ZooEntry{}, graph, entry);
  add_counts(graph, entry);
  return entry;
}

}  // namespace tbdsim
