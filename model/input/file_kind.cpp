#include "model/input/file_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbdsim {
namespace {

using namespace std::string_view_literals;

/// How files of one kind begin.
struct Beginning {
  std::string_view bytes, kind;
};
constexpr std::array kBeginnings{Beginning{"SQLite format 3\0"sv, "a SQLite database"},
                                 Beginning{"PK\x03\x04"sv, "a ZIP archive, as spreadsheets and checkpoints are"},
                                 Beginning{"\x1f\x8b"sv, "a gzip archive"},
                                 Beginning{"\x28\xb5\x2f\xfd"sv, "a zstd archive"},
                                 Beginning{"\xfd\x37zXZ"sv, "an xz archive"},
                                 Beginning{"\x7f\x45LF"sv, "a program"},
                                 Beginning{"\x89PNG"sv, "a PNG image"},
                                 Beginning{"\xff\xd8\xff"sv, "a JPEG image"},
                                 Beginning{"\x89HDF"sv, "an HDF5 file"},
                                 Beginning{"PAR1\x15"sv, "a Parquet file"},
                                 Beginning{"%PDF"sv, "a PDF document"},
                                 Beginning{"\xff\xfe"sv, "text in UTF-16; expected UTF-8"},
                                 Beginning{"\xfe\xff"sv, "text in UTF-16; expected UTF-8"}};
constexpr std::string_view kJson = "JSON", kTrace = "a trace of a profiler (JSON)", kMarkup = "HTML or XML", kToml = "TOML",
                           kCsv = "CSV", kOnnx = "an ONNX network";
/// A trace names its events within so much: device properties may stand before them.
constexpr std::size_t kTraceHead = std::size_t{1} << 16;

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  return text;
}

/// The text from its first line on that is neither empty nor a comment.
std::string_view first_line(std::string_view text) {
  text = without_blanks(text);
  while (!text.empty() && text.front() == '#') text = without_blanks(text.substr(std::min(text.find('\n'), text.size())));
  return text.substr(0, text.find('\n'));
}

bool is_json(std::string_view text) {
  text = without_blanks(text);
  if (text.empty() || (text.front() != '{' && text.front() != '[')) return false;
  const std::string_view inside = without_blanks(text.substr(1));
  // A table of TOML begins with a bracket, too, but its name with neither of these.
  return text.front() == '[' ? inside.substr(0, 1) == "{" : inside.empty() || inside.front() == '"' || inside.front() == '}';
}

/// A table of TOML, or a key with its value.
bool is_toml(std::string_view line) {
  if (line.empty()) return false;
  constexpr std::string_view kKey = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  const bool table = line.front() == '[';
  while (!line.empty() && line.front() == '[') line.remove_prefix(1);
  const std::size_t end = std::min(line.find_first_not_of(kKey), line.size());
  const std::string_view rest = without_blanks(line.substr(end));
  return end > 0 && !rest.empty() && rest.front() == (table ? ']' : '=');
}

/// Names of columns.
bool is_csv(std::string_view line) {
  constexpr std::string_view kNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./ ,\"\r";
  return std::count(line.begin(), line.end(), ',') > 1 && line.find_first_not_of(kNames) == std::string_view::npos;
}

}  // namespace

std::string_view file_kind(std::string_view bytes) {
  for (const auto& [begin, kind] : kBeginnings)
    if (bytes.substr(0, begin.size()) == begin) return kind;
  // The version of the format, then the name of the program that wrote the network.
  if (bytes.size() > 2 && bytes[0] == '\x08' && bytes[2] == '\x12') return kOnnx;
  if (is_json(bytes)) {
    const std::string_view head = bytes.substr(0, kTraceHead);
    const bool trace = head.find("\"traceEvents\"") != std::string_view::npos || head.find("\"ph\"") != std::string_view::npos;
    return trace ? kTrace : kJson;
  }
  const std::string_view line = first_line(bytes);
  if (!line.empty() && line.front() == '<') return kMarkup;
  if (is_toml(line)) return kToml;
  return is_csv(line) ? kCsv : std::string_view();
}

Result<void> check_form(std::string_view bytes, TextForm expected, const std::string& name) {
  struct Form {
    std::string_view kind, words;
  };
  constexpr std::array kForms{Form{kCsv, "a table (CSV)"}, Form{kToml, "a description (TOML)"},
                              Form{kJson, "a description (JSON)"}};
  const Form& form = kForms[static_cast<std::size_t>(expected)];
  const std::string_view found = file_kind(bytes);
  if (found.empty() || found == form.kind) return {};
  return tl::make_unexpected(Errors{Error{fmt::format("expected {}, got {}", form.words, found), SourceRef{name, 0, 0}}});
}

}  // namespace tbdsim
