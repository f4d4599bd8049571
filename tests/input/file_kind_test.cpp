// Files of another kind are told in one line, whatever they hold.
#include "model/input/file_kind.hpp"

#include "model/input/csv_reader.hpp"
#include "model/input/toml_reader.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;
using namespace std::string_literals;

namespace {

std::string csv_problem(const std::string& text) {
  const auto table = CsvTable::parse(text, "t.csv");
  return table ? "" : to_text(table.error());
}
std::string toml_problem(const std::string& text) {
  const auto file = TomlFile::parse(text, "f.toml");
  return file ? "" : to_text(file.error());
}

}  // namespace

TEST_CASE("a table of another kind is one problem") {
  std::string trace = "{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [\n";
  for (int i = 0; i < 1000; ++i) trace += "  {\"ph\": \"X\", \"name\": \"a,b,c\"},\n";
  CHECK(csv_problem(trace) == "t.csv: expected a table (CSV), got a trace of a profiler (JSON)\n");
  CHECK(csv_problem("[{\"ph\": \"X\"}]") == "t.csv: expected a table (CSV), got a trace of a profiler (JSON)\n");
  CHECK(csv_problem("{\"a\": 1}") == "t.csv: expected a table (CSV), got JSON\n");
  CHECK(csv_problem("SQLite format 3\0rows"s) == "t.csv: expected a table (CSV), got a SQLite database\n");
  CHECK(csv_problem("# a study\nschema = 1\n") == "t.csv: expected a table (CSV), got TOML\n");
  CHECK(csv_problem("\n[study]\nname = \"n\"\n") == "t.csv: expected a table (CSV), got TOML\n");
  CHECK(csv_problem("<html>") == "t.csv: expected a table (CSV), got HTML or XML\n");
  CHECK(csv_problem("PK\x03\x04xl/workbook.xml") ==
        "t.csv: expected a table (CSV), got a ZIP archive, as spreadsheets and checkpoints are\n");
  CHECK(csv_problem("\x08\x07\x12\x07pytorch") == "t.csv: expected a table (CSV), got an ONNX network\n");
  CHECK(csv_problem("a,b,c\n1,2,3\n").empty());
  CHECK(csv_problem("# by = hand\na,b,c\n1,2,3\n").empty());
}

TEST_CASE("a description of another kind is one problem") {
  CHECK(toml_problem("{\"a\": 1}") == "f.toml: expected a description (TOML), got JSON\n");
  CHECK(toml_problem("id,hw,model\na,b,c\n") == "f.toml: expected a description (TOML), got CSV\n");
  CHECK(toml_problem("SQLite format 3\0"s) == "f.toml: expected a description (TOML), got a SQLite database\n");
  CHECK(toml_problem("\"a key\" = 1\n").empty());
  CHECK(toml_problem("[[a]]\nb = {c = 1}\n").empty());
}
