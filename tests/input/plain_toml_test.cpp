// The reader of plain TOML against the library: the same values at the same places, or nothing.
#include "model/input/plain_toml.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "model/input/file_text.hpp"
#include "model/input/nesting_guard.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

std::string shown(const TextPlace& place) { return fmt::format("{}:{}+{}", place.line, place.column, place.width); }

/// Everything that a value holds but the place of the root, which its reader sets.
std::string shown(const TomlValue& value, bool root = true) {
  std::string all = fmt::format("{} {} '{}' {} {} {}", root ? "" : shown(value.place), kind_words(value.kind), value.text,
                                value.integer, value.decimal, value.boolean);
  for (const TomlValue& element : value.elements) all += fmt::format("\n[{}]", shown(element, false));
  for (const TomlMember& member : value.members)
    all += fmt::format("\n{} {} = ({})", shown(member.key_place), member.key, shown(member.value, false));
  return all;
}

std::vector<std::string> catalogue_texts() {
  std::vector<std::string> texts;
  for (const char* folder : {"/hardware", "/scenarios", "/tests/data", "/calibrate"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(TBDSIM_SOURCE_DIR) + folder))
      if (entry.path().extension() == ".toml") texts.push_back(read_file(entry.path().string()).value());
  return texts;
}

/// Whether the text is plain. Fails where the reader differs from the library, or takes what a guard refuses.
bool agrees(const std::string& text) {
  const auto plain = parse_plain_toml(text);
  if (!plain) return false;
  const auto parsed = parse_toml(text, "f.toml");
  INFO(text);
  CHECK_FALSE(binary_problem(text, ""));
  CHECK_FALSE(nesting_problem(text, ""));
  if (!parsed) {
    FAIL_CHECK(to_text(parsed.error()));
  } else {
    CHECK(shown(*plain) == shown(*parsed));
  }
  return true;
}

}  // namespace

TEST_CASE("plain TOML: every file of the catalogue is read as the library reads it") {
  const auto texts = catalogue_texts();
  REQUIRE(texts.size() > 200);
  std::size_t plain = 0;
  for (const std::string& text : texts) plain += agrees(text) ? 1 : 0;
  // The others hold escapes or strings of several lines. Were they many, nothing would be gained.
  CHECK(plain >= texts.size() * 95 / 100);
}

TEST_CASE("plain TOML: what it takes") {
  for (const char* text :
       {"a = 1", "a = -1 # é\n\n[t]\nb = \"é x\" # c", "a = [1, 2.5,\n \"x\", # c\n]\nb = [[1], []]\n",
        "[a.b]\nc = true\n[a.d]\ne = {f = 1, g = {h = []}}",
        "a.b = 1\na.c = 2\nd.e.f = 3\nd.g = {h.i = 1, h.j = 2}\n[k]\na.b = 1\n", "a = \"\\\"x\\\\\" # \\n\nb = \"\\\"\"",
        "[[a]]\nb = 1\n[a.c]\nd = 1\n[[a]]\n[a.c]\n[[a.e]]\n", "a = 0.1e-3\nb = 1E+5\nc = 9223372036854775807\n", "\ta = {}\t\n"})
    CHECK(agrees(text));
}

TEST_CASE("plain TOML: what it leaves to the library") {
  for (const char* text : {"a",
                           "a =",
                           "a = 01",
                           "a = 1_000",
                           "a = 0x10",
                           "a = inf",
                           "a = +1",
                           "a = 1979-05-27",
                           "a = 07:32:00",
                           "a = 'x'",
                           "a = \"\"\"x\"\"\"",
                           "a = \"\\n\"",
                           "a = \"x",
                           "a = 1 b = 2",
                           "a = 1\na = 2",
                           "a.b = 1\na.b = 2",
                           "a.b = 1\na = 1",
                           "a = 1\na.b = 1",
                           "a = {}\na.b = 1",
                           "a.b = 1\n[a]",
                           "a.b = 1\n[a.c]",
                           "a . b = 1",
                           "a. = 1",
                           ".a = 1",
                           "\"a\" = 1",
                           "[a",
                           "[]",
                           "[a.]",
                           "[.a]",
                           "[a..b]",
                           "[ a ]",
                           "[[a]",
                           "[[a] ]",
                           "[a]]",
                           "[a]\n[a]",
                           "[a.b]\n[a]",
                           "a = {b = 1}\n[a]",
                           "a = {b = 1}\n[a.c]",
                           "a = [1]\n[[a]]",
                           "a = [{b = 1}]\n[[a]]",
                           "a = [{b = 1}]\n[a.c]",
                           "[a]\n[[a]]",
                           "[[a]]\n[a]",
                           "a = {b = 1,}",
                           "a = {b = 1\n}",
                           "a = [1",
                           "a = [1 2]",
                           "a = [,]",
                           "a = 9223372036854775808",
                           "a = 1.",
                           "a = .5",
                           "a = 1e",
                           "a = true1",
                           "a = 1\r\n",
                           "a = \"\x01\"",
                           "a = \"\x7f\"",
                           "a = \"\xff\"",
                           "a = \"\xc2\x80\"",
                           "# \x01",
                           "# \xff\na = 1",

                           "a = [[[[[[[[[1]]]]]]]]]",
                           "[a.b.c.d.e.f.g.h.i]"}) {
    INFO(text);
    CHECK_FALSE(parse_plain_toml(text));
  }
  std::string many;
  for (int i = 0; i < 257; ++i) many += fmt::format("k{} = 1\n", i);
  CHECK_FALSE(parse_plain_toml(many));
  CHECK(agrees(many.substr(0, many.rfind("k256"))));
}

TEST_CASE("plain TOML: files with slips are left to the library or read as it reads them") {
  constexpr int kSlips = 4000;
  const std::string bytes = "\"'[]{}=.,#\n\t -+_e019aé\\\x01";
  std::vector<std::string> texts = catalogue_texts();
  std::mt19937 random(20261123);
  int plain = 0;
  for (int i = 0; i < kSlips; ++i) {
    std::string text = texts[random() % texts.size()].substr(0, 3000);
    for (auto n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = random() % text.size();
      const char byte = bytes[random() % bytes.size()];
      if (random() % 3 == 0)
        text.erase(at, 1 + random() % 4);
      else if (random() % 2 == 0)
        text.insert(at, 1, byte);
      else
        text[at] = byte;
    }
    plain += agrees(text) ? 1 : 0;
  }
  CHECK(plain > kSlips / 10);
  CHECK(plain < kSlips * 9 / 10);
}
