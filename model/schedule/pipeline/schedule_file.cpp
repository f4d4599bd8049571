#include "model/schedule/pipeline/schedule_file.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "model/input/known_word.hpp"
#include "model/input/toml_reader.hpp"
#include "model/schedule/pipeline/check_schedule.hpp"
#include "model/support/quote.hpp"

namespace tbdsim::pipeline {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kLetters = "FBW";  // in the order of BlockKind

constexpr KeyMeaning kKeys[] = {
    {"", "**`schema`**", "1", ""},
    {"", "`placement`",
     "`round-robin`: chunk c of rank i is stage c p + i; `vee`: odd chunks from the last rank back; `two-way`: chunk 1 in the "
     "opposite direction, for the second half of the micro-batches",
     "`round-robin`"},
    {"", "**`micro_batches`**", "micro-batches of one update", ""},
    {"", "`chunks`", "chunks of every rank; 2 under `two-way`", "1"},
    {"", "`source`", "where the schedule is from", ""},
    {"`[[rank]]`", "**`blocks`**",
     "its blocks in order: `F`, `B` or `W`, the micro-batch, a dot and the chunk (`F3.1`; without a chunk 0). `F4.0+B2.1` run "
     "together. A B without a W computes both gradients",
     ""},
};

constexpr FileFormat kFormats[] = {
    {"Pipeline schedule", "a file for `--schedule`; one `[[rank]]` for each rank of the pipeline", kKeys},
};

/// The number that `text` begins with, which is cut off; nothing: there is none, or none so large.
std::optional<std::int32_t> leading_number(std::string_view& text) {
  std::int32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, status] = std::from_chars(text.data(), end, number);
  if (status != std::errc{} || text.front() == '-') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stopped - text.data()));
  return number;
}

/// "F3.1"; nothing: it is no block.
std::optional<Block> read_block(std::string_view word) {
  if (word.empty()) return std::nullopt;
  const std::size_t letter = kLetters.find(word.front());
  word.remove_prefix(1);
  if (letter == std::string_view::npos || word.empty()) return std::nullopt;
  const auto micro_batch = leading_number(word);
  if (!micro_batch) return std::nullopt;
  std::int32_t chunk = 0;
  if (!word.empty()) {
    if (word.front() != '.' || word.size() < 2) return std::nullopt;
    word.remove_prefix(1);
    const auto number = leading_number(word);
    if (!number || *number > kMostChunks || !word.empty()) return std::nullopt;
    chunk = *number;
  }
  return Block{static_cast<BlockKind>(letter), static_cast<std::uint8_t>(chunk), false, false, *micro_batch};
}

/// Appends the blocks of one rank, joined ones one after the other.
void read_blocks(TomlTable& table, std::vector<Block>& blocks) {
  const std::string list = table.text("blocks");
  std::string_view rest = list;
  std::size_t position = 0;
  while (true) {
    const std::size_t begin = rest.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return;
    rest.remove_prefix(begin);
    const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
    rest.remove_prefix(word.size());
    for (std::string_view part = word;;) {
      const std::size_t plus = part.find('+');
      std::optional<Block> block = read_block(part.substr(0, plus));
      ++position;
      if (!block) {
        table.problem("blocks",
                      fmt::format("block {}: expected F, B or W with a micro-batch and a chunk, such as \"F3.1\", got {}",
                                  position, quoted(word)));
        break;
      }
      block->joined = plus != std::string_view::npos;
      blocks.push_back(*block);
      if (!block->joined) break;
      part.remove_prefix(plus + 1);
    }
  }
}

Placement read_placement(TomlTable& root) {
  if (!root.has("placement")) {
    root.mark("placement");
    return Placement::round_robin;
  }
  return read_row(root, "placement", placements(), "placement").value_or(Placement::round_robin);
}

PipelineShape read_shape(TomlTable& root, Placement placement) {
  PipelineShape shape;
  shape.micro_batches = static_cast<std::int32_t>(root.integer("micro_batches", 1, kMostBlocks));
  shape.chunks = static_cast<std::int32_t>(root.integer_or("chunks", 1, 1, kMostChunks));
  if (placement != Placement::two_way) return shape;
  if (shape.chunks != 2) root.problem("chunks", "expected 2 under \"two-way\", one of each direction");
  if (shape.micro_batches % 2 != 0)
    root.problem("micro_batches", fmt::format("expected an even number under \"two-way\", got {}", shape.micro_batches));
  return shape;
}

Result<PipelineSchedule> read(TomlFile& file) {
  TomlTable root = file.root();
  (void)root.integer("schema", kSchema, kSchema);
  (void)root.text_or("source", "");
  PipelineSchedule schedule;
  schedule.placement = read_placement(root);
  schedule.shape = read_shape(root, schedule.placement);
  std::vector<TomlTable> ranks = root.tables_or_empty("rank");
  if (ranks.empty()) root.problem("", "no [[rank]]; expected one for each rank of the pipeline");
  schedule.shape.ranks = static_cast<std::int32_t>(ranks.size());
  schedule.offsets = {0};
  for (TomlTable& rank : ranks) {
    read_blocks(rank, schedule.blocks);
    schedule.offsets.push_back(static_cast<std::int32_t>(schedule.blocks.size()));
  }
  root.finish();
  if (Errors errors = file.errors(); !errors.empty()) return tl::make_unexpected(std::move(errors));
  if (std::int64_t{3} * schedule.shape.micro_batches * schedule.shape.chunks > kMostBlocks / schedule.shape.ranks)
    root.problem("micro_batches", fmt::format("so many on so many ranks make more than {} blocks", kMostBlocks));
  else
    for (const ScheduleProblem& problem : problems(schedule))
      ranks[static_cast<std::size_t>(problem.rank)].problem("blocks", problem.message);
  if (Errors errors = file.errors(); !errors.empty()) return tl::make_unexpected(std::move(errors));
  mark_whole_backwards(schedule);
  return schedule;
}

}  // namespace

Result<PipelineSchedule> read_schedule_file(const std::string& path) {
  auto file = TomlFile::open(path);
  if (!file) return tl::make_unexpected(file.error());
  return read(*file);
}

Result<PipelineSchedule> parse_schedule_file(std::string text, const std::string& name) {
  auto file = TomlFile::parse(std::move(text), name);
  if (!file) return tl::make_unexpected(file.error());
  return read(*file);
}

std::string to_toml(const PipelineSchedule& schedule) {
  std::string toml = fmt::format("schema = {}\nplacement = \"{}\"\nmicro_batches = {}\nchunks = {}\n", kSchema,
                                 name(schedule.placement), schedule.shape.micro_batches, schedule.shape.chunks);
  for (std::int32_t rank = 0; rank < schedule.shape.ranks; ++rank) {
    toml += "\n[[rank]]\nblocks = \"";
    std::string_view between = "";
    for (const Block& block : schedule.of_rank(rank)) {
      toml += between;
      toml += text(block);
      between = block.joined ? "+" : " ";
    }
    toml += "\"\n";
  }
  return toml;
}

std::span<const FileFormat> schedule_format() { return kFormats; }

}  // namespace tbdsim::pipeline
