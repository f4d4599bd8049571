#include <filesystem>
#include <string>

#include "model/input/csv_reader.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

CsvTable good(const std::string& text) {
  auto table = CsvTable::parse(text, "t.csv");
  INFO((table ? "" : to_text(table.error())));
  REQUIRE(table);
  return *table;
}

std::string parse_message(std::string text) {
  const auto table = CsvTable::parse(std::move(text), "t.csv");
  return table ? "" : to_text(table.error());
}

}  // namespace

TEST_CASE("fields: quotes, commas, line ends, blanks, comments") {
  const CsvTable table = good(
      "\xEF\xBB\xBF# measured on a bench\n"
      "\n"
      "# second comment\r\n"
      "id, name ,\"text, long\"\r\n"
      "1,  two words\t,\"a \"\"quoted\"\" word\"\r\n"
      "\n"
      "#3,,\"two\nlines\" \n"
      "4,,");
  CHECK(table.columns() == std::vector<std::string>{"id", "name", "text, long"});
  REQUIRE(table.rows() == 3);
  CHECK(table.text(0, 0) == "1");
  CHECK(table.text(0, 1) == "two words");
  CHECK(table.text(0, 2) == "a \"quoted\" word");
  CHECK(table.text(1, 0) == "#3");
  CHECK(table.text(1, 1).empty());
  CHECK(table.text(1, 2) == "two\nlines");
  CHECK(table.text(2, 2).empty());
  CHECK(table.where(0).line == 5);
  CHECK(table.where(1).line == 7);
  CHECK(table.where(2).line == 9);
  CHECK(table.column_if("name") == 1);
  CHECK_FALSE(table.column_if("Name"));
}

TEST_CASE("numbers that are none") {
  CsvTable table = good("id,time_s\na,1.5e-3\nb,fast\nc,\nd,nan\ne,1e999\nf,1.5 ms\n\"g\",\"-2\"\n");
  CHECK(table.number(0, 1) == 1.5e-3);
  for (std::size_t row = 1; row <= 5; ++row) CHECK_FALSE(table.number(row, 1));
  CHECK(table.number(6, 1) == -2.0);
  CHECK(to_text(table.errors()) == R"(t.csv:3:3: time_s: expected a number, got "fast"
   3 | b,fast
     |   ^~~~
t.csv:4:3: time_s: expected a number, got an empty field
   4 | c,
     |   ^
t.csv:5:3: time_s: expected a finite number, got "nan"
   5 | d,nan
     |   ^~~
t.csv:6:3: time_s: expected a number, got "1e999"
   6 | e,1e999
     |   ^~~~~
t.csv:7:3: time_s: expected a number, got "1.5 ms"
   7 | f,1.5 ms
     |   ^~~~~~
)");
}

TEST_CASE("missing and unknown columns, one message for one slip") {
  CsvTable table = good("# c\nid,familly,extra\n1,2,3\n");
  CHECK(table.column("id") == 0);
  CHECK_FALSE(table.column("family"));
  CHECK_FALSE(table.column("family"));
  CHECK_FALSE(table.column("time_s"));
  CHECK(to_text(table.errors()) ==
        "t.csv:2:1: family: missing column, is it the one called \"familly\"?\n"
        "t.csv:2:1: time_s: missing column\n");
  table.unknown_columns({"id", "family", "time_s"});
  CHECK(to_text(table.errors()) ==
        "t.csv:2:1: time_s: missing column\n"
        "t.csv:2:4: familly: unknown column, did you mean \"family\"?\n"
        "t.csv:2:12: extra: unknown column\n");
}

TEST_CASE("problems of the reader's own point at the field") {
  CsvTable table = good("id,use\nr1,fit\nr2,\"val\"\n");
  table.problem(1, 1, "expected fit or validation, got \"val\"");
  CHECK(to_text(table.errors()) == R"(t.csv:3:4: use: expected fit or validation, got "val"
   3 | r2,"val"
     |    ^~~~~
)");
}

TEST_CASE("every structural problem of a file at once") {
  CHECK(parse_message("id,name,id,\n1,2,3\n1,2,3,4,5\n1,\"2\"x,3,4\n1,a\"b\"\"c,3,4\n") ==
        R"(t.csv:1:9: id: repeated column, it is also column 1
   1 | id,name,id,
     |         ^~
t.csv:1:12: column 4 has no name
   1 | id,name,id,
     |            ^
t.csv:2:1: expected 4 fields as in the header, got 3
t.csv:3:1: expected 4 fields as in the header, got 5
t.csv:4:6: expected a comma after the closing quote
   4 | 1,"2"x,3,4
     |      ^
t.csv:5:4: a quote inside an unquoted field; quote the whole field and double the quote
   5 | 1,a"b""c,3,4
     |    ^
)");
  CHECK(parse_message("id\n\"open\nnext\n") == R"(t.csv:2:1: a quoted field that is never closed
   2 | "open
     | ^
)");
}

TEST_CASE("files that are no tables") {
  CHECK(parse_message("") == "t.csv: empty file\n");
  CHECK(parse_message("\n \n") == "t.csv: empty file\n");
  CHECK(parse_message("# only this\n#") == "t.csv: no header row, only comments\n");
  CHECK(parse_message("a,b\n1,\x80\n") == "t.csv:2:3: not a text file: byte 0x80 is not UTF-8\n");
  CHECK(good("a,b\n").rows() == 0);
  CHECK(to_text(CsvTable::open("no/such.csv").error()) == "no/such.csv: cannot open: No such file or directory\n");
  CHECK(to_text(CsvTable::open(".").error()) == ".: expected a file, got a directory\n");
}
