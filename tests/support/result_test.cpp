#include "model/support/result.hpp"

#include <string>

#include "model/support/first_reason.hpp"
#include "model/support/quote.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

std::string text_at(int line, int column, const std::string& line_text = "", int caret_width = 0) {
  const Error error{"w", {"f", line, column}, line_text, caret_width};
  return error.text();
}

}  // namespace

TEST_CASE("an error is as precise as what is known of its place") {
  CHECK(Error{"wrong"}.text() == "wrong");
  CHECK(Error{"wrong", {"f.toml", 0, 0}}.text() == "f.toml: wrong");
  CHECK(Error{"wrong", {"f.toml", 3, 0}}.text() == "f.toml:3: wrong");
  CHECK(Error{"wrong", {"f.toml", 3, 7}}.text() == "f.toml:3:7: wrong");
  CHECK(Error{"wrong", {"", 3, 7}}.text() == "line 3:7: wrong");
  CHECK(Error{"wrong", {"f.toml", 3, 0}, "a = 1"}.text() == "f.toml:3: wrong\n   3 | a = 1");
  CHECK(Error{"wrong", {"f.toml", 12345, 5}, "a = 1", 1}.text() == "f.toml:12345:5: wrong\n12345 | a = 1\n      |     ^");
}

TEST_CASE("a name in a message neither ends the line nor steers the terminal") {
  CHECK(Error{"no system called \"x\ny\""}.text() == "no system called \"x\\ny\"");
  CHECK(Error{"no \x1b[31mfile", {"f.toml", 3, 7}}.text() == "f.toml:3:7: no \\x1b[31mfile");
  CHECK(Error{std::string(200, 'x')}.text() == std::string(200, 'x'));
}

TEST_CASE("the first of several errors is a reason in one line, with its place in a file") {
  CHECK(first_reason({}).empty());
  CHECK(first_reason({Error{"one"}, Error{"two"}}) == "one");
  CHECK(first_reason({Error{"wrong", {"f.toml", 3, 5}, "a = 1", 1}}) == "f.toml:3:5: wrong");
  CHECK(first_reason({Error{"a.b: no such value", {"--set", 1, 1}, "a.b=1", 3}}) == "a.b: no such value");
}

TEST_CASE("the caret stays on the line") {
  CHECK(text_at(1, 5, "a = 12", 2) == "f:1:5: w\n   1 | a = 12\n     |     ^~");
  CHECK(text_at(1, 5, "a = 12", 9) == "f:1:5: w\n   1 | a = 12\n     |     ^~");
  CHECK(text_at(1, 7, "a = 12", 1) == "f:1:7: w\n   1 | a = 12\n     |       ^");
  CHECK(text_at(1, 8, "a = 12", 1) == "f:1:8: w\n   1 | a = 12");
}

TEST_CASE("a line that would upset a terminal is not shown") {
  CHECK(text_at(1, 1, "a\x1b[31m", 1) == "f:1:1: w");
  CHECK(text_at(1, 1, "a\xff", 1) == "f:1:1: w");
}

TEST_CASE("a line of 120 characters is shown whole, a longer one cut") {
  const std::string whole(120, 'x');
  CHECK(text_at(1, 120, whole, 1) == "f:1:120: w\n   1 | " + whole + "\n     | " + std::string(119, ' ') + "^");
  CHECK(text_at(1, 121, whole + "y", 1) ==
        "f:1:121: w\n   1 | ..." + std::string(119, 'x') + "y\n     | " + std::string(122, ' ') + "^");
  CHECK(text_at(1, 1, whole + "y", 1) == "f:1:1: w\n   1 | " + whole + "...\n     | ^");
}

TEST_CASE("several errors follow each other, each on its own line") {
  CHECK(to_text({}).empty());
  CHECK(to_text({Error{"one"}, Error{"two", {"f", 0, 0}}}) == "one\nf: two\n");
  const Result<int> failed = fail("no such device");
  REQUIRE_FALSE(failed);
  CHECK(to_text(failed.error()) == "no such device\n");
}

TEST_CASE("text from a user is shown without control characters and cut") {
  CHECK(quoted("a \"b\" \\ c") == "\"a \\\"b\\\" \\\\ c\"");
  CHECK(quoted("a\nb\t\x01\x7f\r") == "\"a\\nb\\t\\x01\\x7f\\r\"");
  CHECK(quoted("12345", 5) == "\"12345\"");
  CHECK(quoted("123456", 5) == "\"12345...\"");
  CHECK(printable("\"a\" \xff") == "\"a\" \\xff");
  CHECK(printable("\xE2\x82\xAC\xE2\x82\xAC", 1) == "\xE2\x82\xAC...");
}

TEST_CASE("well-formed UTF-8 of each length, and what only looks like it") {
  CHECK(utf8_length("") == 0);
  CHECK(utf8_length("a") == 1);
  CHECK(utf8_length("\xC2\x80") == 2);
  CHECK(utf8_length("\xE0\xA0\x80") == 3);
  CHECK(utf8_length("\xF0\x90\x80\x80") == 4);
  CHECK(utf8_length("\xF4\x8F\xBF\xBF") == 4);
  for (const std::string bad :
       {"\x80", "\xC1\xBF", "\xC2", "\xC2z", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xE2\x82", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xF0\x90\x80", "\xE2z\x80", "\xE2\x82z"}) {
    CAPTURE(printable(bad));
    CHECK(utf8_length(bad) == 0);
  }
}
