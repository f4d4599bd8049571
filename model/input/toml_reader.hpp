#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/input/edits.hpp"
#include "model/support/result.hpp"
#include "model/units/parse.hpp"

namespace tbdsim {

class TomlTable;

/// One parsed TOML file. Reading goes on after a problem: every getter notes what is wrong and returns a
/// harmless value, and `errors()` gives all problems of the file at once, in file order.
///
/// Usage: `auto file = TomlFile::open(path); TomlTable root = file->root(); ... root.finish();
///         if (!file->errors().empty()) return tl::make_unexpected(file->errors());`
class TomlFile {
 public:
  struct Impl;  ///< for the sources of this folder only
  /// Errors: cannot open, is a directory, empty, larger than 8 MiB, not text, nested absurdly deep, not valid TOML
  /// (with position; the parser stops at the first such error).
  [[nodiscard]] static Result<TomlFile> open(const std::string& path);
  /// `name` is what messages call the file. Errors: empty, not text, nested absurdly deep, not valid TOML.
  [[nodiscard]] static Result<TomlFile> parse(std::string text, std::string name);
  TomlFile(TomlFile&&) noexcept;
  TomlFile& operator=(TomlFile&&) noexcept;
  ~TomlFile();

  /// Takes from `base` all that this file does not say: tables key by key, other values whole. The keys `own` of the root, and
  /// those that its `without` names ("metric", "host.eager"), are not taken. Problems of what was taken are reported at its place
  /// in `base`. Expects that only the root was read yet, and precedes `edit`.
  /// Problems: `without` names what `base` does not have; a table changes values of one that states its source and states none.
  void extend(TomlFile base, const std::vector<std::string_view>& own);

  /// Applies the changes that belong to the document called `role`, and notes what it holds where `edits` asks for that. A
  /// change whose table this document lacks belongs to another one. Wrong values are the reader's to report, at the place
  /// of the assignment: `--set:1:27: link.nvlink.bandwidth: expected ...`. Expects that nothing was read yet.
  void edit(const Edits& edits, const std::string& role);

  [[nodiscard]] TomlTable root();
  [[nodiscard]] Errors errors() const;  ///< sorted by line, then column; the first 20 and a count of the rest
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const std::string& text() const;  ///< the bytes that were parsed, with those it extends (for a digest)

 private:
  std::unique_ptr<Impl> impl_;
  explicit TomlFile(std::unique_ptr<Impl> impl);
  friend class TomlTable;
};

/// Bounds for numbers and quantities; values are in base units.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;  ///< true: `low` itself is refused
};
inline constexpr Bounds kPositive{0.0, std::numeric_limits<double>::infinity(), true};
inline constexpr Bounds kNotNegative{0.0, std::numeric_limits<double>::infinity(), false};

/// A table of an open file. Cheap to copy (copies share what is known); must not outlive its TomlFile. Keys given to
/// any getter, to `has` or to `mark` count as known; `finish()` reports the others with a suggestion. Messages name
/// the full path of a key, `link.nvlink.latency` or `layer[3].kernel` (elements count from 0). A table that is
/// missing or is no table is reported once; reading from it is harmless and reports nothing more.
class TomlTable {
 public:
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> keys() const;  ///< in file order
  [[nodiscard]] const std::string& path() const;        ///< "link.nvlink"; empty for the root

  [[nodiscard]] std::string text(std::string_view key);  ///< missing or empty is an error
  [[nodiscard]] std::string text_or(std::string_view key, std::string_view fallback);
  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high);
  [[nodiscard]] std::int64_t integer_or(std::string_view key, std::int64_t fallback, std::int64_t low, std::int64_t high);
  /// A dimensionless finite number, or a string in percent: 0.85 or "85 %".
  [[nodiscard]] double number(std::string_view key, Bounds bounds = {});
  [[nodiscard]] double number_or(std::string_view key, double fallback, Bounds bounds = {});
  [[nodiscard]] bool boolean_or(std::string_view key, bool fallback);
  [[nodiscard]] std::vector<std::string> texts_or_empty(std::string_view key);
  /// A string, number or boolean, or an array of them, each as its text; empty where the key is missing.
  [[nodiscard]] std::vector<std::string> scalars(std::string_view key);
  [[nodiscard]] std::vector<std::int64_t> integers_or_empty(std::string_view key);

  /// A string with its unit, e.g. `bandwidth = "25 GB/s"`. A bare number is refused.
  template <class Q>
  [[nodiscard]] Q quantity(std::string_view key, Bounds bounds = kPositive) {
    return Q(quantity_base(key, dimension_of<Q>(), bounds).value_or(bounds.low_open ? 1.0 : 0.0));
  }
  template <class Q>
  [[nodiscard]] std::optional<Q> quantity_if(std::string_view key, Bounds bounds = kPositive) {
    if (!has(key)) {
      mark(key);
      return std::nullopt;
    }
    auto base = quantity_base(key, dimension_of<Q>(), bounds);
    return base ? std::optional<Q>(Q(*base)) : std::nullopt;
  }

  [[nodiscard]] bool is_table(std::string_view key) const;                     ///< present and a table; no problem is noted
  [[nodiscard]] TomlTable table(std::string_view key);                         ///< missing is an error
  [[nodiscard]] std::optional<TomlTable> table_if(std::string_view key);       ///< wrong type is an error
  [[nodiscard]] std::vector<TomlTable> tables_or_empty(std::string_view key);  ///< array of tables
  /// Sub-tables of a table whose keys are names, e.g. every [device.NAME]: (name, table) in file order. A key that is
  /// already known is passed over (so read plain keys first); any other that is no table is an error.
  [[nodiscard]] std::vector<std::pair<std::string, TomlTable>> named_tables();

  void mark(std::string_view key);  ///< known key, value not read here
  /// Notes a problem of the value at `key` (of the table itself when `key` is empty). `message` without the key.
  void problem(std::string_view key, const std::string& message);
  [[nodiscard]] SourceRef where(std::string_view key = {}) const;  ///< file `kAssignments` where an edit put the value
  /// Reports unknown keys, here and in every table opened below: `link.latancy: unknown key, did you mean "latency"?`.
  /// If the key it suggests was reported missing, that report is withdrawn: one slip, one message.
  void finish();

 private:
  friend class TomlFile;
  struct Node;
  std::shared_ptr<Node> node_;
  explicit TomlTable(std::shared_ptr<Node> node);
  [[nodiscard]] std::optional<double> quantity_base(std::string_view key, Dimension wanted, Bounds bounds);
};

}  // namespace tbdsim
