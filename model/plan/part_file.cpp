#include "model/plan/part_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "model/input/csv_reader.hpp"
#include "model/support/quote.hpp"

namespace tbdsim::plan {
namespace {

/// A column that holds a whole number of a layout.
struct Axis {
  const char* name;
  int Layout::*member;
};
constexpr std::array<Axis, 7> kLayout{{{"tensor", &Layout::tensor},
                                       {"context", &Layout::context},
                                       {"expert", &Layout::expert},
                                       {"expert_tensor", &Layout::expert_tensor},
                                       {"pipeline", &Layout::pipeline},
                                       {"data", &Layout::data},
                                       {"virtual_stages", &Layout::virtual_stages}}};
constexpr std::array<const char*, 12> kOthers{"sequence", "regathers",    "schedule", "batch", "zero", "recompute",
                                              "time_s",   "memory_bytes", "text",     "kind",  "job",  "variant"};

/// Kinds of recomputation as this file tells them apart: frameworks have two that options call selective.
struct Kind {
  Recompute kind;
  const char* name;
};
constexpr std::array<Kind, 7> kRecomputes{{{Recompute::none, "none"},
                                           {Recompute::attention, "attention"},
                                           {Recompute::operators, "operators"},
                                           {Recompute::block, "block"},
                                           {Recompute::layer, "layer"},
                                           {Recompute::full, "full"},
                                           {Recompute::mirror, "mirror"}}};

std::string line(const char* kind, std::size_t job, const Candidate& c) {
  std::string text = fmt::format("{},{},{},0", kind, job, c.variant);
  for (const Axis& axis : kLayout) text += fmt::format(",{}", c.layout.*axis.member);
  const auto* const recompute =
      std::find_if(kRecomputes.begin(), kRecomputes.end(), [&](const Kind& k) { return k.kind == c.recompute; });
  return text + fmt::format(",{},{},{},{},{},{},{},{},\n", c.layout.sequence, c.layout.regathers, name(c.schedule), c.batch,
                            c.zero, recompute->name, c.time.base(), c.memory.base());
}

/// A line that holds a text alone.
std::string line(const char* kind, std::size_t job, std::pair<std::size_t, std::size_t> at, const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return fmt::format("{},{},{},{},,,,,,,,,,,,,,,,{}\"\n", kind, job, at.first, at.second, quoted);
}

/// Takes the lines of one file.
class Reader {
 public:
  Reader(CsvTable table, std::size_t jobs) : table_(std::move(table)) { part_.jobs.resize(jobs); }

  Result<PlanPart> read() {
    if (!table_.column_if("kind"))
      return fail(fmt::format("{}: no part of a plan: expected a file that plan --shard I/N -o FILE wrote", table_.name()));
    for (const Axis& axis : kLayout) columns_.emplace_back(axis.name, table_.column(axis.name));
    for (const char* const other : kOthers) columns_.emplace_back(other, table_.column(other));
    columns_.emplace_back("unit", table_.column("unit"));
    if (!table_.errors().empty()) return tl::make_unexpected(table_.errors());
    for (row_ = 0; row_ < table_.rows(); ++row_) take();
    if (table_.errors().empty() && (part_.question.empty() || !ended_))
      return fail(fmt::format("{}: cut short: expected a question at the beginning and \"end\" at the end", table_.name()));
    if (!table_.errors().empty()) return tl::make_unexpected(table_.errors());
    return std::move(part_);
  }

 private:
  [[nodiscard]] std::size_t at(std::string_view column) const {
    return *std::find_if(columns_.begin(), columns_.end(), [&](const auto& c) { return c.first == column; })->second;
  }
  [[nodiscard]] const std::string& text(std::string_view column) const { return table_.text(row_, at(column)); }

  /// A whole number between two; `low`, with a problem noted, where there is none.
  template <class Number = int>
  Number whole(std::string_view column, Number low, Number high = std::numeric_limits<int>::max()) {
    const auto value = table_.number(row_, at(column));
    if (!value) return low;
    if (std::floor(*value) == *value && *value >= static_cast<double>(low) && *value <= static_cast<double>(high))
      return static_cast<Number>(*value);
    table_.problem(row_, at(column), fmt::format("expected a whole number from {} to {}, got {}", low, high, text(column)));
    return low;
  }
  /// A time or a size.
  double amount(std::string_view column) {
    const auto value = table_.number(row_, at(column));
    if (value && *value < 0.0) table_.problem(row_, at(column), fmt::format("expected at least 0, got {}", text(column)));
    return value.value_or(0.0);
  }
  bool flag(std::string_view column) {
    if (text(column) != "true" && text(column) != "false")
      table_.problem(row_, at(column), fmt::format("expected true or false, got {}", quoted(text(column))));
    return text(column) == "true";
  }

  void take() {
    const std::string& kind = text("kind");
    if (kind == "question") {
      part_.question = text("text");
      part_.shards = whole<std::size_t>("unit", 1);
      part_.shard = whole<std::size_t>("variant", 0, part_.shards - 1);
      return;
    }
    if (kind == "end") {
      ended_ = true;
      return;
    }
    Found& found = part_.jobs[whole<std::size_t>("job", 0, part_.jobs.size() - 1)];
    if (kind == "layout") {
      found.nearest.push_back(candidate());
    } else if (kind == "smallest") {
      found.smallest = candidate();
    } else if (kind == "front") {
      found.front.add(Seconds(amount("time_s")), Bytes(amount("memory_bytes")));
    } else if (kind == "refusal") {
      found.refused_at = {whole<std::size_t>("variant", 0), whole<std::size_t>("unit", 0)};
      found.refusals = {{text("text")}};
    } else if (kind == "interrupted") {
      found.interrupted = true;
    } else {
      constexpr std::int64_t kMost = std::int64_t{1} << 53;  // what a double counts
      if (kind == "tried")
        found.counts.tried = whole<std::int64_t>("text", 0, kMost);
      else if (kind == "out_of_memory")
        found.counts.out_of_memory = whole<std::int64_t>("text", 0, kMost);
      else if (kind == "timed")
        found.counts.timed = whole<std::int64_t>("text", 0, kMost);
      else
        table_.problem(row_, at("kind"), fmt::format("no line of a part of a plan begins so: {}", quoted(kind)));
    }
  }

  Candidate candidate() {
    Candidate c;
    for (const Axis& axis : kLayout) c.layout.*axis.member = whole(axis.name, 1);
    c.layout.sequence = flag("sequence");
    c.layout.regathers = flag("regathers");
    if (const auto schedule = pipeline::parse_schedule(text("schedule")))
      c.schedule = *schedule;
    else
      table_.problem(row_, at("schedule"), fmt::format("expected a schedule, got {}", quoted(text("schedule"))));
    c.batch = whole("batch", 1);
    c.zero = whole("zero", 0, 3);
    const auto* const recompute =
        std::find_if(kRecomputes.begin(), kRecomputes.end(), [&](const Kind& k) { return text("recompute") == k.name; });
    if (recompute != kRecomputes.end())
      c.recompute = recompute->kind;
    else
      table_.problem(row_, at("recompute"), fmt::format("expected a recomputation, got {}", quoted(text("recompute"))));
    c.time = Seconds(amount("time_s"));
    c.memory = Bytes(amount("memory_bytes"));
    c.variant = whole<std::size_t>("variant", 0);
    return c;
  }

  CsvTable table_;
  PlanPart part_;
  std::vector<std::pair<std::string_view, std::optional<std::size_t>>> columns_;
  std::size_t row_ = 0;
  bool ended_ = false;
};

}  // namespace

std::string to_csv(const PlanPart& part) {
  std::string text =
      std::string(kPartMark) +
      ",context,expert,expert_tensor,pipeline,data,virtual_stages,sequence,regathers,schedule,batch,zero,recompute,"
      "time_s,memory_bytes,text\n";
  text += line("question", 0, {part.shard, part.shards}, part.question);
  for (std::size_t job = 0; job < part.jobs.size(); ++job) {
    const Found& found = part.jobs[job];
    text += line("tried", job, {}, std::to_string(found.counts.tried));
    text += line("out_of_memory", job, {}, std::to_string(found.counts.out_of_memory));
    text += line("timed", job, {}, std::to_string(found.counts.timed));
    if (found.interrupted) text += line("interrupted", job, {}, "");
    if (!found.refusals.empty()) text += line("refusal", job, found.refused_at, found.refusals.front().message);
    if (found.smallest) text += line("smallest", job, *found.smallest);
    for (const auto& [time, memory] : found.front.points())
      text += fmt::format("front,{},0,0,,,,,,,,,,,,,,{},{},\n", job, time.base(), memory.base());
    for (const Candidate& candidate : found.nearest) text += line("layout", job, candidate);
  }
  return text + line("end", 0, {}, "");
}

Result<PlanPart> parse_part(std::string text, std::string name, std::size_t jobs) {
  return CsvTable::parse(std::move(text), std::move(name)).and_then([&](CsvTable table) {
    return Reader(std::move(table), jobs).read();
  });
}

Result<PlanPart> read_part(const std::string& path, std::size_t jobs) {
  return CsvTable::open(path).and_then([&](CsvTable table) { return Reader(std::move(table), jobs).read(); });
}

}  // namespace tbdsim::plan
