#include "model/hardware/storage.hpp"

#include "model/hardware/hardware_file.hpp"
#include "model/hardware/lookup.hpp"

namespace tbdsim {
namespace {

constexpr std::int64_t kMostReads = 65'536;  // the queue of an NVMe device

Storage read_storage(TomlTable& table, std::string id) {
  Storage storage;
  storage.id = std::move(id);
  storage.name = table.text("name");
  storage.kind = table.text("kind");
  storage.interface_bandwidth = table.quantity_if<BytesPerSecond>("interface_bandwidth");
  storage.sequential_read = table.quantity_if<BytesPerSecond>("sequential_read");
  storage.random_read = table.quantity_if<BytesPerSecond>("random_read");
  storage.access = table.quantity_if<Seconds>("access", kNotNegative);
  storage.at_once = static_cast<int>(table.integer_or("at_once", 1, 1, kMostReads));
  storage.shared = table.boolean_or("shared", false);
  storage.source = table.text("source");
  storage.access_source = table.text_or("access_source", storage.source);
  storage.notes = table.text_or("notes", "");
  return storage;
}

}  // namespace

Result<Storage> load_storage(const Catalogue& catalogue, const std::string& name) {
  const auto path = find_entry(catalogue, kStorage, name, ".");
  if (!path) return tl::make_unexpected(path.error());
  auto file = TomlFile::open(*path);
  if (!file) return tl::make_unexpected(file.error());
  if (catalogue.edits) file->edit(*catalogue.edits, "hw.storage");
  TomlTable root = file->root();
  (void)root.integer("schema", kHardwareSchema, kHardwareSchema);
  Storage storage = read_storage(root, stem_of(*path));
  root.finish();
  if (!file->errors().empty()) return tl::make_unexpected(file->errors());
  return storage;
}

Result<std::vector<DataPathStage>> load_data_path(const Catalogue& catalogue) {
  auto file = TomlFile::open(catalogue.root + "/hardware/data_path.toml");
  if (!file) return tl::make_unexpected(file.error());
  TomlTable root = file->root();
  (void)root.integer("schema", kHardwareSchema, kHardwareSchema);
  std::vector<DataPathStage> stages;
  for (TomlTable& table : root.tables_or_empty("stage")) {
    stages.push_back(
        {table.text("name"), table.quantity<BytesPerSecond>("bandwidth"), table.text("source"), table.text_or("notes", "")});
  }
  root.finish();
  if (!file->errors().empty()) return tl::make_unexpected(file->errors());
  return stages;
}

}  // namespace tbdsim
