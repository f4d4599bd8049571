// A stack that states only what differs from another: what it takes, what it may not, and where its problems are told.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "model/hardware/cluster.hpp"
#include "model/stack/stack.hpp"
#include "tests/catch.hpp"

using namespace tbdsim;

namespace {

const std::string kRoot = TBDSIM_SOURCE_DIR;
const std::string kStacks = kRoot + "/hardware/stacks/";

/// A folder of stack files of its own.
class Folder {
 public:
  explicit Folder(const std::string& name) : path_(std::filesystem::path(TBDSIM_BINARY_DIR) / name) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  void write(const std::string& id, const std::string& text) const { std::ofstream(path_ / (id + ".toml")) << text; }
  /// The messages of reading a stack, with the folder left out; empty where there are none.
  [[nodiscard]] std::string messages(const std::string& id) const {
    const auto stack = read(id);
    if (stack) return "";
    std::string text = to_text(stack.error());
    const std::string folder = path_.string() + "/";
    for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder)) text.erase(at, folder.size());
    return text;
  }
  [[nodiscard]] Result<Stack> read(const std::string& id) const { return read_stack((path_ / (id + ".toml")).string(), kRoot); }

 private:
  std::filesystem::path path_;
};

std::string head(const std::string& name, const std::string& base) {
  return "schema = 1\nname = \"" + name + "\"\nextends = \"" + base + "\"\nsource = \"assumed: a test\"\n";
}

std::string text_of(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a stack takes what it does not state, over a chain, and keeps what it states") {
  const Folder folder("extends_chain");
  folder.write("older",
               head("older", "pytorch-1.13") + "version = \"8\"\nhost.dispatch = \"30 us\"\nhost.source = \"assumed: x\"\n");
  folder.write("newer", head("newer", "older") +
                            "version = \"9\"\nwithout = [\"minimum_compute_capability\", \"exchange.first_bucket\"]\n");
  const auto stack = folder.read("newer"), base = read_stack(kStacks + "pytorch-1.13.toml", kRoot);
  REQUIRE(stack);
  REQUIRE(base);
  CHECK(stack->id == "newer");
  CHECK(stack->version == "9");
  CHECK(stack->framework == Framework::pytorch);
  CHECK(stack->source == "assumed: a test");
  CHECK(stack->host.dispatch.base() == Approx(30e-6));
  CHECK(stack->host.update_dispatch == base->host.update_dispatch);
  CHECK(stack->convolution.forward == base->convolution.forward);
  CHECK(base->minimum_compute_capability == "3.7");
  CHECK(stack->minimum_compute_capability.empty());
  CHECK(base->exchange.first_bucket > Bytes(0.0));
  CHECK(stack->exchange.first_bucket == Bytes(0.0));
  CHECK(stack->version != base->version);
}

TEST_CASE("a variant is not inherited, a name must be stated") {
  const Folder folder("extends_own");
  folder.write("plain", head("plain", "pytorch-1.12-nhwc"));
  REQUIRE(folder.read("plain"));
  CHECK(folder.read("plain")->variant.empty());
  CHECK(folder.read("plain")->operators.order.channels_last);
  folder.write("nameless", "schema = 1\nextends = \"pytorch-2.1\"\nsource = \"assumed: a test\"\n");
  CHECK(folder.messages("nameless") == "nameless.toml:1:1: name: missing key, expected a string\n");
}

TEST_CASE("problems of what a stack extends, to the letter") {
  const Folder folder("extends_problems");
  folder.write("miss", head("miss", "pytorch-2.12"));
  CHECK(folder.messages("miss") ==
        "miss.toml:3:11: extends: no stack \"pytorch-2.12\" beside this file or in the catalogue, did you mean \"pytorch-2.1\"?\n"
        "   3 | extends = \"pytorch-2.12\"\n"
        "     |           ^~~~~~~~~~~~~~\n");
  folder.write("one", head("one", "two"));
  folder.write("two", head("two", "three"));
  folder.write("three", head("three", "one"));
  CHECK(folder.messages("one") ==
        "three.toml:3:11: extends: a circle: one extends two extends three extends one\n"
        "   3 | extends = \"one\"\n"
        "     |           ^~~~~\n");
  folder.write("self", head("self", "self"));
  CHECK(folder.messages("self").find("extends: a circle: self extends self\n") != std::string::npos);
  folder.write("number", "schema = 1\nname = \"number\"\nextends = 3\nsource = \"assumed: a test\"\n");
  CHECK(folder.messages("number").rfind("number.toml:3:11: extends: expected a string, got 3", 0) == 0);
  folder.write("without", head("without", "pytorch-2.1") + "without = [\"metric\", \"host.sleep\"]\n");
  CHECK(folder.messages("without") ==
        "without.toml:5:11: without: the file that it extends has no \"metric\"\n"
        "   5 | without = [\"metric\", \"host.sleep\"]\n"
        "     |           ^~~~~~~~~~~~~~~~~~~~~~~~\n"
        "without.toml:5:11: without: the file that it extends has no \"host.sleep\"\n"
        "   5 | without = [\"metric\", \"host.sleep\"]\n"
        "     |           ^~~~~~~~~~~~~~~~~~~~~~~~\n");
  folder.write("unsourced", head("unsourced", "pytorch-2.1") + "version = \"9\"\n[host]\ndispatch = \"1 us\"\n");
  CHECK(folder.messages("unsourced") ==
        "unsourced.toml:7:1: host.source: missing key: the table changes what the file that it extends says there\n"
        "   7 | dispatch = \"1 us\"\n"
        "     | ^~~~~~~~\n");
}

TEST_CASE("what is wrong in a base is told at its place there, beside what is wrong in the stack") {
  const Folder folder("extends_places");
  folder.write("base", "\n\n" + head("base", "pytorch-2.1") +
                           "version = \"1\"\nhost.dispatch = 24\nhost.slow = 1\nhost.source = \"assumed: a test\"\n");
  folder.write("heir", head("heir", "base") + "memory.context = 5\nmemory.source = \"assumed: a test\"\n");
  CHECK(folder.messages("heir") ==
        "heir.toml:5:18: memory.context: expected a size such as \"16 GiB\", got 5 (a bare number; write it as a string with its "
        "unit)\n"
        "   5 | memory.context = 5\n"
        "     |                  ^\n"
        "base.toml:8:17: host.dispatch: expected a time such as \"1.9 us\", got 24 (a bare number; write it as a string with its "
        "unit)\n"
        "   8 | host.dispatch = 24\n"
        "     |                 ^~\n"
        "base.toml:9:6: host.slow: unknown key, expected one of coupling, dispatch, eager, issue, source, "
        "start_up, update_dispatch, waits_each_step\n");
  folder.write("broken", "schema = 1\nname = \"broken\n");
  folder.write("of_broken", head("of_broken", "broken"));
  CHECK(folder.messages("of_broken").rfind("broken.toml:2:", 0) == 0);
}

TEST_CASE("the digest of a stack covers what it extends") {
  const Folder folder("extends_digest");
  folder.write("base", head("base", "pytorch-2.1") + "version = \"1\"\n");
  folder.write("heir", head("heir", "base"));
  const std::string before = folder.read("heir")->sha256;
  CHECK(before == folder.read("heir")->sha256);
  folder.write("base", head("base", "pytorch-2.1") + "version = \"1\" \n");
  CHECK(before != folder.read("heir")->sha256);
}

TEST_CASE("a value from a base is changed by an assignment, and a wrong assignment is told as one") {
  const auto changed = [](const std::string& literal) {
    auto file = open_stack(kStacks + "pytorch-2.11.toml", kRoot);
    REQUIRE(file);
    const std::string text = "stack.host.dispatch=" + literal;
    file->edit({{{"stack.host.dispatch", literal, text, 1, 21}}, nullptr}, "stack");
    return read_stack(std::move(*file));
  };
  REQUIRE(changed("\"33 us\""));
  CHECK(changed("\"33 us\"")->host.dispatch.base() == Approx(33e-6));
  REQUIRE_FALSE(changed("33"));
  const Error error = changed("33").error().front();
  CHECK(error.where.file == kAssignments);
  CHECK(error.where.line == 1);
}

TEST_CASE("stacks of the catalogue state what differs, every base is one of a stack") {
  int lines = 0, stacks = 0;
  std::set<std::string> bases, extended;
  for (const std::string& id : catalogue_ids({kRoot}, "stacks")) {
    const std::string text = text_of(kStacks + id + ".toml");
    ++stacks;
    lines += static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    auto file = TomlFile::parse(text, id);
    REQUIRE(file);
    extended.insert(file->root().text_or("extends", ""));
  }
  CHECK(lines <= 22 * stacks);
  for (const auto& entry : std::filesystem::directory_iterator(kStacks + "base"))
    bases.insert("base/" + entry.path().stem().string());
  CHECK(bases.size() >= 4);
  for (const std::string& base : bases) {
    INFO(base);
    CHECK(extended.count(base) == 1);
  }
}
