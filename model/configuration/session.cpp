#include "model/configuration/session.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>

#include "model/configuration/edited_inputs.hpp"
#include "model/configuration/framework_arguments/layout_file.hpp"
#include "model/hardware/operations.hpp"
#include "model/input/digest.hpp"
#include "model/input/mapped_file.hpp"
#include "model/workload/hugging_face.hpp"
#include "model/workload/network_file.hpp"
#include "model/workload/network_writer.hpp"
#include "model/workload/onnx_import.hpp"

namespace tbdsim {
namespace {

bool has_ending(std::string_view name, std::string_view ending) {
  return name.size() > ending.size() && name.compare(name.size() - ending.size(), ending.size(), ending) == 0;
}

/// A network goes by its file's name, or by the folder's of the usual config.json.
std::string configured_name(const std::filesystem::path& path) {
  const std::string stem = path.stem().string(), folder = path.parent_path().filename().string();
  return stem == "config" && !folder.empty() ? folder : stem;
}

Result<Workload> read_workload_file(const std::string& path, const Catalogue& catalogue, const ZooOptions& options) {
  auto file = TomlFile::open(path);
  if (!file) return tl::make_unexpected(file.error());
  if (catalogue.edits) file->edit(*catalogue.edits, "model");
  const std::string digest = sha256_hex(file->text());
  auto graph = read_network(std::move(*file), options.fused_attention);
  if (!graph) return tl::make_unexpected(graph.error());
  TrainingStep step = training_step(*graph);
  return Workload{std::move(*graph), std::move(step), path, digest};
}

Result<Workload> read_onnx_file(const std::string& path, const ZooOptions& options) {
  const auto file = MappedFile::open(path);
  if (!file) return tl::make_unexpected(file.error());
  auto network = import_onnx(file->bytes(), path, std::filesystem::path(path).stem().string(), {options.image, options.seq_len});
  if (!network) return tl::make_unexpected(network.error());
  TrainingStep step = training_step(network->graph);
  return Workload{std::move(network->graph),   std::move(step),       path, std::move(network->sha256),
                  std::move(network->notices), network->extra_spread, true};
}

Result<Workload> read_configuration_file(const std::string& path, const ZooOptions& options) {
  if (options.image) return fail(fmt::format("--image {}: {} takes sequences, not images", *options.image, path));
  const auto file = MappedFile::open(path);
  if (!file) return tl::make_unexpected(file.error());
  auto network = read_hugging_face(file->bytes(), path, configured_name(path), options.seq_len, options.fused_attention);
  if (!network) return tl::make_unexpected(network.error());
  TrainingStep step = training_step(network->graph);
  return Workload{
      std::move(network->graph),      std::move(step), path, sha256_hex(file->bytes()), std::move(network->notices), 0.0, true,
      std::move(network->stored_type)};
}

/// A network of the catalogue with the values that the user changed: those of the file that it would be. Its shapes follow.
Result<Workload> with_values(OpGraph graph, const Edits* edits, bool notes) {
  const auto of_model = [](const Edit& edit) { return edit.key.starts_with("model."); };
  const bool changed = edits != nullptr && std::any_of(edits->changes.begin(), edits->changes.end(), of_model);
  const bool noted = edits != nullptr && edits->records && notes;
  if (!changed && !noted) return Workload{std::move(graph), {}, {}, {}};
  std::string text = network_toml(graph);
  std::string digest = changed ? text : "";
  if (changed)
    for (const Edit& edit : edits->changes)
      if (of_model(edit)) digest += fmt::format("{} = {}\n", edit.key, edit.literal);
  auto file = TomlFile::parse(std::move(text), graph.name);
  if (!file) return tl::make_unexpected(file.error());
  file->edit(*edits, "model");
  if (!changed) return Workload{std::move(graph), {}, {}, {}};
  auto edited = read_network(std::move(*file));
  if (!edited) return tl::make_unexpected(edited.error());
  return Workload{std::move(*edited), {}, {}, sha256_hex(digest)};
}

Result<Workload> make_workload(const Catalogue& catalogue, const std::string& name, const std::string& variant,
                               const ZooOptions& options, bool notes) {
  std::error_code error;
  if (has_ending(name, ".onnx")) return read_onnx_file(name, options);
  if (has_ending(name, ".json")) return read_configuration_file(name, options);
  const bool file = has_ending(name, ".toml");
  const bool path = file || name.find('/') != std::string::npos;
  if (path && std::filesystem::exists(name, error)) return read_workload_file(name, catalogue, options);
  const std::string wanted = file ? std::filesystem::path(name).stem().string() : name;
  const auto entry = find_network(wanted, variant);
  if (!entry) {
    if (file) return fail(fmt::format("no network file \"{}\", and {}", name, entry.error().front().message));
    return tl::make_unexpected(entry.error());
  }
  auto graph = build_network(**entry, options);
  if (!graph) return tl::make_unexpected(graph.error());
  auto workload = with_values(std::move(*graph), catalogue.edits.get(), notes);
  if (!workload) return workload;
  workload->step = training_step(workload->graph);
  return workload;
}

/// PyTorch releases of the catalogue for a vendor's devices, newest first. NGC tags are years and months; they have an
/// order of their own.
std::vector<std::string> pytorch_releases(const std::string& root, Vendor vendor) {
  constexpr std::string_view kFamily = "pytorch-";
  const std::string_view ending = info(vendor).stack_ending;
  std::vector<std::pair<int, std::string>> found;
  for (const std::string& id : catalogue_ids({root}, "stacks")) {
    if (id.substr(0, kFamily.size()) != kFamily || !has_ending(id, ending)) continue;
    const std::string version = id.substr(kFamily.size(), id.size() - kFamily.size() - ending.size());
    if (version.find_first_not_of("0123456789.") != std::string::npos) continue;
    // Minor releases have two digits: 1.13 follows 1.4.
    found.emplace_back(capability_number(version) + 1000 * std::atoi(version.c_str()), id);
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> ids;
  ids.reserve(found.size());
  for (auto& [order, id] : found) ids.push_back(std::move(id));
  return ids;
}

Result<Stack> choose_stack(const std::string& root, const Device& device) {
  const Vendor made_by = device.vendor.value_or(Vendor::nvidia);
  for (const std::string& id : pytorch_releases(root, made_by)) {
    auto stack = read_stack(fmt::format("{}/hardware/stacks/{}.toml", root, id), root);
    if (!stack) return stack;
    const bool capable = device.compute_capability.empty() ||
                         capability_number(device.compute_capability) >= capability_number(stack->minimum_compute_capability);
    if (stack->vendor == made_by && capable) return stack;
  }
  return fail(fmt::format("no PyTorch stack of the catalogue supports {} (compute capability {}); name one with --stack",
                          device.id, device.compute_capability));
}

/// The stack that was found, read again with its changes; which one it is never depends on them.
Result<Stack> with_edits(Result<Stack> found, const Catalogue& catalogue) {
  if (!found || !catalogue.edits) return found;
  auto file = open_stack(found->file, catalogue.root);
  if (!file) return tl::make_unexpected(file.error());
  file->edit(*catalogue.edits, "stack");
  auto edited = read_stack(std::move(*file));
  if (!edited) return edited;
  edited->notices = std::move(found->notices);
  edited->extra_spread = found->extra_spread;
  return edited;
}

Result<KernelConstants> read_constants(const Catalogue& catalogue) {
  auto file = TomlFile::open(catalogue.root + "/hardware/kernels.toml");
  if (!file) return tl::make_unexpected(file.error());
  if (catalogue.edits) file->edit(*catalogue.edits, "hw.kernels");
  return architectures_of(catalogue).and_then([&](const std::shared_ptr<const Architectures>& architectures) {
    return read_kernel_constants(std::move(*file), *architectures);
  });
}

/// What decides which documents a configuration reads, and so what a key may mean.
std::string readers_of(const PredictOptions& options) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", options.run, options.hardware, options.model, options.stack,
                     options.network, options.input, options.storage, options.gpus.value_or(0), options.nodes.value_or(0),
                     options.image.value_or(0), options.seq_len.value_or(0));
}

}  // namespace

Session::Session(Catalogue catalogue, bool notes_networks) : catalogue_(std::move(catalogue)), notes_networks_(notes_networks) {
  // A broken file is told by those who need it.
  if (auto read = architectures_of(catalogue_)) catalogue_.architectures = std::move(*read);
}

Session::Session(Session& unchanged, std::shared_ptr<const Edits> edits)
    : catalogue_{unchanged.catalogue_.root, std::move(edits), unchanged.catalogue_.architectures}, unchanged_(&unchanged) {}

bool Session::unchanged(std::string_view role) const {
  return unchanged_ != nullptr && std::ranges::none_of(catalogue_.edits->changes, [&](const Edit& edit) {
           return edit.key.size() > role.size() && edit.key.starts_with(role) && edit.key[role.size()] == '.';
         });
}

bool is_imported_file(std::string_view name) { return has_ending(name, ".onnx") || has_ending(name, ".json"); }

Errors in_stack(const Stack& stack, Errors errors) {
  for (Error& error : errors)
    if (error.where.file.empty()) error = {fmt::format("nccl: {}", error.message), {stack.file, 0, 0}, {}, 0};
  return errors;
}

template <class Value, class Make>
std::shared_ptr<const Result<Value>> Session::cached(Cache<Value>& cache, const std::string& key, const Make& make,
                                                     bool keeps_errors) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = cache.find(key); found != cache.end()) return found->second;
  }
  auto made = std::make_shared<const Result<Value>>(make());
  if (!keeps_errors && !*made) return made;
  const std::lock_guard lock(mutex_);
  // Another thread may have been faster; both made the same value.
  return cache.emplace(key, std::move(made)).first->second;
}

std::shared_ptr<const Result<System>> Session::system(const std::string& name, int gpus) {
  if (unchanged("hw")) return unchanged_->system(name, gpus);
  return cached<System>(systems_, fmt::format("{}\n{}", name, gpus), [&] { return load_system(catalogue_, name, gpus); });
}

std::shared_ptr<const Result<Network>> Session::network(const std::string& name) {
  return cached<Network>(networks_, name, [&] { return load_network(catalogue_, name); });
}

std::shared_ptr<const Result<Stack>> Session::stack(const std::string& name) {
  if (unchanged("stack")) return unchanged_->stack(name);
  return cached<Stack>(stacks_, name, [&] { return with_edits(load_stack(catalogue_.root, name), catalogue_); });
}

std::shared_ptr<const Result<Stack>> Session::default_stack(const Device& device) {
  if (unchanged("stack")) return unchanged_->default_stack(device);
  return cached<Stack>(stacks_, fmt::format("\n{} {}", name(device.vendor), device.compute_capability),
                       [&] { return with_edits(choose_stack(catalogue_.root, device), catalogue_); });
}

std::shared_ptr<const Result<Workload>> Session::workload(const std::string& name, const std::string& variant,
                                                          const ZooOptions& options) {
  if (unchanged("model")) return unchanged_->workload(name, variant, options);
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", name, variant, options.image.value_or(0), options.classes.value_or(0),
                  options.seq_len.value_or(0), options.fused_attention, options.later_code);
  return cached<Workload>(workloads_, key, [&] { return make_workload(catalogue_, name, variant, options, notes_networks_); });
}

std::shared_ptr<const Result<KernelConstants>> Session::constants() {
  if (unchanged("hw.kernels")) return unchanged_->constants();
  return cached<KernelConstants>(constants_, "", [&] { return read_constants(catalogue_); });
}

std::shared_ptr<const Result<std::vector<Price>>> Session::prices() {
  return cached<std::vector<Price>>(prices_, "", [&] { return load_prices(catalogue_); });
}

std::shared_ptr<const Result<NcclLibrary>> Session::nccl(const std::string& version, const std::string& architecture) {
  if (unchanged_ != nullptr) return unchanged_->nccl(version, architecture);
  return cached<NcclLibrary>(nccl_, version + "\n" + architecture,
                             [&] { return load_nccl(catalogue_.root, version, architecture); });
}

std::shared_ptr<const Result<Operations>> Session::operations() {
  return cached<Operations>(operations_, "", [&] { return load_operations(catalogue_); });
}

std::shared_ptr<const Result<LayoutFile>> Session::layout_file(const std::string& path) {
  return cached<LayoutFile>(layout_files_, path, [&] { return read_layout_file(catalogue_.root, path); });
}

// What is wrong may lie in options that the key leaves out.
constexpr bool kKeepsErrors = false;

std::shared_ptr<const Result<std::vector<DocumentRecord>>> Session::documents(
    const PredictOptions& options, bool networks, const std::function<Result<std::vector<DocumentRecord>>()>& make) {
  return cached<std::vector<DocumentRecord>>(documents_, fmt::format("{}\n{}", readers_of(options), networks), make,
                                             kKeepsErrors);
}

std::shared_ptr<const Result<EditedInputs>> Session::edited(const PredictOptions& options,
                                                            const std::function<Result<EditedInputs>()>& make) {
  return cached<EditedInputs>(edited_, fmt::format("{}\n{}", readers_of(options), fmt::join(options.set, "\n")), make,
                              kKeepsErrors);
}

std::shared_ptr<Session> open_session(const Catalogue& catalogue) { return std::make_shared<Session>(catalogue); }

std::shared_ptr<Session> session_with_prices(const Session& session, const std::string& prices) {
  if (prices.empty() || session.catalogue().own_prices == prices) return nullptr;
  Catalogue catalogue = session.catalogue();
  catalogue.own_prices = prices;
  return open_session(catalogue);
}

}  // namespace tbdsim
