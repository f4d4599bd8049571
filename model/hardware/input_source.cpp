#include "model/hardware/input_source.hpp"

#include <fmt/format.h>

#include "model/hardware/hardware_file.hpp"
#include "model/hardware/lookup.hpp"
#include "model/support/find_named.hpp"

namespace tbdsim {
namespace {

constexpr std::int64_t kMostSamples = 1'000'000'000'000;

SampleAccess read_access(TomlTable& table) {
  const std::string access = table.text_or("access", "records");
  if (access != "records" && access != "files")
    table.problem("access", fmt::format("expected \"records\" or \"files\", got \"{}\"", access));
  return access == "files" ? SampleAccess::files : SampleAccess::records;
}

}  // namespace

Result<std::vector<InputSource>> load_inputs(const Catalogue& catalogue) {
  auto file = TomlFile::open(catalogue.root + "/hardware/inputs.toml");
  if (!file) return tl::make_unexpected(file.error());
  if (catalogue.edits) file->edit(*catalogue.edits, "hw.inputs");
  TomlTable root = file->root();
  (void)root.integer("schema", kHardwareSchema, kHardwareSchema);
  std::vector<InputSource> inputs;
  for (TomlTable& table : root.tables_or_empty("input")) {
    InputSource input;
    input.name = table.text("name");
    input.unit = table.text_or("unit", input.unit);
    input.environment = table.boolean_or("environment", false);
    if (!input.environment) input.stored = table.quantity<Bytes>("stored");
    input.access = read_access(table);
    if (table.has("samples")) input.samples = table.integer("samples", 1, kMostSamples);
    input.decode = table.quantity<Seconds>("decode");
    input.clock = table.quantity_if<Hertz>("clock");
    input.like = table.text_or("like", "");
    input.spread = table.number("spread", kNotNegative);
    input.source = table.text("source");
    inputs.push_back(std::move(input));
  }
  root.finish();
  if (!file->errors().empty()) return tl::make_unexpected(file->errors());
  return inputs;
}

Result<InputSource> load_input(const Catalogue& catalogue, const std::string& name) {
  const auto inputs = load_inputs(catalogue);
  if (!inputs) return tl::make_unexpected(inputs.error());
  return find_named(*inputs, "input", name, {"synthetic"});
}

}  // namespace tbdsim
