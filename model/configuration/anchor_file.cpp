#include "model/configuration/anchor_file.hpp"

#include <fmt/format.h>

#include "model/input/toml_reader.hpp"
#include "model/support/quote.hpp"

namespace tbdsim {
namespace {

constexpr std::int64_t kSchema = 1;
// As the device file's keys: a multiplier beyond this is no calibration.
constexpr Bounds kRange{0.1, 10.0, false};

FittedAnchor read_anchor(TomlTable table) {
  FittedAnchor anchor;
  anchor.value = table.number("value", kRange);
  anchor.low = table.number_or("low", anchor.value, kRange);
  anchor.high = table.number_or("high", anchor.value, kRange);
  anchor.fitted = true;
  if (anchor.low > anchor.value || anchor.high < anchor.value)
    table.problem("value", fmt::format("expected a number between low and high, got {:g}", anchor.value));
  return anchor;
}

}  // namespace

std::string to_toml(const AnchorFile& file) {
  std::string text = fmt::format("schema = {}\nsource = {}\n", kSchema, quoted(file.source));
  for (std::size_t i = 0; i < kAnchors.size(); ++i) {
    const FittedAnchor& anchor = file.anchors[i];
    if (!anchor.fitted) continue;
    text += fmt::format("\n[anchor.{}]\nvalue = {:.4g}\nlow = {:.4g}\nhigh = {:.4g}\n", kAnchors[i].name, anchor.value,
                        anchor.low, anchor.high);
  }
  return text;
}

Result<AnchorFile> read_anchor_file(const std::string& path) {
  auto file = TomlFile::open(path);
  if (!file) return tl::make_unexpected(file.error());
  TomlTable root = file->root();
  if (root.has("memory_bandwidth"))
    return fail(
        fmt::format("{} describes a GPU, as `calibrate fit` writes it: use it as --hw {}; `calibrate anchor` writes what "
                    "--calibration takes",
                    path, path));
  (void)root.integer("schema", kSchema, kSchema);
  AnchorFile anchors;
  anchors.source = root.text("source");
  TomlTable table = root.table("anchor");
  for (std::size_t i = 0; i < kAnchors.size(); ++i) {
    if (auto anchor = table.table_if(kAnchors[i].name)) anchors.anchors[i] = read_anchor(std::move(*anchor));
  }
  root.finish();
  if (!file->errors().empty()) return tl::make_unexpected(file->errors());
  return anchors;
}

Result<std::vector<std::string>> anchor_assignments(const std::string& path) {
  const auto file = read_anchor_file(path);
  if (!file) return tl::make_unexpected(file.error());
  std::vector<std::string> changes;
  for (std::size_t i = 0; i < kAnchors.size(); ++i) {
    if (file->anchors[i].fitted) changes.push_back(fmt::format("hw.device.{}={:.6g}", kAnchors[i].key, file->anchors[i].value));
  }
  return changes;
}

}  // namespace tbdsim
