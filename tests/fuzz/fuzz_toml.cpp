// Any bytes as a TOML file, every getter on every key.
#include "model/input/file_text.hpp"
#include "model/input/nesting_guard.hpp"
#include "model/input/plain_toml.hpp"
#include "model/input/toml_reader.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace tbdsim;

namespace {

void read_all(TomlTable table) {
  const std::vector<std::string> keys = table.keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string& key = keys[i];
    // Every seventh key stays unread, so that `finish` has something to report.
    if (i % 7 == 6) continue;
    (void)table.text(key);
    (void)table.integer(key, -5, 5);
    (void)table.number(key, Bounds{0.0, 1.0, true});
    (void)table.boolean_or(key, false);
    (void)table.texts_or_empty(key);
    (void)table.integers_or_empty(key);
    (void)table.quantity<Seconds>(key);
    (void)table.quantity_if<BytesPerSecond>(key, Bounds{1.0, 1e9});
    (void)table.where(key);
    for (TomlTable& element : table.tables_or_empty(key)) read_all(element);
    if (auto child = table.table_if(key)) read_all(*child);
  }
  (void)table.text("latency");
  for (auto& [name, child] : table.named_tables()) read_all(child);
  table.problem("", "a problem of the table");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::bytes(data, size);
  if (parse_plain_toml(text)) {
    fuzz::require(!binary_problem(text, "") && !nesting_problem(text, ""), "plain text passes the guards");
    fuzz::require(parse_toml(text, "fuzz.toml").has_value(), "plain text is TOML");
  }
  auto file = TomlFile::parse(text, "fuzz.toml");
  if (!file) {
    fuzz::require(!file.error().empty(), "a refused file has an error");
    fuzz::require_good(file.error());
    return 0;
  }
  read_all(file->root());
  file->root().finish();
  fuzz::require_good(file->errors());
  return 0;
}
