#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/hardware/architecture.hpp"
#include "model/hardware/device.hpp"
#include "model/hardware/hardware_file.hpp"
#include "model/input/known_word.hpp"

namespace tbdsim {
namespace {

/// Keys of a family whose source stands once, in `[source]`.
constexpr std::array<std::string_view, 19> kFacts{"generation",
                                                  "cuda",
                                                  "young_until",
                                                  "issues_one",
                                                  "slow_integers",
                                                  "fused_winograd",
                                                  "product_kernels",
                                                  "recurrent_kernels",
                                                  "persistent_recurrent",
                                                  "relays",
                                                  "ll128",
                                                  "nccl_tuning",
                                                  "own_links",
                                                  "reverse_access",
                                                  "lane_energy",
                                                  "tensor_operands",
                                                  "tensor_large",
                                                  "tensor_energy",
                                                  "tensor_cycle_flop"};

constexpr std::int64_t kMostGenerations = 1000;

/// Reads one family; what it does not say is of the row that `like` names, but for what `without` names.
class FamilyReader {
 public:
  FamilyReader(TomlTable& table, Architecture& row, const Architecture& base)
      : table_(table), row_(row), base_(base), without_(table.texts_or_empty("without")) {}

  void read() {
    read_identity();
    read_library();
    read_chip();
    read_exchange();
    read_tensor();
    (void)table_.text("source");
    for (const std::string& key : without_)
      if (std::find(kFacts.begin(), kFacts.end(), key) == kFacts.end())
        table_.problem("without", fmt::format("no fact is called \"{}\"", key));
  }

 private:
  TomlTable& table_;
  Architecture& row_;
  const Architecture& base_;
  std::vector<std::string> without_;

  [[nodiscard]] bool has(std::string_view key) const { return table_.has(key); }
  [[nodiscard]] bool lent(std::string_view key) const {
    return std::find(without_.begin(), without_.end(), key) == without_.end();
  }
  /// The value stated, else that of the base unless it is taken away.
  template <class Value, class Read>
  void take(std::string_view key, Value Architecture::*field, const Read& read) {
    if (has(key))
      row_.*field = read();
    else if (lent(key))
      row_.*field = base_.*field;
  }
  void take_text(std::string_view key, std::string Architecture::*field) {
    take(key, field, [&] { return table_.text(key); });
  }
  void take_flag(std::string_view key, bool Architecture::*field) {
    take(key, field, [&] { return table_.boolean_or(key, false); });
  }
  /// A CUDA release.
  void take_release(std::string_view key, std::string Architecture::*field) {
    take_text(key, field);
    if (has(key) && capability_number(row_.*field) == 0) table_.problem(key, "expected a CUDA release such as \"11.8\"");
  }

  void read_identity() {
    row_.name = base_.name;
    if (has("architecture") || base_.name.empty()) row_.name = table_.text("architecture");
    row_.revision = table_.text_or("revision", "");
    take("generation", &Architecture::generation,
         [&] { return std::optional<int>(static_cast<int>(table_.integer("generation", 0, kMostGenerations))); });
  }

  void read_library() {
    take_release("cuda", &Architecture::cuda);
    take_release("young_until", &Architecture::young_until);
    take_flag("fused_winograd", &Architecture::fused_winograd);
    take_text("product_kernels", &Architecture::product_kernels);
    take_text("recurrent_kernels", &Architecture::recurrent_kernels);
    take("persistent_recurrent", &Architecture::persistent, [&] {
      constexpr std::array<std::string_view, 2> kWords{"volta", "ampere"};
      return read_known_word(table_, "persistent_recurrent", kWords, "rule") == kWords[0] ? PersistentRule::volta
                                                                                          : PersistentRule::ampere;
    });
  }

  void read_chip() {
    take_flag("issues_one", &Architecture::issues_one);
    take_flag("slow_integers", &Architecture::slow_integers);
    take("reverse_access", &Architecture::reverse_access, [&] { return table_.quantity<Seconds>("reverse_access"); });
    take("lane_energy", &Architecture::lane_energy,
         [&] { return std::optional<Joules>(table_.quantity<Joules>("lane_energy")); });
  }

  void read_exchange() {
    take_flag("relays", &Architecture::relays);
    take_flag("ll128", &Architecture::ll128);
    take_flag("own_links", &Architecture::own_links);
    take("nccl_tuning", &Architecture::nccl_tuning, [&] {
      constexpr std::array<std::string_view, 2> kWords{"volta", "ampere"};
      return read_known_word(table_, "nccl_tuning", kWords, "tuning") == kWords[0] ? NcclTuning::volta : NcclTuning::ampere;
    });
  }

  void read_tensor() {
    for (const std::string_view key : {"tensor_operands", "tensor_large", "tensor_energy", "tensor_cycle_flop"}) table_.mark(key);
    if (base_.tensor) row_.tensor = base_.tensor;
    if (has("tensor_operands")) {
      if (!row_.tensor) row_.tensor.emplace();
      row_.tensor->operands = table_.number("tensor_operands", kPositive);
    }
    if (!row_.tensor) {
      for (const std::string_view key : {"tensor_large", "tensor_energy", "tensor_cycle_flop"})
        if (has(key)) table_.problem(key, "says nothing without tensor_operands");
      return;
    }
    TensorFacts& tensor = *row_.tensor;
    if (!lent("tensor_large")) tensor.large = TensorFacts{}.large;
    if (!lent("tensor_energy")) tensor.energy.reset();
    if (has("tensor_large")) tensor.large = table_.number("tensor_large", kNotNegative);
    if (has("tensor_energy")) tensor.energy = table_.number("tensor_energy", kPositive);
    if (has("tensor_cycle_flop") || tensor.cycle_flop == 0.0) tensor.cycle_flop = table_.number("tensor_cycle_flop", kPositive);
  }
};

/// "7.0" or "gfx90a"; empty after noting what is wrong.
std::string read_family_name(TomlTable& table, const std::vector<Architecture>& before) {
  const bool chip = table.has("chip");
  if (chip && table.has("capability")) table.problem("chip", "beside `capability`: a family has one of the two");
  const std::string text = table.text(chip ? "chip" : "capability");
  if (!chip && !text.empty() && capability_number(text) == 0)
    table.problem("capability", "expected a compute capability such as \"7.0\"");
  for (const Architecture& row : before)
    if (row.family == text) table.problem(chip ? "chip" : "capability", fmt::format("a second family \"{}\"", text));
  const int last = [&] {
    int most = 0;
    for (const Architecture& row : before) most = std::max(most, capability_number(row.family));
    return most;
  }();
  if (!chip && capability_number(text) < last) table.problem("capability", "expected one above those before it");
  return text;
}

const Architecture& base_of(TomlTable& table, const std::vector<Architecture>& before) {
  static const Architecture kNone;
  if (!table.has("like")) return kNone;
  const std::string like = table.text("like");
  const auto found = std::find_if(before.begin(), before.end(), [&](const Architecture& row) { return row.family == like; });
  if (found != before.end()) return *found;
  table.problem("like", fmt::format("expected a family that stands before this one, got \"{}\"", like));
  return kNone;
}

}  // namespace

Result<Architectures> Architectures::read(TomlFile file) {
  TomlTable root = file.root();
  (void)root.integer("schema", kHardwareSchema, kHardwareSchema);
  Architectures all;
  for (TomlTable& table : root.tables_or_empty("family")) {
    Architecture row;
    row.family = read_family_name(table, all.families_);
    const Architecture base = base_of(table, all.families_);
    FamilyReader(table, row, base).read();
    all.families_.push_back(std::move(row));
  }
  std::vector<std::string> sets;
  for (const Architecture& row : all.families_)
    if (!row.product_kernels.empty() && std::find(sets.begin(), sets.end(), row.product_kernels) == sets.end())
      sets.push_back(row.product_kernels);
  for (Architecture& row : all.families_) row.product_sets = sets;
  if (all.families_.empty()) root.problem("", "expected at least one [[family]]");
  TomlTable sources = root.table("source");
  for (const std::string_view fact : kFacts) (void)sources.text(fact);
  root.finish();
  if (!file.errors().empty()) return tl::make_unexpected(file.errors());
  return all;
}

}  // namespace tbdsim
