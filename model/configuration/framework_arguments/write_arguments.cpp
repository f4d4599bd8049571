#include "model/configuration/framework_arguments/write_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>

#include "model/configuration/choose_attention.hpp"
#include "model/configuration/choose_stages.hpp"
#include "model/workload/stages.hpp"

namespace tbdsim {
namespace {

/// Of a framework that clips by any norm above zero: the one that its recipes state.
constexpr std::string_view kAnyNumber = "1.0";

/// Whether a value asks for nothing, so that no setting is needed for it.
bool nothing_asked(const std::string& option, const std::string& value) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kPlain{{{"tensor-parallel", "1"},
                                                                                  {"context-parallel", "1"},
                                                                                  {"expert-parallel", "1"},
                                                                                  {"pipeline-parallel", "1"},
                                                                                  {"virtual-stages", "1"},
                                                                                  {"zero", "0"},
                                                                                  {"recompute", "none"},
                                                                                  {"offload", "none"},
                                                                                  // What the stages and their parts imply.
                                                                                  {"schedule", "1f1b"},
                                                                                  {"schedule", "interleaved"},
                                                                                  {"precision", "fp32"},
                                                                                  {"optimizer", "adam"}}};
  // Micro-batches follow from the two batches; the release is the framework's own, and so is a kernel that nobody named.
  constexpr std::array<std::string_view, 3> kFollow{"accumulate", "attention", "stack"};
  return std::find(kPlain.begin(), kPlain.end(), std::pair<std::string_view, std::string_view>(option, value)) != kPlain.end() ||
         std::find(kFollow.begin(), kFollow.end(), option) != kFollow.end();
}

/// Settings in the order in which they are written; one that is stated again is left as it was.
class Sheet {
 public:
  explicit Sheet(const TrainingFramework& framework) : framework_(framework) {}

  void add(const std::string& key, const std::string& value, bool flag) {
    const bool there = std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) { return line.key == key; });
    if (!there && !(flag && value == "false")) lines_.push_back({key, value, flag});
  }

  void beside(const SettingRow& row) {
    for (const auto& [key, value] : row.beside) add(key, value, is_flag(key));
  }

  /// Whether a setting stands there with a value; without a name, that nothing need stand there.
  [[nodiscard]] bool holds(const std::pair<std::string, std::string>& setting) const {
    return setting.first.empty() || std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) {
             return line.key == setting.first && line.value == setting.second;
           });
  }

  [[nodiscard]] std::string text() const {
    switch (framework_.form) {
      case SettingsForm::arguments:
        return each([](const Line& line) { return line.flag ? "--" + line.key : fmt::format("--{} {}", line.key, line.value); });
      case SettingsForm::overrides:
        return each([](const Line& line) { return fmt::format("{}={}", line.key, line.value); });
      case SettingsForm::toml:
        return toml();
      case SettingsForm::json:
        break;
    }
    return json();
  }

 private:
  struct Line {
    std::string key, value;
    bool flag = false;
  };
  const TrainingFramework& framework_;
  std::vector<Line> lines_;

  [[nodiscard]] bool is_flag(const std::string& key) const {
    return std::any_of(framework_.rows.begin(), framework_.rows.end(),
                       [&](const SettingRow& row) { return row.key == key && row.flag; });
  }

  template <class Write>
  [[nodiscard]] std::string each(const Write& write) const {
    std::string text;
    for (const Line& line : lines_) text += write(line) + '\n';
    return text;
  }

  static std::pair<std::string, std::string> split(const std::string& key) {
    const std::size_t dot = key.rfind('.');
    return dot == std::string::npos ? std::pair{std::string(), key} : std::pair{key.substr(0, dot), key.substr(dot + 1)};
  }

  /// Numbers and truth values as they are, else a text between quotes.
  static std::string literal(const std::string& value) {
    const bool number = !value.empty() && value.find_first_not_of("-+.0123456789eE") == std::string::npos;
    return number || value == "true" || value == "false" ? value : fmt::format("\"{}\"", value);
  }

  [[nodiscard]] std::string toml() const {
    std::vector<std::string> tables;
    for (const Line& line : lines_)
      if (std::find(tables.begin(), tables.end(), split(line.key).first) == tables.end()) tables.push_back(split(line.key).first);
    std::string text;
    for (const std::string& table : tables) {
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", table);
      for (const Line& line : lines_)
        if (const auto [where, key] = split(line.key); where == table) text += fmt::format("{} = {}\n", key, literal(line.value));
    }
    return text;
  }

  [[nodiscard]] std::string json() const { return object(lines_, 0) + '\n'; }

  /// An object of all settings, those of one table together where its first one stands.
  static std::string object(const std::vector<Line>& lines, std::size_t depth) {
    const std::string indent(2 * depth + 2, ' ');
    std::vector<std::string> members, done;
    for (const Line& line : lines) {
      const std::string key = line.key.substr(0, line.key.find('.'));
      if (std::find(done.begin(), done.end(), key) != done.end()) continue;
      done.push_back(key);
      std::vector<Line> below;
      for (const Line& other : lines)
        if (other.key.starts_with(key + ".")) below.push_back({other.key.substr(key.size() + 1), other.value, other.flag});
      members.push_back(fmt::format("{}\"{}\": {}", indent, key, below.empty() ? literal(line.value) : object(below, depth + 1)));
    }
    return fmt::format("{{\n{}\n{}}}", fmt::join(members, ",\n"), std::string(2 * depth, ' '));
  }
};

/// What a framework writes for a value of ours; nothing where the row has no word for it.
std::optional<std::string> theirs(const SettingRow& row, const std::string& value) {
  if (row.values.empty()) return value;
  for (const auto& [word, meaning] : row.values)
    if (meaning == value || meaning == "*") return word != "*" ? word : meaning == "*" ? value : std::string(kAnyNumber);
  return std::nullopt;
}

class Writer {
 public:
  Writer(const TrainingFramework& framework, const Configuration& job) : framework_(framework), job_(job), sheet_(framework) {}

  FrameworkArguments write() {
    for (const auto& [option, value] : layout_values(job_)) this->option(option, value);
    gpus();
    stages();
    const auto parallel = parallel_values(job_.stack.parallel);
    for (const SettingRow& row : framework_.rows)
      for (const auto& [key, value] : parallel)
        if (row.parallel == key && row.written && sheet_.holds(row.when) && !idle(key)) state(row, value);
    result_.text = sheet_.text();
    result_.gpus = job_.gpus;
    result_.nodes = job_.nodes;
    return std::move(result_);
  }

 private:
  const TrainingFramework& framework_;
  const Configuration& job_;
  Sheet sheet_;
  FrameworkArguments result_;

  /// Whether the row has a word for the value, which is then written unless it holds anyway.
  bool state(const SettingRow& row, std::string value) {
    if (row.each > 0.0) {
      const double bytes = std::stod(value);
      if (bytes <= 0.0) return true;
      value = fmt::format("{:.0f}", bytes / row.each);
    }
    const auto word = theirs(row, value);
    if (!word) return false;
    if (row.absent && *row.absent == *word) return true;
    sheet_.add(row.key, *word, row.flag);
    sheet_.beside(row);
    return true;
  }

  void option(const std::string& option, const std::string& value) {
    if (option == "zero" && copies(value)) return;
    for (const SettingRow& row : framework_.rows)
      if (row.option == option && row.written && row.rule == SettingRule::value && state(row, value)) return;
    const auto unsaid = [&, wanted = option, word = value](const auto& pair) {
      return pair.first == wanted && (pair.second == word || pair.second == "*");
    };
    if (std::any_of(framework_.unsaid.begin(), framework_.unsaid.end(), unsaid)) return;
    const bool other_kernel = option == "attention" && job_.other_attention;
    if (other_kernel || !nothing_asked(option, value)) result_.lost.push_back(fmt::format("--{} {}", option, value));
  }

  [[nodiscard]] const SettingRow* of_rule(SettingRule rule) const {
    const auto found =
        std::find_if(framework_.rows.begin(), framework_.rows.end(), [&](const SettingRow& row) { return row.rule == rule; });
    return found == framework_.rows.end() ? nullptr : &*found;
  }

  /// States divided over the copies as numbers of copies; whether the framework says it so.
  bool copies(const std::string& zero) {
    const SettingRow *const sharded = of_rule(SettingRule::sharded_copies), *const replicas = of_rule(SettingRule::replicas);
    const SettingRow* const kept = of_rule(SettingRule::keeps_gathered);
    const bool shards = zero == "3" || (zero == "2" && kept != nullptr && state(*kept, "true"));
    if (sharded == nullptr || replicas == nullptr || (zero != "0" && !shards)) return false;
    const int all = job_.layout.data, within = job_.stack.parallel.shards.ranks;
    const bool parted = shards && within > 1 && within < all;
    sheet_.add(sharded->key, parted ? std::to_string(within) : shards ? "-1" : "1", false);
    sheet_.add(replicas->key, std::to_string(parted ? all / within : shards ? 1 : all), false);
    return true;
  }

  /// What has no effect on a job whose layout does not divide that way, or is not asked for.
  [[nodiscard]] bool idle(const std::string& key) const {
    if (key == "context_exchange") return job_.layout.context == 1;
    if (key == "dispatch") return job_.layout.expert == 1;
    // Megatron refuses it beside other precisions.
    if (key == "gathers_8_bit") return job_.stack.parallel.weights.gathers_8_bit && !has_8_bit_products(job_.precision);
    return key == "expert_capacity" && job_.stack.parallel.experts.capacity <= 0.0;
  }

  /// Layers of unlike stages: those of the ends, or the ends of the network as layers.
  void stages() {
    const Layout& l = job_.layout;
    if (l.stage_layers.empty()) {
      const int layers = layers_of_stages(job_.network_graph().graph), parts = job_.pipeline_stages();
      if (framework_.divides_layers && l.virtual_stages > 1 && layers % parts != 0)
        result_.lost.push_back(fmt::format("{} layers in {} parts of a pipeline", layers, parts));
      return;
    }
    if (const auto ends = ends_of(job_)) {
      if (ends->first) option("first-stage-layers", std::to_string(*ends->first));
      if (ends->last) option("last-stage-layers", std::to_string(*ends->last));
      return;
    }
    const int most = *std::max_element(l.stage_layers.begin(), l.stage_layers.end());
    std::vector<int> counted = l.stage_layers;
    const auto flag = [&](int& layers, SettingRule rule) {
      const SettingRow* const row = of_rule(rule);
      if (row == nullptr || layers != most - 1) return std::string();
      ++layers;
      return row->key;
    };
    const std::string first = flag(counted.front(), SettingRule::first_counts),
                      last = flag(counted.back(), SettingRule::last_counts);
    const SettingRow* const layers = of_rule(SettingRule::layers);
    if (layers == nullptr || std::count(counted.begin(), counted.end(), most) != std::ssize(counted)) {
      option("stage-layers", fmt::format("{}", fmt::join(l.stage_layers, ",")));
      return;
    }
    sheet_.add(layers->key, std::to_string(std::accumulate(l.stage_layers.begin(), l.stage_layers.end(), 0)), false);
    for (const std::string& key : {first, last})
      if (!key.empty()) sheet_.add(key, "true", true);
  }

  /// Nodes, then GPUs of each.
  void gpus() {
    int factor = 0;
    for (const SettingRow& row : framework_.rows)
      if (row.rule == SettingRule::factor && row.written)
        sheet_.add(row.key, std::to_string(factor++ == 0 ? job_.nodes : job_.gpus / job_.nodes), false);
  }
};

}  // namespace

FrameworkArguments framework_arguments(const TrainingFramework& framework, const Configuration& job) {
  return Writer(framework, job).write();
}

std::vector<std::pair<std::string, std::string>> parallel_values(const ParallelSettings& p) {
  const auto truth = [](bool value) { return std::string(value ? "true" : "false"); };
  return {{"overlaps_gradients", truth(p.gradients.overlap)},
          {"overlaps_parameters", truth(p.update.overlaps_gather)},
          {"wide_gradients", truth(p.gradients.wide)},
          {"gathers_8_bit", truth(p.weights.gathers_8_bit)},
          {"blocking_hops", truth(p.pipeline.blocking_hops)},
          {"clips", truth(p.update.clips)},
          {"offload_overlaps", std::string(name(p.offload.overlap))},
          {"bucket", fmt::format("{}", p.gradients.bucket.base())},
          {"context_exchange", std::string(name(p.context))},
          {"dispatch", std::string(name(p.experts.dispatch))},
          {"expert_capacity", fmt::format("{}", p.experts.capacity)}};
}

std::vector<std::pair<std::string, std::string>> layout_values(const Configuration& job) {
  const Layout& l = job.layout;
  const OpGraph& graph = job.network_graph().graph;
  std::vector<std::pair<std::string, std::string>> values;
  const auto add = [&](const char* option, auto value) { values.emplace_back(option, fmt::format("{}", value)); };
  add("tensor-parallel", l.tensor);
  if (l.tensor > 1) add("sequence-parallel", l.sequence ? "on" : "off");
  add("context-parallel", l.context);
  add("pipeline-parallel", l.pipeline);
  // A framework may have one word for a schedule and its parts: the schedule decides which.
  if (l.pipeline > 1) add("schedule", job.own_schedule ? std::string_view("of a file") : pipeline::name(job.schedule));
  add("virtual-stages", l.virtual_stages);
  add("expert-parallel", l.expert);
  if (l.expert > 1 && l.expert_tensor != l.tensor) add("expert-tensor-parallel", l.expert_tensor);
  add("zero", job.zero);
  add("batch", job.batch);
  add("accumulate", job.accumulate);
  add("global-batch", job.samples_per_step());
  if (graph.part_unit == "token") add("seq-len", graph.parts_per_sample);
  add("recompute", name(job.recompute));
  const Offload& offload = job.offload;
  // Layers are named beside either.
  add("offload", offload.states > 0.0 ? "states" : offload.layers > 0 ? "activations" : "none");
  if (offload.states > 0.0 && offload.states < 1.0) add("offload-share", offload.states);
  if (offload.layers > 0) add("offload-layers", offload.layers);
  add("precision", name(job.precision));
  add("attention", attention_word(job));
  add("optimizer", job.optimizer.name);
  add("stack", job.stack.id);
  return values;
}

}  // namespace tbdsim
