#include "model/hardware/input_source.hpp"

#include <fmt/format.h>

#include "model/hardware/hardware_file.hpp"
#include "model/hardware/lookup.hpp"
#include "model/support/edit_distance.hpp"

namespace tbdsim {

Result<std::vector<InputSource>> load_inputs(const Catalogue& catalogue) {
  auto file = TomlFile::open(catalogue.root + "/hardware/inputs.toml");
  if (!file) return tl::make_unexpected(file.error());
  TomlTable root = file->root();
  (void)root.integer("schema", kHardwareSchema, kHardwareSchema);
  std::vector<InputSource> inputs;
  for (TomlTable& table : root.tables_or_empty("input")) {
    InputSource input;
    input.name = table.text("name");
    input.stored = table.quantity<Bytes>("stored");
    input.decode = table.quantity<Seconds>("decode");
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
  std::vector<std::string> names{"synthetic"};
  for (const InputSource& input : *inputs) {
    if (fold_name(input.name) == fold_name(name)) return input;
    names.push_back(input.name);
  }
  const auto near = nearest(name, names);
  return fail(
      fmt::format("unknown input \"{}\"{}", name,
                  near ? fmt::format(", did you mean \"{}\"?", *near) : fmt::format("; there are {}", fmt::join(names, ", "))));
}

}  // namespace tbdsim
