// What a command writes replaces a result of its own kind alone, and only when all of it is written.
#include "model/input/output_file.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/catch.hpp"

using namespace tbdsim;
namespace fs = std::filesystem;

namespace {

/// A folder of its own, removed at the end.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("tbdsim-output-file-" + std::to_string(getpid()));
  Folder() {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }
  [[nodiscard]] std::string at(const std::string& name) const { return (path / name).string(); }
  [[nodiscard]] std::ptrdiff_t entries() const { return std::distance(fs::directory_iterator(path), fs::directory_iterator()); }
};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string refusal(const Result<void>& result) { return result ? "" : to_text(result.error()); }

/// No file may grow beyond so many bytes meanwhile, as on a disk that is nearly full.
struct FileSizeLimit {
  rlimit before{};
  explicit FileSizeLimit(rlim_t bytes) {
    report_file_size_limit();
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit now{bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before); }
};

}  // namespace

TEST_CASE("a result is written anew, over an earlier one and over nothing, with its permissions") {
  const Folder folder;
  const OutputFile fresh{folder.at("new.txt"), "mark"};
  CHECK(fresh.write("mark one"));
  CHECK(text_of(fresh.path) == "mark one");
  REQUIRE(chmod(fresh.path.c_str(), 0640) == 0);
  CHECK(fresh.write("mark two"));
  CHECK(text_of(fresh.path) == "mark two");
  CHECK(fs::status(fresh.path).permissions() == static_cast<fs::perms>(0640));
  const OutputFile over_empty{folder.file("empty.txt", ""), "mark"};
  CHECK(over_empty.write("mark"));
  CHECK(folder.entries() == 2);
}

TEST_CASE("a disk that is full keeps the old result and leaves nothing else") {
  const Folder folder;
  const OutputFile file{folder.file("old.txt", "mark old"), "mark"};
  {
    const FileSizeLimit limit(1000);
    CHECK(refusal(file.write(std::string(100000, 'x'))) == "cannot write \"" + file.path + "\": File too large\n");
  }
  CHECK(text_of(file.path) == "mark old");
  CHECK(folder.entries() == 1);
  const OutputFile full{"/dev/full", "mark"};
  CHECK(refusal(full.write("mark")) == "cannot write \"/dev/full\": No space left on device\n");
  CHECK(OutputFile{"/dev/null", "mark"}.write("mark"));
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("what the command reads is not replaced, under whatever name") {
  const Folder folder;
  const std::string input = folder.file("input.txt", "mark input");
  fs::create_symlink("input.txt", folder.at("symbolic.txt"));
  fs::create_hard_link(input, folder.at("hard.txt"));
  for (const char* name : {"input.txt", "symbolic.txt", "hard.txt", "./input.txt"}) {
    const OutputFile file{folder.at(name), "mark", {"", folder.at("gone.txt"), input}};
    CHECK(refusal(file.write("mark")) == file.path + ": is read by the same command; write to another file\n");
  }
  CHECK(text_of(input) == "mark input");
}

TEST_CASE("a file of another kind is not replaced") {
  const Folder folder;
  const OutputFile other{folder.file("other.txt", "SQLite format 3\nmore"), "mark"};
  CHECK(refusal(other.write("mark")) == other.path +
                                            ": holds what this command did not write (\"SQLite format 3\"...); write to another "
                                            "file, or remove it\n");
  CHECK(text_of(other.path) == "SQLite format 3\nmore");
  const OutputFile late{folder.file("late.txt", std::string(4096, ' ') + "mark"), "mark"};
  CHECK_FALSE(late.check());
  CHECK(refusal(OutputFile{folder.path.string(), "mark"}.write("mark")) ==
        "cannot write \"" + folder.path.string() + "\": it is a folder\n");
  CHECK(refusal(OutputFile{folder.at("missing/new.txt"), "mark"}.write("mark")) ==
        "cannot write \"" + folder.at("missing/new.txt") + "\": No such file or directory\n");
}

TEST_CASE("a symbolic link stays, and what it names is replaced") {
  const Folder folder;
  const std::string target = folder.file("target.txt", "mark old");
  fs::create_symlink("target.txt", folder.at("link.txt"));
  CHECK(OutputFile{folder.at("link.txt"), "mark"}.write("mark new"));
  CHECK(fs::is_symlink(folder.at("link.txt")));
  CHECK(text_of(target) == "mark new");
  // Another name of the same file keeps the old text.
  fs::create_hard_link(target, folder.at("hard.txt"));
  CHECK(OutputFile{folder.at("hard.txt"), "mark"}.write("mark newer"));
  CHECK(text_of(target) == "mark new");
}
