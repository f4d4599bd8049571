#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "model/hardware/architecture.hpp"
#include "model/hardware/device.hpp"
#include "model/hardware/hardware_file.hpp"
#include "model/input/known_word.hpp"

namespace tbdsim {
namespace {

constexpr Bounds kShare{0.0, 1.0, true};

constexpr std::int64_t kMostGenerations = 1000;

/// What is known of a family's tensor cores; a problem of `key` where that is nothing.
TensorFacts& tensor_of(TomlTable& table, Architecture& row, std::string_view key) {
  if (row.tensor) return *row.tensor;
  table.problem(key, "says nothing without tensor_operands");
  return row.tensor.emplace();
}

constexpr std::array<std::string_view, 7> kIdentity{"capability", "chip",    "architecture", "revision",
                                                    "like",       "without", "source"};

constexpr std::array<std::string_view, 2> kRules{"volta", "ampere"};

bool flag(TomlTable& table, std::string_view key) { return table.boolean_or(key, false); }

/// A CUDA release.
std::string release(TomlTable& table, std::string_view key) {
  std::string text = table.text(key);
  if (!text.empty() && capability_number(text) == 0) table.problem(key, "expected a CUDA release such as \"11.8\"");
  return text;
}

/// Which of the two words of `kRules`.
bool is_volta(TomlTable& table, std::string_view key, std::string_view noun) {
  return read_known_word(table, key, kRules, noun) == kRules.front();
}

/// One fact: how a family states it, and how it has it from another one.
struct Fact {
  std::string_view key;
  void (*read)(TomlTable&, Architecture&);
  void (*take)(const Architecture&, Architecture&);
};

constexpr Fact kFacts[] = {
    {"generation",
     [](TomlTable& t, Architecture& r) { r.generation = static_cast<int>(t.integer("generation", 0, kMostGenerations)); },
     [](const Architecture& b, Architecture& r) { r.generation = b.generation; }},
    {"cuda", [](TomlTable& t, Architecture& r) { r.cuda = release(t, "cuda"); },
     [](const Architecture& b, Architecture& r) { r.cuda = b.cuda; }},
    {"young_until", [](TomlTable& t, Architecture& r) { r.young_until = release(t, "young_until"); },
     [](const Architecture& b, Architecture& r) { r.young_until = b.young_until; }},
    {"product_issue", [](TomlTable& t, Architecture& r) { r.product_issue = t.number("product_issue", kShare); },
     [](const Architecture& b, Architecture& r) { r.product_issue = b.product_issue; }},
    {"taps_apart", [](TomlTable& t, Architecture& r) { r.taps_apart = flag(t, "taps_apart"); },
     [](const Architecture& b, Architecture& r) { r.taps_apart = b.taps_apart; }},
    {"slow_integers", [](TomlTable& t, Architecture& r) { r.slow_integers = flag(t, "slow_integers"); },
     [](const Architecture& b, Architecture& r) { r.slow_integers = b.slow_integers; }},
    {"fused_winograd", [](TomlTable& t, Architecture& r) { r.fused_winograd = flag(t, "fused_winograd"); },
     [](const Architecture& b, Architecture& r) { r.fused_winograd = b.fused_winograd; }},
    {"product_kernels", [](TomlTable& t, Architecture& r) { r.product_kernels = t.text("product_kernels"); },
     [](const Architecture& b, Architecture& r) { r.product_kernels = b.product_kernels; }},
    {"pipelined_products", [](TomlTable& t, Architecture& r) { r.pipelined_products = t.text("pipelined_products"); },
     [](const Architecture& b, Architecture& r) { r.pipelined_products = b.pipelined_products; }},
    {"either_order_8_bit", [](TomlTable& t, Architecture& r) { r.either_order_8_bit = flag(t, "either_order_8_bit"); },
     [](const Architecture& b, Architecture& r) { r.either_order_8_bit = b.either_order_8_bit; }},
    {"scales_blocks", [](TomlTable& t, Architecture& r) { r.scales_blocks = flag(t, "scales_blocks"); },
     [](const Architecture& b, Architecture& r) { r.scales_blocks = b.scales_blocks; }},
    {"exponentials", [](TomlTable& t, Architecture& r) { r.exponentials = t.number("exponentials", kPositive); },
     [](const Architecture& b, Architecture& r) { r.exponentials = b.exponentials; }},
    {"cache_reach", [](TomlTable& t, Architecture& r) { r.cache_reach = t.number("cache_reach", kPositive); },
     [](const Architecture& b, Architecture& r) { r.cache_reach = b.cache_reach; }},
    {"warp_products", [](TomlTable& t, Architecture& r) { r.warp_products = t.number("warp_products", kPositive); },
     [](const Architecture& b, Architecture& r) { r.warp_products = b.warp_products; }},
    {"recurrent_kernels", [](TomlTable& t, Architecture& r) { r.recurrent_kernels = t.text("recurrent_kernels"); },
     [](const Architecture& b, Architecture& r) { r.recurrent_kernels = b.recurrent_kernels; }},
    {"persistent_recurrent",
     [](TomlTable& t, Architecture& r) {
       r.persistent = is_volta(t, "persistent_recurrent", "rule") ? PersistentRule::volta : PersistentRule::ampere;
     },
     [](const Architecture& b, Architecture& r) { r.persistent = b.persistent; }},
    {"relays", [](TomlTable& t, Architecture& r) { r.relays = flag(t, "relays"); },
     [](const Architecture& b, Architecture& r) { r.relays = b.relays; }},
    {"ll128", [](TomlTable& t, Architecture& r) { r.ll128 = flag(t, "ll128"); },
     [](const Architecture& b, Architecture& r) { r.ll128 = b.ll128; }},
    {"nccl_tuning",
     [](TomlTable& t, Architecture& r) {
       r.nccl_tuning = is_volta(t, "nccl_tuning", "tuning") ? NcclTuning::volta : NcclTuning::ampere;
     },
     [](const Architecture& b, Architecture& r) { r.nccl_tuning = b.nccl_tuning; }},
    {"own_links", [](TomlTable& t, Architecture& r) { r.own_links = flag(t, "own_links"); },
     [](const Architecture& b, Architecture& r) { r.own_links = b.own_links; }},
    {"reverse_access", [](TomlTable& t, Architecture& r) { r.reverse_access = t.quantity<Seconds>("reverse_access"); },
     [](const Architecture& b, Architecture& r) { r.reverse_access = b.reverse_access; }},
    {"lane_energy", [](TomlTable& t, Architecture& r) { r.lane_energy = t.quantity<Joules>("lane_energy"); },
     [](const Architecture& b, Architecture& r) { r.lane_energy = b.lane_energy; }},
    {"tensor_operands",
     [](TomlTable& t, Architecture& r) { r.tensor.emplace().operands = t.number("tensor_operands", kPositive); },
     [](const Architecture& b, Architecture& r) {
       if (b.tensor) r.tensor.emplace().operands = b.tensor->operands;
     }},
    {"tensor_large",
     [](TomlTable& t, Architecture& r) { tensor_of(t, r, "tensor_large").large = t.number("tensor_large", kNotNegative); },
     [](const Architecture& b, Architecture& r) {
       if (b.tensor && r.tensor) r.tensor->large = b.tensor->large;
     }},
    {"tensor_energy",
     [](TomlTable& t, Architecture& r) { tensor_of(t, r, "tensor_energy").energy = t.number("tensor_energy", kPositive); },
     [](const Architecture& b, Architecture& r) {
       if (b.tensor && r.tensor) r.tensor->energy = b.tensor->energy;
     }},
    {"tensor_cycle_flop",
     [](TomlTable& t, Architecture& r) {
       tensor_of(t, r, "tensor_cycle_flop").cycle_flop = t.number("tensor_cycle_flop", kPositive);
     },
     [](const Architecture& b, Architecture& r) {
       if (b.tensor && r.tensor) r.tensor->cycle_flop = b.tensor->cycle_flop;
     }},
};

bool is_fact(std::string_view key) {
  return std::any_of(std::begin(kFacts), std::end(kFacts), [&](const Fact& fact) { return fact.key == key; });
}

/// Reads one family; what it does not say is of `base`, but for what `without` names. Only what is there is asked for, which
/// keeps the reading of all families short; where a key is none of these, all are, for a suggestion.
void read_family(TomlTable& table, const Architecture& base, Architecture& row) {
  const std::vector<std::string> keys = table.keys();
  const auto stated = [&](std::string_view key) { return std::find(keys.begin(), keys.end(), key) != keys.end(); };
  for (const std::string& key : keys) {
    if (is_fact(key) || std::find(kIdentity.begin(), kIdentity.end(), key) != kIdentity.end()) continue;
    for (const Fact& fact : kFacts) table.mark(fact.key);
  }
  row.name = base.name;
  if (stated("architecture") || base.name.empty()) row.name = table.text("architecture");
  if (stated("revision")) row.revision = table.text("revision");
  const std::vector<std::string> without = stated("without") ? table.texts_or_empty("without") : std::vector<std::string>{};
  for (const std::string& key : without)
    if (!is_fact(key)) table.problem("without", fmt::format("no fact is called \"{}\"", key));
  for (const Fact& fact : kFacts) {
    if (stated(fact.key))
      fact.read(table, row);
    else if (std::find(without.begin(), without.end(), fact.key) == without.end())
      fact.take(base, row);
  }
  if (row.tensor && row.tensor->operands > 0.0 && row.tensor->cycle_flop == 0.0 && !stated("tensor_cycle_flop"))
    (void)table.number("tensor_cycle_flop");
  (void)table.text("source");
}

/// "7.0" or "gfx90a"; empty after noting what is wrong.
std::string read_family_name(TomlTable& table, const std::vector<Architecture>& before) {
  const bool chip = table.has("chip");
  if (chip && table.has("capability")) table.problem("chip", "beside `capability`: a family has one of the two");
  std::string text = table.text(chip ? "chip" : "capability");
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

/// Of which nothing is known where `like` names none.
const Architecture& base_of(TomlTable& table, const std::vector<Architecture>& before) {
  static const Architecture kNone;
  if (!table.has("like")) return kNone;
  const std::string like = table.text("like");
  const auto found = std::find_if(before.begin(), before.end(), [&](const Architecture& row) { return row.family == like; });
  if (found != before.end()) return *found;
  table.problem("like", fmt::format("expected a family that stands before this one, got \"{}\"", like));
  return kNone;
}

/// What the families say of `fact`, each once, in the order of the file.
std::vector<std::string> all_of(const std::vector<Architecture>& families, std::string Architecture::*fact) {
  std::vector<std::string> all;
  for (const Architecture& row : families)
    if (!(row.*fact).empty() && std::find(all.begin(), all.end(), row.*fact) == all.end()) all.push_back(row.*fact);
  return all;
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
    read_family(table, base, row);
    all.families_.push_back(std::move(row));
  }
  const std::vector<std::string> products = all_of(all.families_, &Architecture::product_kernels),
                                 pipelined = all_of(all.families_, &Architecture::pipelined_products);
  for (Architecture& row : all.families_) {
    row.product_sets = products;
    row.pipelined_sets = pipelined;
  }
  if (all.families_.empty()) root.problem("", "expected at least one [[family]]");
  TomlTable sources = root.table("source");
  for (const Fact& fact : kFacts) (void)sources.text(fact.key);
  root.finish();
  if (!file.errors().empty()) return tl::make_unexpected(file.errors());
  return all;
}

}  // namespace tbdsim
