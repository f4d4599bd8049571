#include "model/workload/zoo/zoo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "model/support/edit_distance.hpp"
#include "model/support/find_named.hpp"
#include "model/workload/op_counts.hpp"
#include "model/workload/zoo/families.hpp"

namespace tbdsim {
namespace {

/// Sorted by name, then variant. Entries are large: their addresses are sorted, and each moves once.
std::vector<ZooEntry> sorted(std::vector<ZooEntry> entries) {
  std::vector<ZooEntry*> order;
  order.reserve(entries.size());
  for (ZooEntry& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(),
            [](const ZooEntry* a, const ZooEntry* b) { return std::tie(a->name, a->variant) < std::tie(b->name, b->variant); });
  std::vector<ZooEntry> in_order;
  in_order.reserve(order.size());
  for (ZooEntry* entry : order) in_order.push_back(std::move(*entry));
  return in_order;
}

// Long because every family of networks has a line.
std::vector<ZooEntry> all_entries() {
  constexpr std::size_t kRoom = 512;  // more than there are, so that none moves while the list grows
  std::vector<ZooEntry> entries;
  entries.reserve(kRoom);
  append_alexnet(entries);
  append_bert(entries);
  append_convmixer(entries);
  append_convnext(entries);
  append_cspdarknet(entries);
  append_deberta(entries);
  append_deep_speech(entries);
  append_densenet(entries);
  append_detection(entries);
  append_detectron(entries);
  append_gemma(entries);
  append_diffusion_unet(entries);
  append_dla(entries);
  append_dpn(entries);
  append_efficientdet(entries);
  append_ghostnet(entries);
  append_googlenet(entries);
  append_googlenet_plain(entries);
  append_gpt(entries);
  append_hugging_face(entries);
  append_image_transformer(entries);
  append_inception_bn(entries);
  append_inception_resnet_v2(entries);
  append_inception_tf(entries);
  append_inception_v3(entries);
  append_inception_v3_mxnet(entries);
  append_inverted_residual(entries);
  append_jasper(entries);
  append_lenet(entries);
  append_llama(entries);
  append_megatron(entries);
  append_mixtures(entries);
  append_mnasnet(entries);
  append_mobilenet_v2(entries);
  append_mobilenet_v3(entries);
  append_nfnet(entries);
  append_other_tasks(entries);
  append_overfeat(entries);
  append_phi(entries);
  append_patch_mixers(entries);
  append_preresnet(entries);
  append_recurrent_translation(entries);
  append_regnet(entries);
  append_repvgg(entries);
  append_res2net(entries);
  append_resnet(entries);
  append_resnet_mxnet(entries);
  append_resnet_tf(entries);
  append_shufflenet_v2(entries);
  append_squeezenet(entries);
  append_swin(entries);
  append_t5(entries);
  append_tacotron2(entries);
  append_text_encoders(entries);
  append_tnt(entries);
  append_torchbench(entries);
  append_dlrm(entries);
  append_transformer(entries);
  append_transformer_xl(entries);
  append_vgg(entries);
  append_vision_transformer(entries);
  append_waveglow(entries);
  append_whisper(entries);
  append_xlnet(entries);
  return sorted(std::move(entries));
}

/// Distinct names, in order, for which `accept` holds.
template <class Accept>
std::vector<std::string> names_where(Accept accept) {
  std::vector<std::string> names;
  for (const ZooEntry& entry : zoo())
    if (accept(entry) && (names.empty() || names.back() != entry.name)) names.push_back(entry.name);
  return names;
}

std::vector<const ZooEntry*> variants_of(std::string_view name) {
  std::vector<const ZooEntry*> found;
  for (const ZooEntry& entry : zoo())
    if (entry.name == name) found.push_back(&entry);
  return found;
}

bool same_but_for_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

/// The catalogue's spelling of a user's name.
Result<std::string> resolve_name(std::string_view wanted) {
  if (!variants_of(wanted).empty()) return std::string(wanted);
  const std::string folded = fold_name(wanted);
  const std::vector<std::string> matches = names_where([&](const ZooEntry& entry) { return fold_name(entry.name) == folded; });
  if (matches.size() == 1) return matches.front();
  for (const std::string& match : matches)
    if (same_but_for_case(match, wanted)) return match;
  if (matches.size() > 1) return fail(fmt::format("network \"{}\" fits several: {}", wanted, fmt::join(matches, ", ")));
  const std::vector<std::string> known = names_where([](const ZooEntry&) { return true; });
  return fail(fmt::format("unknown network \"{}\"{}", wanted,
                          name_hint(wanted, known, "`tbdsim list models`; files of your own end in .onnx, .toml or .json")));
}

const ZooEntry* of_variant(const std::vector<const ZooEntry*>& entries, std::string_view variant) {
  for (const ZooEntry* entry : entries)
    if (entry->variant == variant) return entry;
  return nullptr;
}

}  // namespace

const std::vector<ZooEntry>& zoo() {
  static const std::vector<ZooEntry> entries = all_entries();
  return entries;
}

Result<const ZooEntry*> find_network(std::string_view name, std::string_view preferred_variant) {
  const std::size_t at = name.find('@');
  const auto resolved = resolve_name(name.substr(0, at));
  if (!resolved) return tl::make_unexpected(resolved.error());
  const std::vector<const ZooEntry*> variants = variants_of(*resolved);
  if (at != std::string_view::npos) {
    const std::string_view variant = name.substr(at + 1);
    if (const ZooEntry* entry = of_variant(variants, variant)) return entry;
    std::vector<std::string> known;
    known.reserve(variants.size());
    for (const ZooEntry* entry : variants) known.push_back(entry->variant);
    return fail(fmt::format("network \"{}\" has no variant \"{}\"; it has {}", *resolved, variant, fmt::join(known, ", ")));
  }
  if (const ZooEntry* entry = of_variant(variants, preferred_variant)) return entry;
  for (const std::string_view usual : {"torchvision", "pytorch"})
    if (const ZooEntry* entry = of_variant(variants, usual)) return entry;
  return variants.front();
}

Result<OpGraph> build_network(const ZooEntry& entry, const ZooOptions& options) {
  if (options.seq_len && entry.seq_len == 0)
    return fail(fmt::format("--seq-len {}: {} takes {}, not sequences", *options.seq_len, entry.name,
                            entry.image > 0 ? "images" : "inputs of one size"));
  if (options.image && entry.image == 0)
    return fail(fmt::format("--image {}: {} takes {}, not images", *options.image, entry.name,
                            entry.seq_len > 0 ? "sequences" : "inputs of one size"));
  auto graph = entry.build(entry, options);
  if (!graph || !options.image) return graph;
  // Detectors and generators are defined at one size.
  const Shape& input = graph->tensors.front().shape;
  if (std::find(input.begin(), input.end(), *options.image) == input.end())
    return fail(fmt::format("--image {}: {} takes inputs of {} only", *options.image, entry.name, to_text(input)));
  return graph;
}

ZooEntry image_classifier(std::string name, std::string variant, std::string source,
                          Result<OpGraph> (*build)(const ZooEntry&, const ZooOptions&), int image) {
  ZooEntry entry;
  entry.name = std::move(name);
  entry.variant = std::move(variant);
  entry.application = "image classification";
  entry.dataset = "ImageNet";
  entry.image = image;
  entry.source = std::move(source);
  entry.build = build;
  return entry;
}

ZooEntry sequence_entry(std::string name, std::string variant, std::string application, std::string dataset, int seq_len,
                        int batch, std::string source, Result<OpGraph> (*build)(const ZooEntry&, const ZooOptions&)) {
  ZooEntry entry;
  entry.name = std::move(name);
  entry.variant = std::move(variant);
  entry.application = std::move(application);
  entry.dataset = std::move(dataset);
  entry.image = 0;
  entry.seq_len = seq_len;
  entry.default_batch = batch;
  entry.source = std::move(source);
  entry.build = build;
  return entry;
}

std::int64_t sequence_length(const ZooEntry& entry, const ZooOptions& options) { return options.seq_len.value_or(entry.seq_len); }

GraphBuilder token_builder(const ZooEntry& entry, const ZooOptions& options, std::string input_unit) {
  constexpr std::int64_t kMostSteps = 1000000;  // far beyond any trained sequence; keeps all counts exact
  const std::int64_t wanted = sequence_length(entry, options);
  const std::int64_t steps = std::min(wanted, kMostSteps);
  GraphBuilder g(entry.name, entry.variant, std::move(input_unit), Shape{steps}, entry.default_batch);
  if (wanted > steps) g.problem(fmt::format("input: expected a sequence of at most {} steps, got {}", kMostSteps, wanted));
  return g;
}

int depth(const OpGraph& graph) {
  std::vector<int> until(graph.tensors.size(), 0);
  int most = 0;
  for (const Op& op : graph.ops) {
    const OpFamily family = info(op.kind).family;
    const auto* recurrent = std::get_if<RecurrentAttributes>(&op.attributes);
    int& here = until[static_cast<std::size_t>(op.output.value)];
    for (const TensorId input : op.inputs) here = std::max(here, until[static_cast<std::size_t>(input.value)]);
    if (recurrent != nullptr) {
      here += static_cast<int>(recurrent->layers);
    } else if (family == OpFamily::convolution || op.kind == OpKind::linear) {
      ++here;
    }
    most = std::max(most, here);
  }
  return most;
}

std::string_view dominant_layer(const OpGraph& graph) {
  std::array<double, kOpKindCount> work{};
  const TrainingStep step = training_step(graph);
  for (const auto* nodes : {&step.forward, &step.backward})
    for (const StepNode& node : *nodes)
      work[static_cast<std::size_t>(graph.op(node.op).kind)] += flop_per_sample(graph, node).base();
  const auto most = std::max_element(work.begin(), work.end()) - work.begin();
  return info(static_cast<OpKind>(most)).name;
}

GraphBuilder image_builder(const ZooEntry& entry, const ZooOptions& options, std::int64_t channels) {
  // No image of any published data set comes near; below it all counts are exact in 64 bits.
  constexpr std::int64_t kMostPixels = 65536;
  const std::int64_t wanted = options.image.value_or(entry.image);
  const std::int64_t side = std::min(wanted, kMostPixels);
  GraphBuilder graph(entry.name, entry.variant, "image", Shape{channels, side, side}, entry.default_batch);
  if (wanted > side) graph.problem(fmt::format("input: expected an image side of at most {}, got {}", kMostPixels, wanted));
  return graph;
}

TensorId adaptive_average_pool(GraphBuilder& graph, TensorId x, std::int64_t side, std::string name) {
  const Shape in = graph.shape(x);
  if (in.size() != 3) return x;  // only after an earlier problem
  const std::int64_t stride_h = in[1] / side;
  const std::int64_t stride_w = in[2] / side;
  if (stride_h < 1 || stride_w < 1) {
    graph.problem(fmt::format("{}: expects at least {}x{} pixels, got {}x{}", name, side, side, in[1], in[2]));
    return x;
  }
  const PoolAttributes attributes{
      PoolKind::average, in[1] - (side - 1) * stride_h, in[2] - (side - 1) * stride_w, stride_h, stride_w, 0, 0, false};
  return graph.pool(x, attributes, std::move(name));
}

std::int64_t round_to_eight(double value) {
  constexpr std::int64_t kDivisor = 8;
  const std::int64_t nearest = std::max(kDivisor, static_cast<std::int64_t>(value + kDivisor / 2.0) / kDivisor * kDivisor);
  return static_cast<double>(nearest) < 0.9 * value ? nearest + kDivisor : nearest;
}

}  // namespace tbdsim
