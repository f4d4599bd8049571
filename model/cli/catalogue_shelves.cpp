#include "model/cli/catalogue_shelves.hpp"

#include <fmt/format.h>

#include "model/hardware/lookup.hpp"

namespace tbdsim {
namespace {

std::vector<std::string> model_ids(const Catalogue&) {
  std::vector<std::string> ids;
  for (const ZooEntry& entry : zoo()) ids.push_back(fmt::format("{}@{}", entry.name, entry.variant));
  return ids;
}

Result<std::string> resolve_model(const Catalogue&, const std::string& words) {
  return find_network(words, "torchvision").map([](const ZooEntry* entry) {
    return fmt::format("{}@{}", entry->name, entry->variant);
  });
}

Result<CatalogueEntry> describe_model(const Catalogue&, const std::string& id) {
  const auto entry = find_network(id, "");
  if (!entry) return tl::make_unexpected(entry.error());
  return (*entry)->build(**entry, {}).map([&](const OpGraph& graph) {
    CatalogueEntry described = describe(**entry);
    add_structure(**entry, graph, described);
    return described;
  });
}

template <const Shelf& kShelf>
std::vector<std::string> shelf_ids(const Catalogue& catalogue) {
  return catalogue_ids(catalogue, kShelf.folder);
}
template <const Shelf& kShelf>
Result<std::string> resolve_shelf(const Catalogue& catalogue, const std::string& words) {
  return resolve_entry(catalogue, kShelf, words);
}

Result<System> load_catalogue_system(const Catalogue& catalogue, const std::string& id) { return load_system(catalogue, id); }
Result<Stack> load_catalogue_stack(const Catalogue& catalogue, const std::string& id) { return load_stack(catalogue.root, id); }

template <auto kLoad>
Result<CatalogueEntry> describe_loaded(const Catalogue& catalogue, const std::string& id) {
  return kLoad(catalogue, id).map([](const auto& loaded) { return describe(loaded); });
}

std::vector<std::string> data_path_ids(const Catalogue& catalogue) {
  std::vector<std::string> ids;
  if (const auto stages = load_data_path(catalogue)) {
    for (const DataPathStage& stage : *stages) ids.push_back(stage.name);
  }
  return ids;
}
Result<std::string> resolve_data_path(const Catalogue& catalogue, const std::string& words) {
  return resolve_name(words, data_path_ids(catalogue), "part of the data path");
}
Result<CatalogueEntry> describe_data_path(const Catalogue& catalogue, const std::string& id) {
  return load_data_path(catalogue).and_then([&](const std::vector<DataPathStage>& stages) -> Result<CatalogueEntry> {
    for (const DataPathStage& stage : stages) {
      if (stage.name == id) return describe(stage);
    }
    return fail(fmt::format("no part of the data path called \"{}\"", id));
  });
}

const Shelf kStacks{"stacks", "stack"};

/// By the catalogue's own names, else by another that --stack takes for exactly this one, such as mxnet-18.04.
Result<std::string> resolve_stack(const Catalogue& catalogue, const std::string& words) {
  auto id = resolve_shelf<kStacks>(catalogue, words);
  if (id) return id;
  const auto stack = load_stack(catalogue.root, words);
  return stack && stack->notices.empty() ? resolve_shelf<kStacks>(catalogue, stack->id) : id;
}

std::vector<std::string> input_ids(const Catalogue& catalogue) {
  std::vector<std::string> ids;
  if (const auto inputs = load_inputs(catalogue)) {
    for (const InputSource& input : *inputs) ids.push_back(input.name);
  }
  return ids;
}

Result<std::string> resolve_input(const Catalogue& catalogue, const std::string& words) {
  return load_input(catalogue, words).map([](const InputSource& input) { return input.name; });
}

}  // namespace

const std::vector<CatalogueKind>& catalogue_kinds() {
  static const std::vector<CatalogueKind> kKinds{
      {"gpus", shelf_ids<kGpus>, resolve_shelf<kGpus>, describe_loaded<load_device>},
      {"systems", shelf_ids<kSystems>, resolve_shelf<kSystems>, describe_loaded<load_catalogue_system>},
      {"networks", shelf_ids<kNetworks>, resolve_shelf<kNetworks>, describe_loaded<load_network>},
      {"hosts", shelf_ids<kHosts>, resolve_shelf<kHosts>, describe_loaded<load_host>},
      {"storage", shelf_ids<kStorage>, resolve_shelf<kStorage>, describe_loaded<load_storage>},
      {"inputs", input_ids, resolve_input, describe_loaded<load_input>},
      {"data-paths", data_path_ids, resolve_data_path, describe_data_path},
      {"stacks", shelf_ids<kStacks>, resolve_stack, describe_loaded<load_catalogue_stack>},
      {"models", model_ids, resolve_model, describe_model},
  };
  return kKinds;
}

}  // namespace tbdsim
