#include "model/validation/scenario_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>

#include "model/configuration/named_from.hpp"
#include "model/input/note.hpp"
#include "model/input/toml_reader.hpp"
#include "model/support/edit_distance.hpp"
#include "model/support/first_reason.hpp"
#include "model/support/quote.hpp"
#include "model/validation/claim_options.hpp"

namespace tbdsim {
namespace {

constexpr std::int64_t kSchema = 1;
constexpr ClaimUse kUses[] = {ClaimUse::validation, ClaimUse::lookup, ClaimUse::fit, ClaimUse::trivial, ClaimUse::control};
/// More points than this are a sweep, not a claim.
constexpr std::size_t kMostPoints = 10'000;

std::string csv_field(const std::string& text) {
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field + '"';
}

/// The texts of a value or of an array of values, whatever their type. Files that they name lie beside `file`.
std::vector<GridAxis> read_grid(TomlTable& table, const std::string& file) {
  std::vector<GridAxis> grid;
  for (const std::string& option : table.keys()) {
    GridAxis axis{claim_option_name(option), table.scalars(option)};
    for (std::string& value : axis.values) {
      if (const std::string problem = claim_option_problem(option, value); !problem.empty()) table.problem(option, problem);
      if (may_name_file(axis.option)) value = named_from(file, value);
    }
    grid.push_back(std::move(axis));
  }
  return grid;
}

class ScenarioReader {
 public:
  explicit ScenarioReader(TomlFile file) : file_(std::move(file)), root_(file_.root()) {}

  Result<Scenario> read() {
    scenario_.file = file_.name();
    (void)root_.integer("schema", kSchema, kSchema);
    TomlTable study = root_.table("study");
    scenario_.name = study.text("name");
    scenario_.source = study.text("source");
    (void)study.text_or("description", "");
    read_tables(study);
    std::vector<GridAxis> grid;
    auto defaults = root_.table_if("grid");
    if (defaults) grid = read_grid(*defaults, file_.name());
    read_measured();
    for (TomlTable& table : root_.tables_or_empty("claim")) read_claim(table, grid);
    if (defaults) check_parts(*defaults, scenario_.claims);
    root_.finish();
    Errors errors = file_.errors();
    add_elsewhere(errors);
    if (errors.empty() && scenario_.claims.empty() && scenario_.runs.empty())
      errors.push_back({"no [[claim]], no [[measured]] and no table: nothing to check", SourceRef{file_.name(), 0, 0}});
    if (!errors.empty()) return tl::make_unexpected(std::move(errors));
    return std::move(scenario_);
  }

 private:
  TomlFile file_;
  TomlTable root_;
  Scenario scenario_;
  Errors elsewhere_;
  std::set<std::string> ids_;

  /// Adds problems that are none of one value, those of this file up to as many as a reader tells.
  void add_elsewhere(Errors& errors) const {
    std::size_t own = errors.size(), more = 0;
    for (const Error& error : elsewhere_) {
      if (error.where.file == file_.name() && own++ >= kMostErrors)
        ++more;
      else
        errors.push_back(error);
    }
    if (more > 0) errors.push_back({fmt::format("{} more problems", more), SourceRef{file_.name(), 0, 0}});
  }

  /// Notes flags of a grid that add what none of its claims reads.
  static void check_parts(TomlTable& grid, std::span<const Claim> claims) {
    std::vector<std::string> leaves;
    for (const Claim& claim : claims)
      for (const ClaimNode& node : claim.expression.nodes)
        if (node.kind == ClaimNode::Kind::leaf) leaves.push_back(node.text);
    for (const std::string& option : grid.keys())
      if (const std::string problem = unread_part_problem(option, leaves); !problem.empty()) grid.problem(option, problem);
  }

  void read_tables(TomlTable& study) {
    for (const std::string& name : study.texts_or_empty("tables")) {
      const std::string path = (std::filesystem::path(file_.name()).parent_path() / name).string();
      auto runs = read_measured_table(path);
      if (runs)
        scenario_.runs.insert(scenario_.runs.end(), runs->begin(), runs->end());
      else
        elsewhere_.insert(elsewhere_.end(), runs.error().begin(), runs.error().end());
    }
  }

  /// [[measured]] rows are those of a measured-run table, and are read as one.
  void read_measured() {
    std::vector<TomlTable> tables = root_.tables_or_empty("measured");
    if (tables.empty()) return;
    std::vector<std::string> columns;
    for (const TomlTable& table : tables) {
      for (const std::string& key : table.keys()) {
        if (std::find(columns.begin(), columns.end(), key) == columns.end()) columns.push_back(key);
      }
    }
    std::string csv = fmt::format("{}\n", fmt::join(columns, ","));
    for (TomlTable& table : tables) {
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::vector<std::string> texts = table.has(columns[i]) ? table.scalars(columns[i]) : std::vector<std::string>{};
        csv += (i > 0 ? "," : "") + csv_field(texts.empty() ? "" : texts.front());
      }
      csv += '\n';
    }
    auto runs = parse_measured_table(csv, file_.name());
    if (runs) {
      scenario_.runs.insert(scenario_.runs.end(), runs->begin(), runs->end());
      return;
    }
    for (Error& error : runs.error()) {
      const int row = std::max(0, error.where.line - 2);
      error.where = tables[std::min(static_cast<std::size_t>(row), tables.size() - 1)].where();
      error.line_text.clear();
      elsewhere_.push_back(std::move(error));
    }
  }

  void read_claim(TomlTable& table, const std::vector<GridAxis>& grid) {
    Claim claim;
    claim.id = table.text("id");
    if (!claim.id.empty() && !ids_.insert(claim.id).second)
      table.problem("id", fmt::format("repeated id {}", tbdsim::quoted(claim.id)));
    claim.expr = table.text("expr");
    claim.source = table.text_or("source", scenario_.source);
    claim.reason = table.text_or("reason", "");
    claim.grid = grid;
    auto own = table.table_if("grid");
    if (own) merge(claim.grid, read_grid(*own, file_.name()));
    read_expression(table, claim);
    if (own) check_parts(*own, {&claim, 1});
    read_use(table, claim);
    scenario_.claims.push_back(std::move(claim));
  }

  static void read_use(TomlTable& table, Claim& claim) {
    const bool reads = only_reads(claim.expression);
    const std::string usual(name(reads ? ClaimUse::lookup : ClaimUse::validation));
    const std::string word = table.text_or("use", usual);
    const auto* const use = std::find_if(std::begin(kUses), std::end(kUses), [&](ClaimUse u) { return name(u) == word; });
    if (use == std::end(kUses))
      return table.problem("use",
                           fmt::format("expected validation, lookup, fit, trivial or control, got {}", tbdsim::quoted(word)));
    claim.use = *use;
    if (counts(*use) && word != usual && !claim.expression.comparisons.empty())
      table.problem("use", reads ? "expected lookup: every function reads a value of the catalogue (name=...), got \"validation\""
                                 : "expected validation: a function is predicted, so this is no look-up, got \"lookup\"");
  }

  /// Whether every function of a claim is answered by `show`: a value of a data file, and no prediction.
  static bool only_reads(const ClaimExpression& expression) {
    int leaves = 0, read = 0;
    for (const ClaimNode& node : expression.nodes) {
      if (node.kind != ClaimNode::Kind::leaf) continue;
      ++leaves;
      read +=
          std::any_of(node.options.begin(), node.options.end(), [](const ClaimOption& o) { return o.first == "name"; }) ? 1 : 0;
    }
    return leaves > 0 && read == leaves;
  }

  static void merge(std::vector<GridAxis>& grid, const std::vector<GridAxis>& own) {
    for (const GridAxis& axis : own) {
      const auto same = std::find_if(grid.begin(), grid.end(), [&](const GridAxis& a) { return a.option == axis.option; });
      if (same == grid.end())
        grid.push_back(axis);
      else
        *same = axis;
    }
  }

  void read_option(TomlTable& table, ClaimOption& option) {
    auto& [name, value] = option;
    if (const std::string problem = claim_option_problem(name, value); !problem.empty())
      table.problem("expr", fmt::format("option {}: {}", tbdsim::quoted(name), problem));
    name = claim_option_name(name);
    if (may_name_file(name)) value = named_from(file_.name(), value);
  }

  void read_expression(TomlTable& table, Claim& claim) {
    auto parsed = parse_claim(claim.expr);
    if (!claim.expr.empty() && !parsed) {
      SourceRef where = table.where("expr");
      const auto lines = split_lines(file_.text());
      const auto line = static_cast<std::size_t>(where.line) - 1;
      where.column += 1 + static_cast<int>(parsed.error().offset);
      elsewhere_.push_back({"claim: " + parsed.error().message, where, line < lines.size() ? std::string(lines[line]) : "",
                            static_cast<int>(parsed.error().width)});
    }
    if (parsed) claim.expression = std::move(*parsed);
    for (ClaimNode& node : claim.expression.nodes)
      for (ClaimOption& option : node.options) read_option(table, option);
    if (!table.has("tolerance")) return;
    const std::vector<std::string> texts = table.scalars("tolerance");
    const auto tolerance = parse_tolerance(texts.empty() ? "" : texts.front());
    if (!tolerance) return table.problem("tolerance", tolerance.error());
    if (claim.expression.has_tolerance) return table.problem("tolerance", "the expression states one itself");
    claim.expression.tolerance = *tolerance;
    claim.expression.has_tolerance = true;
  }
};

/// Axes that some leaf of the claim leaves open; the others change nothing.
std::vector<GridAxis> open_axes(const Claim& claim) {
  std::vector<GridAxis> axes;
  for (const GridAxis& axis : claim.grid) {
    const bool open = std::any_of(claim.expression.nodes.begin(), claim.expression.nodes.end(), [&](const ClaimNode& node) {
      return node.kind == ClaimNode::Kind::leaf &&
             std::none_of(node.options.begin(), node.options.end(), [&](const ClaimOption& o) { return o.first == axis.option; });
    });
    if (open && !axis.values.empty()) axes.push_back(axis);
  }
  return axes;
}

std::string point_text(const std::vector<GridAxis>& axes, const std::vector<ClaimOption>& options) {
  std::string text;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].values.size() > 1) text += fmt::format("{}{}={}", text.empty() ? "" : " ", options[i].first, options[i].second);
  }
  return text;
}

AssessedClaim assess(const Claim& claim, const LeafSource& source) {
  AssessedClaim assessed{claim.id, claim.expr, claim.source, claim.reason, claim.use, 0, 0, {}, {}, {}};
  const std::vector<GridAxis> axes = open_axes(claim);
  std::size_t points = 1;
  for (const GridAxis& axis : axes) points = std::min(points * axis.values.size(), kMostPoints + 1);
  if (points > kMostPoints) {
    assessed.problem = fmt::format("more than {} points", kMostPoints);
    return assessed;
  }
  for (std::size_t point = 0; point < points; ++point) {
    std::vector<ClaimOption> options;
    for (std::size_t rest = point, i = axes.size(); i-- > 0; rest /= axes[i].values.size())
      options.insert(options.begin(), {axes[i].option, axes[i].values[rest % axes[i].values.size()]});
    const auto outcome = evaluate(claim.expression, options, source);
    const bool holds = outcome && outcome->holds;
    const bool first = assessed.points++ == 0;
    assessed.failing += holds ? 0 : 1;
    if (!first && (holds || assessed.failing > 1)) continue;
    assessed.point = point_text(axes, options);
    assessed.outcome = outcome.value_or(ClaimOutcome{});
    assessed.problem = outcome ? "" : first_reason(outcome.error());
  }
  assessed.outcome.holds = assessed.failing == 0;
  return assessed;
}

}  // namespace

std::string_view name(ClaimUse use) {
  switch (use) {
    case ClaimUse::validation:
      return "validation";
    case ClaimUse::lookup:
      return "lookup";
    case ClaimUse::fit:
      return "fit";
    case ClaimUse::trivial:
      return "trivial";
    case ClaimUse::control:
      break;
  }
  return "control";
}

Result<Scenario> parse_scenario(std::string text, const std::string& file) {
  auto toml = TomlFile::parse(std::move(text), file);
  if (!toml) return tl::make_unexpected(toml.error());
  return ScenarioReader(std::move(*toml)).read();
}

Result<Scenario> read_scenario(const std::string& path) {
  auto toml = TomlFile::open(path);
  if (!toml) return tl::make_unexpected(toml.error());
  return ScenarioReader(std::move(*toml)).read();
}

Result<std::vector<GridAxis>> read_grid_file(const std::string& path) {
  auto toml = TomlFile::open(path);
  if (!toml) return tl::make_unexpected(toml.error());
  TomlTable table = toml->root().table("grid");
  std::vector<GridAxis> grid = read_grid(table, path);
  for (const std::string& key : table.keys())
    if (const std::string problem = axis_problem(claim_option_name(key));
        claim_option_problem(key, "").empty() && !problem.empty())
      table.problem(key, problem);
  if (!toml->errors().empty()) return tl::make_unexpected(toml->errors());
  return grid;
}

std::vector<AssessedClaim> assess_claims(const Scenario& scenario, const LeafSource& source, Progress* progress) {
  std::vector<AssessedClaim> assessed;
  assessed.reserve(scenario.claims.size());
  begin(progress, "claims of " + scenario.name, scenario.claims.size());
  for (const Claim& claim : scenario.claims) {
    assessed.push_back(assess(claim, source));
    add_one(progress);
  }
  return assessed;
}

ClaimCount count(const std::vector<AssessedClaim>& claims) {
  ClaimCount all;
  for (const AssessedClaim& claim : claims) {
    all.lookups += claim.use == ClaimUse::lookup ? 1 : 0;
    all.fit += claim.use == ClaimUse::fit ? 1 : 0;
    all.trivial += claim.use == ClaimUse::trivial ? 1 : 0;
    all.controls += claim.use == ClaimUse::control ? 1 : 0;
    const bool counted = counts(claim.use);
    all.counted += counted ? 1 : 0;
    all.holding += counted && claim.outcome.holds ? 1 : 0;
    all.others_failing += !counted && !claim.outcome.holds ? 1 : 0;
  }
  return all;
}

}  // namespace tbdsim
