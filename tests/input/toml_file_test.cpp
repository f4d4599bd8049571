// Opening, hostile files, and what readers get when all is well.
#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "model/input/file_text.hpp"
#include "model/input/toml_reader.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

std::string parse_message(std::string text) {
  const auto file = TomlFile::parse(std::move(text), "f.toml");
  return file ? "" : to_text(file.error());
}

std::string repeated(const std::string& piece, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += piece;
  return all;
}

std::string temporary(const std::string& name) { return (std::filesystem::path(TBDSIM_BINARY_DIR) / name).string(); }

}  // namespace

TEST_CASE("files that cannot be read") {
  const auto message = [](const std::string& path) { return to_text(TomlFile::open(path).error()); };
  CHECK(message("no/such.toml") == "no/such.toml: cannot open: No such file or directory\n");
  CHECK(message("/") == "/: expected a file, got a directory\n");
  const std::string pipe = temporary("toml_file_test.pipe");
  std::filesystem::remove(pipe);
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(message(pipe) == pipe + ": expected a regular file, got a named pipe\n");
  std::filesystem::remove(pipe);
  const std::string path = temporary("toml_file_test.toml");
  std::ofstream(path) << "";
  CHECK(message(path) == path + ": empty file\n");
  std::ofstream(path) << "a = 1\n";
  auto file = TomlFile::open(path);
  REQUIRE(file);
  CHECK(file->name() == path);
  CHECK(file->text() == "a = 1\n");
  // Tables of 64 MiB are read and TOML of 8 MiB, one byte more is not; a sparse file costs no disk.
  std::filesystem::resize_file(path, std::uintmax_t{64} << 20);
  CHECK(read_file(path).value().size() == std::size_t{64} << 20);
  std::filesystem::resize_file(path, (std::uintmax_t{64} << 20) + 1);
  CHECK(to_text(read_file(path).error()) == path + ": larger than 64 MiB, which no input file is\n");
  std::filesystem::resize_file(path, std::uintmax_t{8} << 20);
  CHECK(message(path) == path + ":2:1: not a text file: byte 0x00 is a control character\n");
  std::filesystem::resize_file(path, (std::uintmax_t{8} << 20) + 1);
  CHECK(message(path) == path + ": larger than 8 MiB, which no input file is\n");
  std::filesystem::remove(path);
}

TEST_CASE("ten megabytes of noise give one error, fast") {
  std::mt19937 random(20180507);
  std::string noise(10'000'000, '\0');
  for (char& c : noise) c = static_cast<char>(random() & 0xFFu);
  noise[0] = 'a';
  noise[1] = '\x01';
  const auto start = std::chrono::steady_clock::now();
  CHECK(parse_message(noise) == "f.toml:1:2: not a text file: byte 0x01 is a control character\n");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(1));
}

TEST_CASE("nesting is bounded, on both sides") {
  CHECK(parse_message("a = " + repeated("[", 32) + repeated("]", 32)).empty());
  CHECK(parse_message("a = " + repeated("[", 33) + repeated("]", 33)) == "f.toml:1:37: more than 32 brackets open\n");
  CHECK(parse_message(repeated("a.", 15) + "a = 1").empty());
  CHECK(parse_message("\n" + repeated("a.", 16) + "a = 1") == "f.toml:2:32: a key of more than 16 parts\n");
  CHECK(parse_message("a = " + repeated("[", 3'000'000)) == "f.toml:1:37: more than 32 brackets open\n");
  CHECK(parse_message(repeated("a.", 3'000'000) + "a = 1") == "f.toml:1:32: a key of more than 16 parts\n");
  CHECK(parse_message("[" + repeated("a . ", 3'000'000) + "a]") == "f.toml:1:64: a key of more than 16 parts\n");
  CHECK(parse_message(repeated("\"a\".", 3'000'000) + "a = 1") == "f.toml:1:64: a key of more than 16 parts\n");
}

TEST_CASE("brackets and dots inside strings and comments are no nesting") {
  const std::string dots = repeated(". [", 100);
  CHECK(parse_message("a = \"" + dots + "\\\"" + dots + "\"\n").empty());
  CHECK(parse_message("a = '" + dots + "\\'\n").empty());
  CHECK(parse_message("a = \"\"\"\n" + dots + "\"\n" + dots + "\"\"\"\n").empty());
  CHECK(parse_message("a = '''\n" + dots + "'\n" + dots + "'''\n").empty());
  CHECK(parse_message("# " + dots + "\na = [1.5, 2.5, 3.5, " + repeated("1.5, ", 100) + "]\n").empty());
}

TEST_CASE("a long line is cut around its caret, an unprintable one is not shown") {
  const std::string text = "x = [" + repeated("1, ", 100) + "'two', " + repeated("3, ", 100) + "4]\n";
  auto file = TomlFile::parse(text, "f.toml");
  REQUIRE(file);
  (void)file->root().integers_or_empty("x");
  CHECK(to_text(file->errors()) == "f.toml:1:306: x[100]: expected a whole number, got \"two\" (a string)\n   1 | ..." +
                                       text.substr(265, 120) + "...\n     | " + std::string(43, ' ') + "^~~~~\n");
  auto long_value = TomlFile::parse("x = '" + std::string(500, 'v') + "'\n", "f.toml");
  REQUIRE(long_value);
  (void)long_value->root().integer("x", 0, 1);
  CHECK(to_text(long_value->errors()) == "f.toml:1:5: x: expected a whole number from 0 to 1, got \"" + std::string(60, 'v') +
                                             "...\" (a string)\n   1 | x = '" + std::string(115, 'v') + "...\n     |     ^" +
                                             std::string(115, '~') + "\n");
}

TEST_CASE("characters of several bytes count once, tabs are kept before the caret") {
  auto file = TomlFile::parse("\tx = { s = \"é\xE2\x82\xAC\", n = 1.5 }\n", "f.toml");
  REQUIRE(file);
  TomlTable x = file->root().table("x");
  CHECK(x.text("s") == "é\xE2\x82\xAC");
  (void)x.integer("n", 0, 9);
  CHECK(to_text(file->errors()) ==
        "f.toml:1:22: x.n: expected a whole number from 0 to 9, got 1.5 (a decimal number)\n"
        "   1 | \tx = { s = \"é\xE2\x82\xAC\", n = 1.5 }\n"
        "     | \t                    ^~~\n");
}

TEST_CASE("after twenty problems the rest are counted") {
  std::string text;
  for (int i = 0; i < 1500; ++i) text += fmt::format("k{} = 1\n", i);
  auto file = TomlFile::parse(text, "f.toml");
  REQUIRE(file);
  file->root().finish();
  const Errors errors = file->errors();
  REQUIRE(errors.size() == 21);
  CHECK(errors[19].text() == "f.toml:20:1: k19: unknown key");
  CHECK(errors[20].text() == "f.toml: 1480 more problems");
}

TEST_CASE("values, defaults and order of a good file") {
  auto opened = TomlFile::parse(R"(
name = "x"
ids = [3, -1]
tags = ["b", "a"]
share = "85 %"
on = true
[z]
t = "2 ms"
[a]
b = "1 GiB"
[a.sub]
)",
                                "f.toml");
  REQUIRE(opened);
  TomlFile file = std::move(*opened);
  TomlTable root = file.root();
  CHECK(root.keys() == std::vector<std::string>{"name", "ids", "tags", "share", "on", "z", "a"});
  CHECK(root.text("name") == "x");
  CHECK(root.text_or("title", "none") == "none");
  CHECK(root.integers_or_empty("ids") == std::vector<std::int64_t>{3, -1});
  CHECK(root.integers_or_empty("other").empty());
  CHECK(root.texts_or_empty("tags") == std::vector<std::string>{"b", "a"});
  CHECK_THAT(root.number("share"), WithinRel(0.85, 1e-15));
  CHECK(root.number_or("rest", 0.5) == 0.5);
  CHECK(root.boolean_or("on", false));
  CHECK(root.boolean_or("off", true));
  CHECK(root.integer_or("count", 7, 0, 9) == 7);
  CHECK(root.tables_or_empty("layer").empty());
  CHECK_FALSE(root.table_if("link"));
  const auto named = root.named_tables();
  REQUIRE(named.size() == 2);
  CHECK(named[0].first == "z");
  CHECK(named[1].first == "a");
  CHECK(named[1].second.path() == "a");
  CHECK(root.named_tables().size() == 2);
  CHECK(root.is_table("z"));
  CHECK_FALSE(root.is_table("name"));
  CHECK_FALSE(root.is_table("absent"));
  TomlTable z = root.table("z");
  CHECK(z.quantity<Seconds>("t") == Seconds(2e-3));
  TomlTable a = root.table("a");
  CHECK(a.quantity_if<Bytes>("b") == Bytes(1073741824.0));
  CHECK(a.table("sub").path() == "a.sub");
  root.finish();
  CHECK(to_text(file.errors()).empty());
}

TEST_CASE("reading from a table that is not there is harmless and says nothing more") {
  auto file = TomlFile::parse("a = 1\n", "f.toml");
  REQUIRE(file);
  TomlTable gone = file->root().table("gone");
  CHECK(gone.text("t").empty());
  CHECK(gone.integer("i", 3, 9) == 3);
  CHECK(gone.number("n", kPositive) == 1.0);
  CHECK(gone.quantity<Seconds>("q") == Seconds(1.0));
  CHECK_FALSE(gone.boolean_or("b", false));
  CHECK(gone.keys().empty());
  CHECK(gone.named_tables().empty());
  CHECK(gone.table("deeper").table("still").texts_or_empty("x").empty());
  gone.problem("x", "not reported");
  gone.finish();
  CHECK(to_text(file->errors()) == "f.toml:1:1: gone: missing key, expected a table\n");
}
