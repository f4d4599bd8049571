#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/result.hpp"

namespace tbdsim {

class JsonObject;

/// A value below the root that is neither object nor list, as text: `true`, `3`, `bf16`; of a list its first element.
struct JsonScalar {
  std::string path;  ///< "zero_optimization.stage"
  std::string text;
  SourceRef where;  ///< of its key
};

/// One parsed JSON file whose root is an object. As with `TomlFile`, reading goes on after a problem, and `errors()` gives all of
/// them. Meant for small files that other programs wrote: keys that nobody asks for are no problem, `unread` lists them.
class JsonFile {
 public:
  struct Impl;
  /// `name` is what messages call the file. Errors, with their position: not JSON, cut short, larger than 8 MiB, nested more than
  /// 32 deep, a number beyond what a double holds, a root that is no object.
  [[nodiscard]] static Result<JsonFile> parse(std::string_view text, std::string name);
  JsonFile(JsonFile&&) noexcept;
  JsonFile& operator=(JsonFile&&) noexcept;
  ~JsonFile();

  [[nodiscard]] JsonObject root();
  /// Every value of every object, in file order; null is left out.
  [[nodiscard]] std::vector<JsonScalar> leaves() const;
  [[nodiscard]] Errors errors() const;  ///< in file order
  [[nodiscard]] const std::string& name() const;

 private:
  explicit JsonFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// An object of an open file. Cheap to copy; must not outlive its file. A key whose value is null counts as missing. Every getter
/// notes what is wrong with the value and returns a harmless one.
class JsonObject {
 public:
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] const std::string& path() const;  ///< "text_config"; empty for the root

  [[nodiscard]] std::string text_or(std::string_view key, std::string_view fallback);
  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high);  ///< missing is a problem
  [[nodiscard]] std::int64_t integer_or(std::string_view key, std::int64_t fallback, std::int64_t low, std::int64_t high);
  [[nodiscard]] double number_or(std::string_view key, double fallback, double low, double high);
  [[nodiscard]] bool boolean_or(std::string_view key, bool fallback);
  [[nodiscard]] std::vector<std::string> texts_or_empty(std::string_view key);
  /// Elements of an array of anything; 0 where the key is missing.
  [[nodiscard]] std::size_t count(std::string_view key);
  [[nodiscard]] std::optional<JsonObject> object_if(std::string_view key);  ///< another type is a problem

  void mark(std::string_view key);  ///< the key is known, its value not read
  /// Keys that were neither asked for nor marked, in file order.
  [[nodiscard]] std::vector<std::string> unread() const;
  /// Notes a problem of the value at `key`, or of the object where it has none; `message` without the key.
  void problem(std::string_view key, const std::string& message);

 private:
  friend class JsonFile;
  struct Node;
  explicit JsonObject(std::shared_ptr<Node> node);
  std::shared_ptr<Node> node_;
};

}  // namespace tbdsim
