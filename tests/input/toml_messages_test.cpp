// The exact text of every message that a TOML file can cause.
#include <limits>
#include <string>

#include "model/input/toml_reader.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

template <class Read>
std::string messages(std::string text, Read read) {
  auto file = TomlFile::parse(std::move(text), "f.toml");
  if (!file) return to_text(file.error());
  TomlTable root = file->root();
  read(root);
  return to_text(file->errors());
}

std::string parse_message(std::string text) {
  return messages(std::move(text), [](TomlTable&) {});
}

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_CASE("the wrong kind of unit and an unknown key read as in the handbook") {
  const std::string text =
      "schema = 1\n\n\n\n\n\n\n"
      "[link.nvlink]\n"
      "source = \"paper: x\"\n"
      "bandwidth = \"25 GB\"\n"
      "latancy = \"1.9 us\"\n";
  auto file = TomlFile::parse(text, "hardware/systems/dgx1.toml");
  REQUIRE(file);
  TomlTable root = file->root();
  CHECK(root.integer("schema", 1, 1) == 1);
  TomlTable nvlink = root.table("link").table("nvlink");
  CHECK(nvlink.text("source") == "paper: x");
  CHECK(nvlink.quantity<BytesPerSecond>("bandwidth") == BytesPerSecond(1.0));
  CHECK_FALSE(nvlink.quantity_if<Seconds>("latency"));
  root.finish();
  CHECK(to_text(file->errors()) ==
        R"(hardware/systems/dgx1.toml:10:13: link.nvlink.bandwidth: expected a bandwidth such as "25 GB/s", got "25 GB" (a size)
  10 | bandwidth = "25 GB"
     |             ^~~~~~~
hardware/systems/dgx1.toml:11:1: link.nvlink.latancy: unknown key, did you mean "latency"?
)");
}

TEST_CASE("a quantity: unit missing, wrong, unknown, not a string, out of bounds") {
  const auto bandwidth = [](TomlTable& t) { (void)t.quantity<BytesPerSecond>("b"); };
  CHECK(messages("b = 25\n", bandwidth) ==
        R"(f.toml:1:5: b: expected a bandwidth such as "25 GB/s", got 25 (a bare number; write it as a string with its unit)
   1 | b = 25
     |     ^~
)");
  CHECK(messages("b = 2.5e9 # fast\n", bandwidth) ==
        R"(f.toml:1:5: b: expected a bandwidth such as "25 GB/s", got 2.5e9 (a bare number; write it as a string with its unit)
   1 | b = 2.5e9 # fast
     |     ^~~~~
)");
  CHECK(messages("b = \"25\"\n", bandwidth) == R"(f.toml:1:5: b: expected a bandwidth such as "25 GB/s", got "25" (no unit)
   1 | b = "25"
     |     ^~~~
)");
  CHECK(messages("b = \"25 GX/s\"\n", bandwidth) ==
        R"(f.toml:1:5: b: expected a bandwidth such as "25 GB/s", got "25 GX/s" (unknown unit "GX/s", did you mean "GB/s"?)
   1 | b = "25 GX/s"
     |     ^~~~~~~~~
)");
  CHECK(messages("b = true\n", bandwidth) == R"(f.toml:1:5: b: expected a bandwidth such as "25 GB/s", got true (a boolean)
   1 | b = true
     |     ^~~~
)");
  CHECK(messages("b = [\n1 ]\n", bandwidth) == R"(f.toml:1:5: b: expected a bandwidth such as "25 GB/s", got an array
   1 | b = [
     |     ^
)");
  CHECK(messages("b = \"0 GB/s\"\n", bandwidth) == R"(f.toml:1:5: b: expected a bandwidth above 0, got "0 GB/s"
   1 | b = "0 GB/s"
     |     ^~~~~~~~
)");
  CHECK(messages("b = \"-1 GB/s\"\n", bandwidth) == R"(f.toml:1:5: b: expected a bandwidth above 0, got "-1 GB/s"
   1 | b = "-1 GB/s"
     |     ^~~~~~~~~
)");
  CHECK(messages("b = \"1 B/s\"\n", bandwidth).empty());
}

TEST_CASE("bounds of a quantity, on both sides") {
  const auto at_least_0 = [](TomlTable& t) { (void)t.quantity<Seconds>("t", kNotNegative); };
  CHECK(messages("t = \"0 s\"\n", at_least_0).empty());
  CHECK(messages("t = \"-1 ps\"\n", at_least_0) == R"(f.toml:1:5: t: expected a time of at least 0, got "-1 ps"
   1 | t = "-1 ps"
     |     ^~~~~~~
)");
  const auto up_to_1_ms = [](TomlTable& t) { (void)t.quantity<Seconds>("t", Bounds{1e-6, 1e-3}); };
  CHECK(messages("t = \"1 us\"\n", up_to_1_ms).empty());
  CHECK(messages("t = \"1 ms\"\n", up_to_1_ms).empty());
  CHECK(messages("t = \"1.001 ms\"\n", up_to_1_ms) == R"(f.toml:1:5: t: expected a time from 1 us to 1 ms, got "1.001 ms"
   1 | t = "1.001 ms"
     |     ^~~~~~~~~~
)");
}

TEST_CASE("numbers: type, range, NaN and infinity, percent") {
  const auto any = [](TomlTable& t) { (void)t.number("x"); };
  const auto share = [](TomlTable& t) { (void)t.number("x", Bounds{0.0, 1.0}); };
  const auto positive = [](TomlTable& t) { (void)t.number("x", kPositive); };
  const auto message = [](const std::string& what, const std::string& value) {
    return "f.toml:1:5: x: " + what + "\n   1 | x = " + value + "\n     |     ^" + std::string(value.size() - 1, '~') + "\n";
  };
  CHECK(messages("x = nan", any) == message("expected a finite number, got nan", "nan"));
  CHECK(messages("x = -inf", any) == message("expected a finite number, got -inf", "-inf"));
  CHECK(messages("x = \"fast\"", any) == message("expected a number, got \"fast\" (a string)", "\"fast\""));
  CHECK(messages("x = \"3\"", any) == message("expected a number, got \"3\" (a string); write it without quotes", "\"3\""));
  CHECK(messages("x = \"3 GB\"", share) == message("expected a number from 0 to 1, got \"3 GB\" (a size)", "\"3 GB\""));
  CHECK(messages("x = 1.5", share) == message("expected a number from 0 to 1, got 1.5", "1.5"));
  CHECK(messages("x = \"101 %\"", share) == message("expected a number from 0 to 1, got \"101 %\"", "\"101 %\""));
  CHECK(messages("x = \"100 %\"", share).empty());
  CHECK(messages("x = 1", share).empty());
  CHECK(messages("x = 0", share).empty());
  CHECK(messages("x = 0", positive) == message("expected a number above 0, got 0", "0"));
  CHECK(messages("x = 1e-300", positive).empty());
  CHECK(messages("x = 1979-05-27", any) == message("expected a number, got 1979-05-27 (a date or time)", "1979-05-27"));
}

TEST_CASE("whole numbers: type and range, both sides") {
  const auto count = [](TomlTable& t) { (void)t.integer("n", 1, 64); };
  const auto message = [](const std::string& what, const std::string& value) {
    return "f.toml:1:5: n: " + what + "\n   1 | n = " + value + "\n     |     ^" + std::string(value.size() - 1, '~') + "\n";
  };
  CHECK(messages("n = 1", count).empty());
  CHECK(messages("n = 64", count).empty());
  CHECK(messages("n = 0", count) == message("expected a whole number from 1 to 64, got 0", "0"));
  CHECK(messages("n = 65", count) == message("expected a whole number from 1 to 64, got 65", "65"));
  CHECK(messages("n = 2.0", count) == message("expected a whole number from 1 to 64, got 2.0 (a decimal number)", "2.0"));
  CHECK(messages("n = \"2\"", count) == message("expected a whole number from 1 to 64, got \"2\" (a string)", "\"2\""));
  const auto many = [](TomlTable& t) { (void)t.integer("n", 1, kMost); };
  CHECK(messages("n = -3", many) == message("expected a whole number of at least 1, got -3", "-3"));
  CHECK(messages("n = 9223372036854775807", many).empty());
}

TEST_CASE("strings, booleans and arrays") {
  CHECK(messages("s = 5\n", [](TomlTable& t) { (void)t.text("s"); }) ==
        R"(f.toml:1:5: s: expected a string, got 5 (a whole number)
   1 | s = 5
     |     ^
)");
  CHECK(messages("s = ''\n", [](TomlTable& t) { (void)t.text("s"); }) == R"(f.toml:1:5: s: expected a string, got an empty one
   1 | s = ''
     |     ^~
)");
  CHECK(messages("s = 'yes'\n", [](TomlTable& t) { (void)t.boolean_or("s", false); }) ==
        R"(f.toml:1:5: s: expected true or false, got "yes" (a string)
   1 | s = 'yes'
     |     ^~~~~
)");
  CHECK(messages("s = ['a', 3, '']\n", [](TomlTable& t) { (void)t.texts_or_empty("s"); }) ==
        R"(f.toml:1:11: s[1]: expected a string, got 3 (a whole number)
   1 | s = ['a', 3, '']
     |           ^
f.toml:1:14: s[2]: expected a string, got an empty one
   1 | s = ['a', 3, '']
     |              ^~
)");
  CHECK(messages("s = 'a'\n", [](TomlTable& t) { (void)t.texts_or_empty("s"); }) ==
        R"(f.toml:1:5: s: expected an array of strings, got "a" (a string)
   1 | s = 'a'
     |     ^~~
)");
  CHECK(messages("s = [1, 2.5]\n", [](TomlTable& t) { (void)t.integers_or_empty("s"); }) ==
        R"(f.toml:1:9: s[1]: expected a whole number, got 2.5 (a decimal number)
   1 | s = [1, 2.5]
     |         ^~~
)");
}

TEST_CASE("a missing key points at its table") {
  const auto read = [](TomlTable& t) { (void)t.table("device").table("v100").quantity<Bytes>("memory_capacity"); };
  CHECK(messages("a = 1\n[device.v100]\nb = 2\n", read) ==
        R"(f.toml:2:1: device.v100.memory_capacity: missing key, expected a size such as "16 GiB"
   2 | [device.v100]
     | ^~~~~~~~~~~~~
)");
  CHECK(messages("a = 1\n[device]\nb = 2\n", read) == R"(f.toml:2:1: device.v100: missing key, expected a table
   2 | [device]
     | ^~~~~~~~
)");
  CHECK(messages("a = 1\n", read) == "f.toml:1:1: device: missing key, expected a table\n");
  CHECK(messages("device = 3\n", read) == R"(f.toml:1:10: device: expected a table, got 3 (a whole number)
   1 | device = 3
     |          ^
)");
  CHECK(messages("device = { v100 = { b = 2 } }\n", read) ==
        R"(f.toml:1:19: device.v100.memory_capacity: missing key, expected a size such as "16 GiB"
   1 | device = { v100 = { b = 2 } }
     |                   ^~~~~~~~~
)");
  CHECK(messages("device.v100.b = 2\n", read) ==
        R"(f.toml:1:8: device.v100.memory_capacity: missing key, expected a size such as "16 GiB"
   1 | device.v100.b = 2
     |        ^~~~
)");
}

TEST_CASE("arrays of tables name their elements from 0") {
  const auto read = [](TomlTable& root) {
    for (TomlTable& layer : root.tables_or_empty("layer")) (void)layer.integer("kernel", 1, 11);
    root.finish();
  };
  CHECK(messages("[[layer]]\nkernel = 3\n[[layer]]\nkernel = 13\n[[layer]]\nkernell = 3\n", read) ==
        R"(f.toml:4:10: layer[1].kernel: expected a whole number from 1 to 11, got 13
   4 | kernel = 13
     |          ^~
f.toml:6:1: layer[2].kernell: unknown key, did you mean "kernel"?
)");
  CHECK(messages("layer = [{ kernel = 3 }, 5]\n", read) == R"(f.toml:1:26: layer[1]: expected a table, got 5 (a whole number)
   1 | layer = [{ kernel = 3 }, 5]
     |                          ^
)");
  CHECK(messages("[layer]\nkernel = 3\n", read) == R"(f.toml:1:1: layer: expected an array of tables ([[layer]]), got a table
   1 | [layer]
     | ^~~~~~~
)");
}

TEST_CASE("unknown keys: suggestion, list of the known, odd names") {
  const auto read = [](TomlTable& root) {
    (void)root.text_or("name", "x");
    (void)root.integer_or("schema", 1, 1, 1);
    root.finish();
  };
  CHECK(messages("nmae = 'x'\n", read) == "f.toml:1:1: nmae: unknown key, did you mean \"name\"?\n");
  CHECK(messages("Schema = 1\n", read) == "f.toml:1:1: Schema: unknown key, did you mean \"schema\"?\n");
  CHECK(messages("zzz = 1\n", read) == "f.toml:1:1: zzz: unknown key, expected one of name, schema\n");
  CHECK(messages("[\"a b\\n\"]\n", read) == "f.toml:1:2: \"a b\\n\": unknown key, expected one of name, schema\n");
}

TEST_CASE("a misspelt required key gives one message, two distinct slips give two") {
  const auto read = [](TomlTable& root) {
    (void)root.quantity<Seconds>("latency");
    (void)root.quantity<BytesPerSecond>("bandwidth");
    root.finish();
  };
  CHECK(messages("latancy = '1 us'\nbandwidth = '1 GB/s'\n", read) ==
        "f.toml:1:1: latancy: unknown key, did you mean \"latency\"?\n");
  CHECK(messages("latancy = '1 us'\n", read) ==
        "f.toml:1:1: bandwidth: missing key, expected a bandwidth such as \"25 GB/s\"\n"
        "f.toml:1:1: latancy: unknown key, did you mean \"latency\"?\n");
}

TEST_CASE("problems of the reader's own") {
  const auto read = [](TomlTable& root) {
    TomlTable link = root.table("link");
    link.problem("to", "no device is called \"v101\"");
    link.problem("", "a link needs two ends");
    link.problem("absent", "must be given with \"to\"");
    CHECK(link.where("to").line == 2);
    CHECK(link.where("to").column == 6);
    CHECK(link.where().line == 1);
  };
  CHECK(messages("[link]\nto = 'v101'\n", read) == R"(f.toml:1:1: link: a link needs two ends
   1 | [link]
     | ^~~~~~
f.toml:1:1: link.absent: must be given with "to"
   1 | [link]
     | ^~~~~~
f.toml:2:6: link.to: no device is called "v101"
   2 | to = 'v101'
     |      ^~~~~~
)");
}

TEST_CASE("text that is no TOML") {
  CHECK(parse_message("") == "f.toml: empty file\n");
  CHECK(parse_message(" \n\t\r\n") == "f.toml: empty file\n");
  CHECK(parse_message("# only a comment\n").empty());
  CHECK(parse_message("a = 1\nb = \n") == R"(f.toml:2:5: not valid TOML (key-value pair): expected value, saw '\n'
   2 | b = 
     |     ^
)");
  CHECK(parse_message("a = 1\na = 2\n") ==
        R"(f.toml:2:5: not valid TOML (key-value pair): cannot redefine existing integer 'a'
   2 | a = 2
     |     ^
)");
  CHECK(parse_message("a = 99999999999999999999\n") ==
        R"(f.toml:1:25: not valid TOML (decimal integer): '99999999999999999999' is not representable in 64 bits
   1 | a = 99999999999999999999
     |                         ^
)");
  CHECK(parse_message("[device\nx = 1\n") == R"(f.toml:1:8: not valid TOML (table header): expected ']', saw '\n'
   1 | [device
     |        ^
)");
  CHECK(parse_message("a = 1\nb = \"\xff\"\n") == "f.toml:2:6: not a text file: byte 0xff is not UTF-8\n");
  CHECK(parse_message(std::string("a\0b", 3)) == "f.toml:1:2: not a text file: byte 0x00 is a control character\n");
}

TEST_CASE("control characters that escapes bring in are refused where they stand") {
  const std::string expected = "f.toml:1:5: expected text without control characters, got \"a\\x1b[31m\"\n";
  CHECK(parse_message("n = \"a\\u001b[31m\"\n").substr(0, expected.size()) == expected);
  for (const char* text : {"n = \"\\u0000\"\n", "n = [\"a\", \"\\u009b\"]\n", "\"\\u007f\" = 1\n"}) {
    INFO(text);
    CHECK(parse_message(text).find("without control characters") != std::string::npos);
  }
  CHECK(messages("n = \"a\\nb\\t\u00e9\"\n", [](TomlTable& t) { (void)t.text("n"); }).empty());
}
