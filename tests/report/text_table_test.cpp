#include "model/report/text_table.hpp"

#include "model/report/csv.hpp"
#include "tests/catch.hpp"

namespace tbdsim {
namespace {

TEST_CASE("Columns are as wide as their widest cell, and lines end without blanks") {
  TextTable table({{"name"}, {"value", Align::right}, {"note"}});
  table.add({"a", "1", "x"});
  table.add({"longer", "1000", ""});
  CHECK(table.text() == "name    value  note\na           1  x\nlonger   1000\n");
  CHECK(table.text(2) == "  name    value  note\n  a           1  x\n  longer   1000\n");
}

TEST_CASE("A character of several bytes takes one column") {
  TextTable table({{""}, {""}});
  table.add({"\xc2\xb5", "1"});
  table.add({"ab", "2"});
  CHECK(table.text() == "\xc2\xb5   1\nab  2\n");
}

TEST_CASE("A cell of exactly the allowed width stays, a longer one loses its middle") {
  TextTable table({{"", Align::left, 8}});
  table.add({"12345678"});
  table.add({"123456789"});
  CHECK(table.text() == "12345678\n123..789\n");
}

TEST_CASE("A table that is too wide breaks titles and texts, never numbers or names") {
  TextTable table({{"name", Align::left, 0, true}, {"memory bandwidth", Align::right}, {"what it is"}});
  table.add({"a-long-name", "900 GB/s", "a board with a/path"});
  CHECK(table.text(0, 50) == "name         memory bandwidth  what it is\na-long-name          900 GB/s  a board with a/path\n");
  CHECK(table.text(0, 36) ==
        "                 memory\n"
        "name          bandwidth  what it is\n"
        "a-long-name    900 GB/s  a board\n"
        "                         with a/path\n");
  CHECK(table.text(0, 28) ==
        "               memory what\n"
        "name        bandwidth it is\n"
        "a-long-name  900 GB/s a\n"
        "                      board\n"
        "                      with\n"
        "                      a/\n"
        "                      path\n");
}

TEST_CASE("a long name that is never broken has a line of its own, at one character more than its column holds") {
  const std::string fits(34, 'a'), passes(35, 'b');
  TextTable table({{"name", Align::left, 0, true}, {"what it is"}});
  table.add({fits, "x"});
  table.add({passes, "y"});
  CHECK(table.text() ==
        "name" + std::string(32, ' ') + "what it is\n" + fits + "  x\n" + passes + "\n" + std::string(36, ' ') + "y\n");
}

TEST_CASE("A column whose cells may be shortened gives way down to sixteen characters") {
  TextTable table({{"layer", Align::left, 26}, {"time", Align::right}});
  table.add({"layer.11.attention.softmax", "1.25 ms"});
  CHECK(table.text(0, 35) == "layer                          time\nlayer.11.attention.softmax  1.25 ms\n");
  CHECK(table.text(0, 30) == "layer                     time\nlayer.11...on.softmax  1.25 ms\n");
  CHECK(table.text(0, 10) == "layer               time\nlayer.1..softmax 1.25 ms\n");
}

TEST_CASE("A word that no line holds goes on below, broken where addresses may be") {
  CHECK(wrapped("see https://host/some/page.html", 20, 2) == "see\n  https://host/some/\n  page.html");
  CHECK(wrapped("31.24 TFLOP/s", 6, 0) == "31.24 TFLOP/s");
}

TEST_CASE("Text is broken at blanks, before the word that would pass the width") {
  CHECK(wrapped("aaa bbb ccc", 11, 0) == "aaa bbb ccc");
  CHECK(wrapped("aaa bbb ccc", 10, 0) == "aaa bbb\nccc");
  CHECK(wrapped("aaa bbb ccc", 9, 2) == "aaa bbb\n  ccc");
  CHECK(wrapped("aaa bbb ccc", 8, 2) == "aaa\n  bbb\n  ccc");
  CHECK(wrapped("unbreakable", 4, 2) == "unbreakable");
  CHECK(wrapped("", 4, 2).empty());
  CHECK(wrapped("all 13 GB free", 6, 0) == "all\n13 GB\nfree");
}

TEST_CASE("Numbers with three significant digits and no exponent") {
  CHECK(number_text(2560.4) == "2560");
  CHECK(number_text(99.96) == "100.0");
  CHECK(number_text(52.13) == "52.1");
  CHECK(number_text(1.0) == "1.00");
  CHECK(number_text(0.03142) == "0.0314");
  CHECK(number_text(0.0) == "0.00");
}

TEST_CASE("Shares below ten percent show one more digit") {
  CHECK(percent_text(0.52) == "52 %");
  CHECK(percent_text(0.0994) == "9.9 %");
  CHECK(percent_text(0.0996) == "10 %");
  CHECK(percent_text(0.0) == "0 %");
  CHECK(signed_percent_text(0.05) == "+5.0 %");
  CHECK(signed_percent_text(-0.321) == "-32.1 %");
}

TEST_CASE("CSV quotes what it must") {
  CHECK(csv_line({"a", "b c", ""}) == "a,b c,\n");
  CHECK(csv_line({"a,b", "say \"x\"", "two\nlines"}) == "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\n");
}

}  // namespace
}  // namespace tbdsim
