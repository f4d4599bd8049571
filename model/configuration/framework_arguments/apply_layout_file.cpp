#include "model/configuration/framework_arguments/apply_layout_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/configuration/choose_attention.hpp"
#include "model/configuration/choose_devices.hpp"
#include "model/configuration/choose_offload.hpp"
#include "model/configuration/read_option.hpp"
#include "model/configuration/session.hpp"
#include "model/schedule/pipeline/schedule_kind.hpp"
#include "model/support/edit_distance.hpp"

namespace tbdsim {
namespace {

constexpr std::string_view kRefuse = "refuse", kAllow = "allow";

/// What an option has so far, as text; empty: it is open.
std::string given_value(const OptionRow& row, const PredictOptions& options) {
  if (const auto* const number = std::get_if<std::optional<int> PredictOptions::*>(&row.landing))
    return options.**number ? std::to_string(*(options.**number)) : "";
  if (const auto* const name = std::get_if<std::string PredictOptions::*>(&row.landing)) return options.**name;
  return "";
}

class Filler {
 public:
  Filler(Session& session, const LayoutFile& file, const PredictOptions& options)
      : session_(session), file_(file), asked_(options), filled_{options, file.notices, file.sha256} {
    filled_.options.layout_from.clear();
    filled_.options.unmodelled.clear();
  }

  Result<FilledOptions> fill() {
    Errors errors = unmodelled();
    for (const StatedOption& stated : file_.options) option(stated);
    offload();
    kernel();
    stack();
    parallel();
    parts(errors);
    ends(errors);
    drop_idle();
    gpus(errors);
    micro_batches(errors);
    if (!errors.empty()) return tl::make_unexpected(std::move(errors));
    return std::move(filled_);
  }

 private:
  Session& session_;
  const LayoutFile& file_;
  const PredictOptions& asked_;  ///< by the user
  FilledOptions filled_;

  void tell(std::string notice) { filled_.notices.push_back(std::move(notice)); }

  Errors unmodelled() {
    if (asked_.unmodelled == kAllow) {
      for (const Error& error : file_.unmodelled)
        tell(fmt::format("{}:{}: {}", error.where.file, error.where.line, error.message));
      return {};
    }
    Errors errors = file_.unmodelled;
    if (!asked_.unmodelled.empty() && asked_.unmodelled != kRefuse)
      errors.insert(errors.begin(), Error{fmt::format("--unmodelled {}: expected refuse or allow", asked_.unmodelled)});
    else if (!errors.empty())
      errors.push_back({"--unmodelled allow predicts without what is not modelled"});
    return errors;
  }

  void option(const StatedOption& stated) {
    const std::string given = given_value(*stated.option, asked_);
    if (given.empty()) {
      (void)read_option(*stated.option, stated.value, filled_.options, Range::left_to_analysis);
    } else if (given != stated.value && !stated.implied) {
      tell(fmt::format("--{} {} in place of {} of {} ({})", stated.option->name, given, stated.value, file_.file, stated.key));
    }
  }

  /// Where the user says what lies on the host, the file's share or number of layers goes with what it named.
  void offload() {
    PredictOptions& o = filled_.options;
    if (asked_.offload.empty()) {
      const OffloadRow* const stated = find_offload(o.offload);
      if (asked_.offload_layers && stated != nullptr && !stated->states && !stated->layers) o.offload.clear();
      return;
    }
    const OffloadRow* const asked = find_offload(asked_.offload);
    if (asked == nullptr) return;  // told where it is read
    if (!asked_.offload_layers && (!asked->layers || o.offload_layers == 0)) o.offload_layers.reset();
    if (asked_.offload_share.empty() && !asked->states) o.offload_share.clear();
  }

  /// Frameworks choose another kernel of attention where the GPU lacks the one that the file names.
  void kernel() {
    PredictOptions& o = filled_.options;
    if (!asked_.attention.empty() || o.attention.empty() || o.hardware.empty()) return;
    const auto system = session_.system(o.hardware, 1);
    if (!*system || !lacks_attention((**system).device, o.attention)) return;
    tell(fmt::format("{}: {} lacks its kernel of attention, {}; the stack's own holds", file_.file, (**system).device.id,
                     o.attention));
    o.attention.clear();
  }

  void stack() {
    if (!filled_.options.stack.empty()) return;
    filled_.options.stack = file_.stack;
    tell(fmt::format("{} holds settings of {}: stack {}", file_.file, file_.title, file_.stack));
  }

  void parallel() {
    std::vector<std::string> assignments;
    for (const StatedSetting& stated : file_.parallel) {
      const std::string key = stated.assignment.substr(0, stated.assignment.find('=') + 1);
      const auto same = [&](const std::string& other) {
        return ("stack." + other).starts_with(key) || other.starts_with(key) || ("stack.parallel." + other).starts_with(key);
      };
      const auto given = std::find_if(asked_.set.begin(), asked_.set.end(), same);
      if (given == asked_.set.end())
        assignments.push_back(stated.assignment);
      else if (*given != stated.assignment && !stated.implied)
        tell(fmt::format("--set {} in place of {} of {} ({})", *given, stated.assignment, file_.file, stated.key));
    }
    auto& set = filled_.options.set;
    set.insert(set.begin(), assignments.begin(), assignments.end());
  }

  /// Parts of a pipeline's stages from the layers of each.
  void parts(Errors& errors) {
    PredictOptions& o = filled_.options;
    if (!file_.layers_per_part || asked_.virtual_stages) return;
    const int parts = *file_.layers_per_part * o.pipeline_parallel.value_or(1);
    if (!file_.layers)
      errors.push_back(
          {fmt::format("{} states the layers of a part of a pipeline's stage ({}), not those of the network: add "
                       "--virtual-stages",
                       file_.file, *file_.layers_per_part)});
    else if (*file_.layers % parts != 0)
      errors.push_back({fmt::format("{}: {} layers are no whole number of {} stages with parts of {}", file_.file, *file_.layers,
                                    o.pipeline_parallel.value_or(1), *file_.layers_per_part)});
    else if (*file_.layers / parts > 1)
      o.virtual_stages = *file_.layers / parts;
  }

  /// Layers of stages where the table of words or the head counts as one.
  void ends(Errors& errors) {
    PredictOptions& o = filled_.options;
    const int ranks = o.pipeline_parallel.value_or(1), parts = o.virtual_stages.value_or(1);
    if (!asked_.stage_layers.empty()) {
      if (!asked_.first_stage_layers) o.first_stage_layers.reset();
      if (!asked_.last_stage_layers) o.last_stage_layers.reset();
    }
    const bool given = o.first_stage_layers || o.last_stage_layers || !o.stage_layers.empty();
    if ((!file_.first_counts && !file_.last_counts) || given || ranks <= 1 || parts < 1) return;
    if (!file_.layers) {
      errors.push_back(
          {fmt::format("{} counts the ends of the network as layers, and does not state how many it has: add "
                       "--first-stage-layers or --last-stage-layers",
                       file_.file)});
      return;
    }
    const int counted = *file_.layers + (file_.first_counts ? 1 : 0) + (file_.last_counts ? 1 : 0);
    const std::int64_t stages = std::int64_t{ranks} * parts;
    if (counted % stages != 0) {
      errors.push_back(
          {fmt::format("{}: {} layers, with the ends of the network that count as layers, are no whole number for "
                       "each of {} stages",
                       file_.file, counted, stages)});
      return;
    }
    std::vector<std::int64_t> layers(static_cast<std::size_t>(stages), counted / stages);
    if (file_.first_counts) --layers.front();
    if (file_.last_counts) --layers.back();
    o.stage_layers = fmt::format("{}", fmt::join(layers, ","));
  }

  /// What the framework passes over where nothing is divided that way.
  void drop_idle() {
    PredictOptions& o = filled_.options;
    if (o.tensor_parallel.value_or(1) == 1 && asked_.sequence_parallel.empty()) o.sequence_parallel.clear();
    if (o.expert_parallel.value_or(1) == 1 && !asked_.expert_tensor_parallel) o.expert_tensor_parallel.reset();
    // One part of a GPU has nothing to interleave with.
    if (asked_.virtual_stages == 1 && asked_.schedule.empty() &&
        pipeline::parse_schedule(o.schedule) == pipeline::ScheduleKind::interleaved)
      o.schedule.clear();
    if (o.pipeline_parallel.value_or(1) > 1) return;
    if (asked_.schedule.empty()) o.schedule.clear();
    if (!asked_.virtual_stages) o.virtual_stages.reset();
    if (!asked_.first_stage_layers) o.first_stage_layers.reset();
    if (!asked_.last_stage_layers) o.last_stage_layers.reset();
  }

  [[nodiscard]] std::int64_t ranks_of_copy() const {
    const PredictOptions& o = filled_.options;
    return std::int64_t{o.tensor_parallel.value_or(1)} * o.context_parallel.value_or(1) * o.pipeline_parallel.value_or(1);
  }

  /// GPUs that the job has, where the options and the hardware tell.
  [[nodiscard]] std::optional<std::int64_t> job_gpus() {
    const PredictOptions& o = filled_.options;
    if (o.hardware.empty()) return std::nullopt;
    const auto system = session_.system(o.hardware, std::max(1, o.gpus.value_or(1) / std::max(1, o.nodes.value_or(1))));
    if (!*system) return std::nullopt;
    const auto devices = choose_devices(o, **system);
    if (!devices) return std::nullopt;
    return static_cast<std::int64_t>(devices->first.size()) * devices->second;
  }

  void gpus(Errors& errors) {
    PredictOptions& o = filled_.options;
    const std::int64_t copy = std::max<std::int64_t>(1, ranks_of_copy());
    const bool given = asked_.gpus || asked_.nodes || !asked_.devices.empty();
    const std::int64_t asked_for = file_.copies ? *file_.copies * copy : 0;
    if (!given && file_.gpus && *file_.gpus % copy != 0)
      tell(fmt::format("{}: starts on {} GPUs, which hold no copy of the network ({}); --gpus says how many there are",
                       file_.file, *file_.gpus, copy));
    else if (!given && file_.gpus)
      o.gpus = *file_.gpus;
    if (!given && !o.gpus && asked_for > 0 && asked_for <= 1'000'000) o.gpus = static_cast<int>(asked_for);
    const auto job = job_gpus();
    if (job && asked_for > 0 && *job != asked_for)
      errors.push_back(
          {fmt::format("{} asks for {} copies of the network on {} GPUs each: expected {} GPUs, got {}; change --gpus",
                       file_.file, *file_.copies, copy, asked_for, *job)});
    if (job && given && file_.gpus && *file_.gpus != *job && *file_.gpus % copy == 0)
      tell(fmt::format("{} GPUs in place of {} of {}", *job, *file_.gpus, file_.file));
  }

  /// The setting behind an option of the file, as it writes it.
  [[nodiscard]] std::string stated_as(const std::string& option) const {
    const auto stated = std::find_if(file_.options.begin(), file_.options.end(),
                                     [&](const StatedOption& each) { return each.option->name == option; });
    return stated == file_.options.end() ? option : fmt::format("{} {}", stated->key, stated->value);
  }

  /// All of one file: the framework starts only where they agree.
  void all_three(Errors& errors) {
    PredictOptions& o = filled_.options;
    const auto job = job_gpus();
    if (job) {
      const std::int64_t copies = std::max<std::int64_t>(1, *job / std::max<std::int64_t>(1, ranks_of_copy()));
      const std::int64_t product = std::int64_t{*o.batch} * *o.accumulate * copies;
      if (product != *o.global_batch)
        errors.push_back(
            {fmt::format("{}: {} is not {} x {} x {} copies of the network, which are {}; change --gpus, or give "
                         "--batch, --accumulate or --global-batch",
                         file_.file, stated_as("global-batch"), stated_as("batch"), stated_as("accumulate"), copies, product)});
    }
    o.accumulate.reset();
  }

  /// Of the samples of a micro-batch, its number and those of an update, two make the third.
  void micro_batches(Errors& errors) {
    PredictOptions& o = filled_.options;
    if (!o.global_batch || !o.accumulate) return;
    if (asked_.accumulate && asked_.global_batch) return;  // told where they are read
    if (o.batch) {
      if (!asked_.batch && !asked_.accumulate && !asked_.global_batch) return all_three(errors);
      // The user's own one of them holds.
      (asked_.accumulate ? o.global_batch : o.accumulate).reset();
      return;
    }
    const auto job = job_gpus();
    if (!job) return;
    const std::int64_t copies = std::max<std::int64_t>(1, *job / std::max<std::int64_t>(1, ranks_of_copy()));
    const std::int64_t parts = copies * *o.accumulate;
    if (*o.global_batch % parts != 0) {
      errors.push_back(
          {fmt::format("{}: {} samples an update are no whole number of {} micro-batches on {} copies of the "
                       "network; change --gpus, or add --batch",
                       file_.file, *o.global_batch, *o.accumulate, copies)});
      return;
    }
    o.batch = static_cast<int>(*o.global_batch / parts);
    o.accumulate.reset();
  }
};

}  // namespace

Result<FilledOptions> fill_from(Session& session, const LayoutFile& file, const PredictOptions& options) {
  return Filler(session, file, options).fill();
}

Result<FilledOptions> fill_from_layout_file(Session& session, const PredictOptions& options) {
  const auto file = session.layout_file(options.layout_from);
  if (!*file) return tl::make_unexpected(file->error());
  return fill_from(session, **file, options);
}

}  // namespace tbdsim
