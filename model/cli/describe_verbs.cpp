#include "model/cli/describe_verbs.hpp"

#include <algorithm>
#include <cassert>
#include <variant>

#include "model/cli/option_values.hpp"
#include "model/configuration/anchor_file.hpp"
#include "model/configuration/read_option.hpp"
#include "model/configuration/study_grid.hpp"
#include "model/configuration/what_if.hpp"
#include "model/units/parse.hpp"

namespace tbdsim {
namespace {

using Assignments = std::vector<std::string>;
using Axes = std::vector<std::pair<std::string, std::string>>;

/// Where a verb's own option lands: a member of its arguments, which says what is read, or a function.
struct Own {
  using Target =
      std::variant<bool*, std::string*, std::optional<int>*, std::vector<int>*, Assignments*, std::optional<std::int64_t>*,
                   std::optional<double>*, std::optional<Bytes>*, Format*, MemoryView*, std::function<void()>, Setter>;
  std::string_view name;
  Target target;
};

/// Where the options of a job land.
struct Job {
  PredictOptions* options = nullptr;
  Axes* axes = nullptr;        ///< of a study, in place of `options`
  Assignments* set = nullptr;  ///< of `--set`, `--calibration` and `--what-if`
};

/// Adds assignments unless one contradicts those before. Returns the problem.
std::string add(Assignments& set, const Assignments& changes) {
  for (const std::string& change : changes)
    if (std::string problem = contradiction(set, change); !problem.empty()) return problem;
  set.insert(set.end(), changes.begin(), changes.end());
  return "";
}

/// Declares an option that lands in a verb's own arguments.
struct DeclareOwn {
  VerbOptions& verb;
  const OptionRow& row;

  void operator()(bool* target) const { verb.flag(row, *target); }
  void operator()(const std::function<void()>& act) const { verb.flag(row, act); }
  void operator()(std::string* target) const {
    if (row.word) return verb.word(row, *target);
    verb.option(row, [target](const std::string& text) -> std::string {
      *target = text;
      return text.empty() ? "a name" : "";
    });
  }
  void operator()(Assignments* target) const {
    constexpr int kMostVertices = 2 * 64;  // of `--route`
    if (row.word) return verb.words(row, *target);
    if (row.name == "keep" || row.name == "try")
      return verb.repeated_option(row, [target](const std::string& text) -> std::string {
        target->push_back(text);
        return "";
      });
    constexpr int kMostParts = 65536;  // of `--join`
    if (row.name == "join") return verb.words_option(row, *target, 1, kMostParts);
    verb.words_option(row, *target, 2, kMostVertices);
  }
  void operator()(std::optional<int>* target) const {
    verb.option(row, [target, this_row = &row](const std::string& text) {
      return read_number(*this_row, text, *target, Range::checked);
    });
  }
  void operator()(std::vector<int>* target) const {
    verb.checked_option(row, [target, this_row = &row](const std::string& text) { return set_counts(*target, *this_row, text); });
  }
  void operator()(std::optional<std::int64_t>* target) const { read(target, set_samples); }
  void operator()(std::optional<double>* target) const { read(target, set_share); }
  void operator()(std::optional<Bytes>* target) const { read(target, set_bytes); }
  void operator()(Format* target) const { read(target, set_format); }
  void operator()(MemoryView* target) const { read(target, set_view); }
  void operator()(const Setter& set) const { verb.option(row, set); }

 private:
  template <class Value>
  void read(Value* target, std::string (*set)(Value&, const std::string&)) const {
    verb.option(row, [target, set](const std::string& text) { return set(*target, text); });
  }
};

/// Declares an option of a job.
void declare_job(VerbOptions& verb, const OptionRow& row, const Job& job) {
  if (row.name == "set") {
    verb.repeated_option(row, [set = job.set](const std::string& text) { return add(*set, {text}); });
  } else if (row.name == "calibration") {
    verb.repeated_option(row, [set = job.set](const std::string& name) -> std::string {
      const auto changes = anchor_assignments(name);
      if (changes) return add(*set, *changes);
      std::string problems;
      for (const Error& error : changes.error())
        problems += (problems.empty() ? "" : "; ") + Error{error.message, error.where}.text();
      return problems;
    });
  } else if (row.name == "what-if") {
    verb.repeated_option(row, [set = job.set](const std::string& name) {
      const auto what_if = find_what_if(name);
      return what_if ? add(*set, what_if->set) : what_if.error().front().message;
    });
  } else if (job.axes != nullptr) {
    verb.option(row, [axes = job.axes, name = std::string(row.name)](const std::string& text) -> std::string {
      axes->emplace_back(name, text);
      return text.empty() ? "a list" : "";
    });
  } else if (const auto* const flag = std::get_if<bool PredictOptions::*>(&row.landing)) {
    verb.flag(row, job.options->**flag);
  } else {
    verb.option(row, [options = job.options, this_row = &row](const std::string& text) {
      return read_option(*this_row, text, *options, Range::left_to_analysis);
    });
  }
}

/// Declares the options of a verb: those of `owns` there, all others as options of the job.
void declare(VerbOptions& verb, Verb which, const std::vector<Own>& owns, const Job& job = {}) {
  std::size_t placed = 0;
  for (const OptionRow* const row : options_of(which)) {
    const auto own = std::find_if(owns.begin(), owns.end(), [&](const Own& o) { return o.name == row->name; });
    placed += own != owns.end();
    if (!verb.wanted(*row)) continue;
    if (own == owns.end()) {
      declare_job(verb, *row, job);
      continue;
    }
    std::visit(DeclareOwn{verb, *row}, own->target);
  }
  assert(placed == owns.size() && "an option that the table does not give this verb");
  (void)placed;
}

Job job_of(PredictOptions& options) { return {&options, nullptr, &options.set}; }

/// One value, or several that are searched.
Setter one_or_tried(std::string_view name, plan::PlanOptions& plan) {
  return [name, &plan](const std::string& text) -> std::string {
    auto axis = parse_axis(std::string(name), text);
    if (!axis) return "names between commas";
    const OptionRow& row = *find_option(name, kInColumn);
    PredictOptions scratch;
    for (const std::string& value : axis->values)
      if (std::string expected = read_option(row, value, scratch, Range::left_to_analysis); !expected.empty()) return expected;
    if (axis->values.size() == 1) return read_option(row, text, plan.job, Range::left_to_analysis);
    plan.tried.push_back(std::move(*axis));
    return "";
  };
}

}  // namespace

void describe(VerbOptions verb, PredictArguments& a) {
  const Setter tokens = [&a](const std::string& text) { return set_tokens(a.tokens, text); };
  declare(verb, Verb::predict,
          {{"samples", &a.samples},
           {"epochs", &a.epochs},
           {"tokens", tokens},
           {"as", &a.framework},
           {"layers", &a.layers},
           {"kernels", &a.kernels},
           {"links", &a.links},
           {"host", &a.host},
           {"profiling", &a.profiling},
           {"skip", &a.skip},
           {"iterations", &a.iterations},
           {"trace", &a.trace},
           {"report", &a.report.path},
           {"from-trace", &a.from_trace},
           {"prices", &a.prices},
           {"format", &a.format}},
          job_of(a.options));
}

void describe(VerbOptions verb, CompareArguments& a) {
  const auto term = [&a](std::string (*set)(std::optional<CostTerms>&, const std::string&)) {
    return Setter([&a, set](const std::string& text) { return set(a.terms, text); });
  };
  declare(verb, Verb::compare,
          {{"base", &a.base},
           {"budget", term(set_budget)},
           {"years", term(set_years)},
           {"duty", term(set_duty)},
           {"power-price", term(set_power_price)},
           {"cooling", term(set_cooling)},
           {"objective", term(set_objective)},
           {"prices", &a.prices},
           {"report", &a.report.path},
           {"format", &a.format}},
          {nullptr, &a.axes, &a.set});
}

// Long because every option of the verb has a line.
void describe(VerbOptions verb, PlanArguments& a) {
  const auto term = [&a](std::string (*set)(std::optional<CostTerms>&, const std::string&)) {
    return Setter([&a, set](const std::string& text) { return set(a.plan.terms, text); });
  };
  const Setter hardware = [&a](const std::string& text) -> std::string {
    auto axis = parse_axis("hw", text);
    if (!axis) return "names between commas";
    a.plan.hardware = std::move(axis->values);
    return "";
  };
  const Setter objective = [&a](const std::string& text) -> std::string {
    const auto read = parse_objective(text);
    if (read) a.plan.objective = *read;
    a.plan.by_run = text == "goodput";
    return read || a.plan.by_run ? "" : "time, cost, energy or goodput";
  };
  const Setter tokens = [&a](const std::string& text) { return set_tokens(a.plan.tokens, text); };
  const Setter deadline = [&a](const std::string& text) -> std::string {
    const auto read = parse<Seconds>(text);
    if (read) a.plan.limits.deadline = *read;
    return read ? "" : "a time such as \"30 days\"";
  };
  const Setter budget = [&a](const std::string& text) -> std::string {
    const auto read = read_money(text);
    if (read) a.plan.limits.budget = *read;
    return read ? "" : "an amount of money such as \"2 MUSD\"";
  };
  const Setter power = [&a](const std::string& text) -> std::string {
    const auto read = parse<Watts>(text);
    if (read) a.plan.limits.power = *read;
    return read ? "" : "a power such as \"2 MW\"";
  };
  const Setter top = [&a](const std::string& text) -> std::string {
    const auto rows = whole_number(text, 1);
    if (rows) a.plan.top = *rows;
    return rows ? "" : "a whole number of at least 1";
  };
  const Setter shard = [&a](const std::string& text) { return set_shard(a.plan.shard, a.plan.shards, text); };
  declare(verb, Verb::plan,
          {{"hw", hardware},
           {"gpus", &a.plan.gpus},
           {"stack", one_or_tried("stack", a.plan)},
           {"precision", one_or_tried("precision", a.plan)},
           {"sequence-parallel", one_or_tried("sequence-parallel", a.plan)},
           {"attention", one_or_tried("attention", a.plan)},
           {"keep", &a.plan.keep},
           {"try", &a.plan.values},
           {"as", &a.framework},
           {"report", &a.report.path},
           {"explain", &a.explain},
           {"top", top},
           {"tokens", tokens},
           {"deadline", deadline},
           {"budget", budget},
           {"power-limit", power},
           {"years", term(set_years)},
           {"duty", term(set_duty)},
           {"power-price", term(set_power_price)},
           {"objective", objective},
           {"shard", shard},
           {"output", &a.output},
           {"join", &a.joined},
           {"prices", &a.prices},
           {"format", &a.format}},
          job_of(a.plan.job));
}

void describe(VerbOptions verb, SweepArguments& a) {
  const Setter shard = [&a](const std::string& text) { return set_shard(a.shard, a.shards, text); };
  const Setter format = [&a](const std::string& text) -> std::string {
    Format read = Format::table;
    const std::string expected = set_format(read, text);
    if (expected.empty() && read != Format::table) a.format = read;
    return a.format ? "" : "csv or json";
  };
  declare(verb, Verb::sweep,
          {{"action", &a.words},
           {"grid", &a.grid},
           {"output", &a.output},
           {"pareto", &a.pareto},
           {"samples", &a.samples},
           {"shard", shard},
           {"report", &a.report.path},
           {"format", format}},
          {nullptr, &a.axes, &a.set});
}

void describe(VerbOptions verb, ExplainArguments& a) {
  declare(verb, Verb::explain,
          {{"layers", &a.layers}, {"measured", &a.measured}, {"report", &a.report.path}, {"format", &a.format}},
          job_of(a.options));
}

void describe(VerbOptions verb, NetworkArguments& a) {
  declare(verb, Verb::network, {{"target", &a.target}, {"top", &a.top}, {"report", &a.report.path}, {"format", &a.format}},
          job_of(a.options));
}

void describe(VerbOptions verb, ScaleArguments& a) {
  declare(verb, Verb::scale,
          {{"gpus", &a.gpus},
           {"nodes", &a.nodes},
           {"batch", &a.batches},
           {"image", &a.images},
           {"samples", &a.samples},
           {"weak", &a.weak},
           {"fixed-global-batch", &a.fixed_global_batch},
           {"report", &a.report.path},
           {"format", &a.format}},
          job_of(a.options));
}

void describe(VerbOptions verb, MemoryArguments& a) {
  declare(
      verb, Verb::memory,
      {{"batch", &a.batches}, {"by", &a.view}, {"max-batch", &a.max_batch}, {"report", &a.report.path}, {"format", &a.format}},
      job_of(a.options));
}

void describe(VerbOptions verb, ValidateArguments& a) {
  declare(verb, Verb::validate,
          {{"file", &a.files},
           {"rows", &a.rows},
           {"summary", &a.summary},
           {"max-mean-ape", &a.max_mean_ape},
           {"report", &a.report.path},
           {"format", &a.format}});
}

void describe(VerbOptions verb, ListArguments& a) {
  const std::function<void()> models = [&a] { a.kind = "models"; };
  declare(verb, Verb::list, {{"kind", &a.kind}, {"models", models}, {"bytes", &a.bytes}, {"format", &a.format}});
}

void describe(VerbOptions verb, ShowArguments& a) {
  const Setter as = [&a](const std::string& text) -> std::string { return (a.as_toml = text == "toml") ? "" : "toml"; };
  declare(
      verb, Verb::show,
      {{"name", &a.name}, {"image", &a.image}, {"seq-len", &a.seq_len}, {"as", as}, {"bytes", &a.bytes}, {"format", &a.format}});
}

void describe(VerbOptions verb, TopologyArguments& a) {
  declare(verb, Verb::topology,
          {{"route", &a.route},
           {"collective", &a.asked.collective},
           {"bytes", &a.bytes},
           {"nccl", &a.asked.nccl},
           {"launch", &a.asked.launch},
           {"report", &a.report.path},
           {"format", &a.format}},
          job_of(a.asked.options));
}

void describe(VerbOptions verb, DocsArguments& a) { declare(verb, Verb::docs, {{"kind", &a.kind}}); }

}  // namespace tbdsim
