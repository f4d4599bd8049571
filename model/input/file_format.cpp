#include "model/input/file_format.hpp"

#include <fmt/format.h>

namespace tbdsim {
namespace {

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

/// A table's name as the file writes it; one that already has marks stays.
std::string quoted_table(std::string_view name) {
  const bool bare = !name.empty() && name.find('`') == std::string_view::npos;
  return bare ? fmt::format("`{}`", name) : std::string(name);
}

}  // namespace

std::string formats_markdown(std::span<const FileFormat> formats) {
  std::string text;
  for (const FileFormat& format : formats) {
    text +=
        fmt::format("## {}\n\n{}.\n\n| table | keys | meaning | if absent |\n|---|---|---|---|\n", format.title, format.where);
    for (const KeyMeaning& key : format.keys)
      text += fmt::format("| {} | {} | {} | {} |\n", cell(quoted_table(key.table)), cell(key.keys), cell(key.meaning),
                          cell(key.absent));
    text += '\n';
  }
  return text;
}

}  // namespace tbdsim
