#pragma once
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/configuration/predict_options.hpp"
#include "model/units/quantity.hpp"

// The one table of options. Help, completion and manual page, the command line of every verb, the columns and the `options` of
// measured-run tables, `--set parallel.KEY`, the axes of studies, the options of claims and the keys of the JSON `config` are
// read from it.
namespace tbdsim {

/// Verbs of the program, in the order of its help.
enum class Verb {
  predict,
  compare,
  plan,
  sweep,
  explain,
  network,
  scale,
  memory,
  validate,
  topology,
  list,
  show,
  docs,
  calibrate
};

struct VerbRow {
  Verb verb;
  std::string_view name, text;
};
[[nodiscard]] std::span<const VerbRow> verb_table();

/// A set of verbs.
class Verbs {
 public:
  constexpr Verbs() = default;
  constexpr Verbs(std::initializer_list<Verb> verbs) {
    for (const Verb verb : verbs) bits_ |= bit(verb);
  }
  [[nodiscard]] constexpr bool has(Verb verb) const { return (bits_ & bit(verb)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  [[nodiscard]] constexpr Verbs operator|(Verbs other) const {
    other.bits_ |= bits_;
    return other;
  }

 private:
  static constexpr std::uint32_t bit(Verb verb) { return std::uint32_t{1} << static_cast<unsigned>(verb); }
  std::uint32_t bits_ = 0;
};

/// What the options of a measured run say: of a job, or of a collective alone.
struct RowSettings {
  PredictOptions options;
  std::string collective;    ///< `--collective`, with `--bytes`
  std::string nccl, launch;  ///< and, if known, `--nccl`, `--launch`
  std::optional<Bytes> message;
};

/// Where the value of an option lands. The member's type says what is read: a flag, a whole number, a name, numbers of GPUs,
/// assignments, a size. Nothing: in the verb's own arguments.
using Landing =
    std::variant<std::monostate, bool PredictOptions::*, int PredictOptions::*, std::optional<int> PredictOptions::*,
                 std::string PredictOptions::*, std::vector<int> PredictOptions::*, std::vector<std::string> PredictOptions::*,
                 std::string RowSettings::*, std::optional<Bytes> RowSettings::*>;

/// What an option of a measured run says something about.
enum class About { any, step, collective };

/// Where an option may stand beside the command line.
enum Place : unsigned {
  kInColumn = 1,  ///< a column of measured-run tables, by its key
  kInRow = 2,     ///< their column `options`
  kInSet = 4,     ///< `--set parallel.KEY`
  kInClaim = 8  ///< claims and grids of scenarios: a file of somebody else's, so only what changes a prediction or asks for more
};

/// One option, or one word that stands without an option. Names are unique among the rows of a verb.
// The order of the fields is that in which rows of the table read well; a few hundred bytes of padding in all.
struct OptionRow {              // NOLINT(clang-analyzer-optin.performance.Padding)
  std::string_view name{};      ///< without its dashes
  char letter = '\0';           ///< short form: `o` for `-o`
  bool word = false;            ///< stands without an option
  std::string_view value{};     ///< what help shows as its value; empty: its words, or a flag
  std::string_view words{};     ///< values between blanks, where it takes no others
  std::string_view help{};      ///< what it says, with the unit of a number
  std::string_view fallback{};  ///< what holds without it; empty: nothing
  Verbs verbs{};
  Verbs lists{};  ///< verbs at which it takes a list, of numbers with ranges: it sweeps
  Landing landing{};
  int least = 1, most = std::numeric_limits<int>::max();  ///< of a whole number
  std::string_view alias{};                               ///< another name on the command line and in files
  std::string_view key{};                                 ///< in files and JSON; empty: the name with underscores
  About about = About::step;
  unsigned places = 0;       ///< of `Place`
  bool file = false;         ///< the value may be a file, then one beside the file that names it
  std::string_view kinds{};  ///< kinds of the catalogue whose entries it names, between blanks
  [[nodiscard]] bool flag() const { return value.empty() && words.empty(); }
  [[nodiscard]] bool stands(Place place) const { return (places & place) != 0; }
};

/// Every option: those of a job first, then those of the verbs.
[[nodiscard]] std::span<const OptionRow> option_table();
/// Those of a verb, in the order of its help.
[[nodiscard]] std::vector<const OptionRow*> options_of(Verb verb);
/// The first option of a name that may stand there; nullptr: none.
[[nodiscard]] const OptionRow* find_option(std::string_view name, Place place);
/// The same by key or by name with underscores (`batch_per_gpu`, `batch`).
[[nodiscard]] const OptionRow* find_key(std::string_view key, Place place);

/// `seq_len`, the name of an option in files and JSON.
[[nodiscard]] std::string key_of(const OptionRow& row);
/// What help shows as the value at a verb: `NAME`, `LIST`, `table|json|csv`; empty: a flag.
[[nodiscard]] std::string shown_value(const OptionRow& row, Verb verb);
/// What help says, in one line.
[[nodiscard]] std::string shown_help(const OptionRow& row);
/// Whether an option of a verb is shown with `LIST`, and what that means.
[[nodiscard]] bool takes_lists(Verb verb);
inline constexpr std::string_view kListMeaning = "A LIST is 1,2,4 or 1..8 or 4..128*2 (each twice the one before).";

}  // namespace tbdsim
