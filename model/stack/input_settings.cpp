#include "model/stack/input_settings.hpp"

#include <array>
#include <string_view>

#include "model/input/known_word.hpp"

namespace tbdsim {
namespace {

constexpr std::array<std::string_view, 2> kModes{"stream", "barrier"};

}  // namespace

InputSettings read_input_settings(TomlTable& root) {
  InputSettings input;
  auto table = root.table_if("input");
  if (!table) return input;
  input.name = table->text_or("default", input.name);
  input.mode = read_word<InputMode>(*table, "mode", kModes, "mode of input").value_or(input.mode);
  input.threads = static_cast<int>(table->integer_or("threads", 0, 1, 10'000));
  input.prefetch = static_cast<int>(table->integer_or("prefetch", input.prefetch, 1, 1'000));
  input.pinned = table->boolean_or("pinned", input.pinned);
  input.copy_overlaps = table->boolean_or("copy_overlaps", input.copy_overlaps);
  input.synthetic_on_host = table->boolean_or("synthetic_on_host", false);
  input.decode = table->quantity_if<Seconds>("decode").value_or(Seconds(0.0));
  input.source = table->text("source");
  table->finish();
  return input;
}

}  // namespace tbdsim
