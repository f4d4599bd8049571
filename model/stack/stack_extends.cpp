#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "model/stack/stack.hpp"
#include "model/support/edit_distance.hpp"

namespace tbdsim {
namespace {

namespace fs = std::filesystem;

/// What a stack states of itself alone.
const std::vector<std::string_view> kOwnKeys{"schema", "name", "variant", "source", "extends", "without"};

std::string real_path(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  return error ? path : real.string();
}

/// The stacks of a folder, and those of its folder `base` ("base/pytorch").
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const std::string part : {"", "base/"}) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder / part, error))
      if (entry.path().extension() == ".toml") names.push_back(part + entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Opener {
 public:
  explicit Opener(std::string catalogue_root) : folder_(std::move(catalogue_root)) { folder_ /= "hardware/stacks"; }

  Result<TomlFile> open(const std::string& path) {
    auto file = TomlFile::open(path);
    if (!file) return file;
    chain_.push_back(real_path(path));
    TomlTable root = file->root();
    (void)root.integer("schema", 1, 1);
    if (!root.has("extends")) return file;
    const std::string name = root.text("extends");
    const std::string base = name.empty() ? "" : base_path(root, path, name);
    if (base.empty()) return tl::make_unexpected(file->errors());
    return open(base).map([&](TomlFile below) {
      file->extend(std::move(below), kOwnKeys);
      return std::move(*file);
    });
  }

 private:
  /// Beside the file, else in the catalogue; empty after noting why there is none.
  std::string base_path(TomlTable& root, const std::string& path, const std::string& name) {
    const fs::path beside = fs::path(path).parent_path();
    for (const fs::path& folder : {beside, folder_}) {
      std::string found = (folder / (name + ".toml")).string();
      std::error_code error;
      if (!fs::is_regular_file(found, error)) continue;
      if (std::find(chain_.begin(), chain_.end(), real_path(found)) == chain_.end()) return found;
      std::string circle;
      for (const std::string& step : chain_) circle += fs::path(step).stem().string() + " extends ";
      root.problem("extends", fmt::format("a circle: {}{}", circle, fs::path(found).stem().string()));
      return "";
    }
    std::vector<std::string> names = names_in(beside);
    const std::vector<std::string> catalogued = names_in(folder_);
    names.insert(names.end(), catalogued.begin(), catalogued.end());
    const auto near = nearest(name, names);
    root.problem("extends", fmt::format("no stack \"{}\" beside this file or in the catalogue{}", name,
                                        near ? fmt::format(", did you mean \"{}\"?", *near) : "; see `tbdsim list stacks`"));
    return "";
  }

  fs::path folder_;
  std::vector<std::string> chain_;
};

}  // namespace

Result<TomlFile> open_stack(const std::string& path, const std::string& catalogue_root) {
  return Opener(catalogue_root).open(path);
}

Result<Stack> read_stack(const std::string& path, const std::string& catalogue_root) {
  auto file = open_stack(path, catalogue_root);
  if (!file) return tl::make_unexpected(file.error());
  return read_stack(std::move(*file));
}

}  // namespace tbdsim
