#include "model/input/json_reader.hpp"

#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

/// Every message on a line of its own.
std::string refused(std::string_view text) {
  const auto file = JsonFile::parse(text, "a.json");
  return file ? "accepted" : to_text(file.error());
}

std::string brackets(std::size_t depth) { return "{\"a\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}"; }

}  // namespace

TEST_CASE("a JSON file gives its values by key, null counts as missing, and the last of two values holds") {
  auto file = JsonFile::parse(
      R"({"n": 3, "x": 2.5, "yes": true, "t": "text", "none": null, "n": 4, "in": {"n": 5}, "l": ["a", "b"]})", "a.json");
  REQUIRE(file);
  JsonObject root = file->root();
  CHECK(root.integer("n", 0, 10) == 4);
  CHECK(root.number_or("x", 0.0, 0.0, 10.0) == 2.5);
  CHECK(root.number_or("n", 0.0, 0.0, 10.0) == 4.0);
  CHECK(root.boolean_or("yes", false));
  CHECK(root.text_or("t", "") == "text");
  CHECK_FALSE(root.has("none"));
  CHECK(root.integer_or("none", 7, 0, 10) == 7);
  CHECK(root.texts_or_empty("l") == std::vector<std::string>{"a", "b"});
  auto in = root.object_if("in");
  REQUIRE(in);
  CHECK(in->integer("n", 0, 10) == 5);
  CHECK(in->path() == "in");
  CHECK(root.unread().empty());
  CHECK(file->errors().empty());
  auto other = JsonFile::parse(R"({"b": 1, "a": 2, "c": 3})", "a.json");
  JsonObject keys = other->root();
  keys.mark("a");
  CHECK(keys.unread() == std::vector<std::string>{"b", "c"});
}

TEST_CASE("every wrong value of a JSON file is told with its place") {
  auto file =
      JsonFile::parse("{\n  \"n\": \"3\",\n  \"x\": 1e300,\n  \"in\": {\"n\": 2.5, \"t\": [1]},\n  \"l\": {}\n}", "a.json");
  REQUIRE(file);
  JsonObject root = file->root();
  auto in = root.object_if("in");
  REQUIRE(in);
  (void)in->integer("n", 1, 10);
  (void)in->text_or("t", "");
  (void)in->texts_or_empty("t");
  (void)root.integer("missing", 1, 10);
  (void)root.integer("n", 1, 10);
  (void)root.integer("x", 1, 10);
  (void)root.boolean_or("n", false);
  (void)root.count("l");
  (void)root.object_if("n");
  CHECK(to_text(file->errors()) ==
        "a.json:1:1: missing: missing, expected a whole number of 1 to 10\n"
        "a.json:2:3: n: expected a whole number of 1 to 10, got text\n"
        "a.json:2:3: n: expected true or false, got text\n"
        "a.json:2:3: n: expected an object, got text\n"
        "a.json:3:3: x: expected a whole number of 1 to 10, got 1e+300\n"
        "a.json:4:10: in.n: expected a whole number of 1 to 10, got 2.5\n"
        "a.json:4:20: in.t: expected text, got a list\n"
        "a.json:4:20: in.t: expected a list of texts, got other elements\n"
        "a.json:5:3: l: expected a list, got an object\n");
}

TEST_CASE("a whole number with a point is told as it is written") {
  auto file = JsonFile::parse(R"({"n": 8.0, "m": 11.0})", "a.json");
  REQUIRE(file);
  JsonObject root = file->root();
  (void)root.integer("n", 1, 10);
  (void)root.integer("m", 1, 10);
  CHECK(to_text(file->errors()) ==
        "a.json:1:2: n: expected a whole number of 1 to 10, got 8.0 (a decimal number)\n"
        "a.json:1:12: m: expected a whole number of 1 to 10, got 11\n");
}

TEST_CASE("what is no JSON, or no sane one, is refused with its place") {
  CHECK(refused("") ==
        "a.json:1:1: not valid JSON: syntax error while parsing value - unexpected end of input; expected '[', '{', or a "
        "literal\n");
  CHECK(refused("[1]") == "a.json:1:1: expected an object, got a list\n");
  CHECK(refused("{\"a\": 1").find("a.json:1:8: not valid JSON: syntax error while parsing object - unexpected end of input") ==
        0);
  CHECK(refused("{\"a\": 1}\n}").find("a.json:2:1: not valid JSON: syntax error while parsing value - unexpected '}'") == 0);
  CHECK(refused("{\"a\": 1e999}").find("a.json:1:11: not valid JSON: number overflow") == 0);
  CHECK(
      refused("{\"a\": \"\xff\"}").find("not valid JSON: syntax error while parsing value - invalid string: ill-formed UTF-8") !=
      std::string::npos);
  CHECK(refused(brackets(32)) == "accepted");
  CHECK(refused(brackets(33)).find("more than 32 brackets open\n") != std::string::npos);
  CHECK(refused(brackets(1000000)).find("more than 32 brackets open\n") != std::string::npos);
  CHECK(refused(std::string((std::size_t{8} << 20) + 1, ' ')) == "a.json: larger than 8 MiB\n");
}
