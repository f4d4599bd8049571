#include "model/plan/variants.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/configuration/configure.hpp"
#include "model/configuration/read_option.hpp"
#include "model/configuration/what_if.hpp"
#include "model/support/drop_repeated.hpp"
#include "model/workload/stages.hpp"

namespace tbdsim::plan {
namespace {

/// Frameworks of divided networks, where none is named.
constexpr const char* kStack = "megatron-core-0.14";
constexpr const char* kAmdStack = "fsdp2-2.6-rocm-compile";
/// Closed forms are off by less, so the best is among those.
constexpr double kNear = 1.1;
constexpr std::size_t kMostRefined = 400;
/// Each combination is configured, kept and searched on its own, which takes a second or more of a large job.
constexpr std::size_t kMostVariants = 256;

/// "KEY=A,B" as the assignments KEY=A and KEY=B. Errors: no key, or fewer than two values.
Result<GridAxis> assignments(const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const auto axis = parse_axis("set", text.substr(std::min(text.size(), equals + 1)));
  if (equals == 0 || !axis || axis->values.size() < 2)
    return fail(fmt::format(
        "--try {}: expected a key and values between commas, such as stack.parallel.overlaps_gradients=true,false", text));
  GridAxis all{"set", {}};
  std::vector<std::string> values = axis->values;
  drop_repeated(values);
  for (const std::string& value : values) all.values.push_back(text.substr(0, equals + 1) + value);
  return all;
}

/// The job with the values of one point, and these in words. Errors: a value that its option does not take.
Result<std::pair<PredictOptions, std::string>> at_point(PredictOptions job,
                                                        const std::vector<std::pair<std::string, std::string>>& point) {
  std::string text;
  for (const auto& [option, value] : point) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", option == "sequence-parallel" ? "sequence parallel " : "", value);
    if (option == "set") {
      if (std::string wrong = contradiction(job.set, value); !wrong.empty())
        return fail(fmt::format("--try {}: {}", value, wrong));
      job.set.push_back(value);
      continue;
    }
    const OptionRow* const row = find_option(option, kInColumn);
    const std::string expected = row == nullptr ? "an option of a job" : read_option(*row, value, job, Range::checked);
    if (!expected.empty()) return fail(fmt::format("--{} {}: expected {}", option, value, expected));
  }
  return std::pair(std::move(job), std::move(text));
}

/// The arithmetic that large networks are trained in: 16 bits of the tensor cores that a GPU has.
Precision usual_precision(const Device& device) {
  if (device.peak.bf16_tensor) return Precision::bf16;
  return device.peak.fp16_tensor ? Precision::fp16 : Precision::fp32;
}

/// The framework that large networks are divided with. Networks without attention are trained by PyTorch alone, of which the
/// empty name is the newest.
std::string usual_stack(Session& session, const PredictOptions& job, const Device& device, std::vector<std::string>& notices) {
  if (const auto plain = configure(session, without_axes(job)); plain && !has_attention(plain->network_graph().graph)) {
    notices.push_back(
        fmt::format("planned with {}: {} has no attention, which the stacks of transformers are for; --stack names "
                    "another",
                    plain->stack.id, job.model));
    return plain->stack.id;
  }
  return device.vendor == Vendor::amd ? kAmdStack : kStack;
}

Result<Variant> configured(Session& session, PredictOptions job, std::string text, std::vector<std::string>& notices) {
  if (!job.hardware.empty() && (job.stack.empty() || job.precision.empty())) {
    const auto system = session.system(job.hardware, 1);
    if (!*system) return tl::make_unexpected(system->error());
    const Device& device = (*system)->device;
    if (job.precision.empty()) {
      const Precision usual = usual_precision(device);
      job.precision = name(usual);
      if (usual != Precision::bf16)
        notices.push_back(
            fmt::format("planned in {}: {} has no bf16 tensor cores, which plan takes where --precision is left out",
                        job.precision, device.id));
    }
    if (job.stack.empty()) job.stack = usual_stack(session, job, device, notices);
  }
  auto base = configure(session, without_axes(job));
  if (!base) return tl::make_unexpected(base.error());
  if (base->offload.layers > 0)
    return fail(
        "plan: layouts are searched with their activations on the GPUs; leave out --offload activations and --offload-layers");
  if (!*base->nccl) return tl::make_unexpected(in_stack(base->stack, base->nccl->error()));
  job.stack = base->stack.id;
  auto kernels = DrawnKernels::make(*base);
  if (!kernels) return tl::make_unexpected(kernels.error());
  return Variant{std::move(job), std::move(text), std::move(*base), std::move(*kernels)};
}

bool stops(const PlanOptions& options) { return options.stop != nullptr && options.stop->load(); }

}  // namespace

PredictOptions without_axes(PredictOptions job) {
  job.tensor_parallel = job.context_parallel = job.expert_parallel = job.expert_tensor_parallel = job.pipeline_parallel =
      job.virtual_stages = job.batch = job.accumulate = job.global_batch = std::nullopt;
  job.first_stage_layers = job.last_stage_layers = std::nullopt;
  job.sequence_parallel = job.schedule = job.stage_layers = "";
  return job;
}

Result<Variants> Variants::make(Session& session, const PredictOptions& job, const PlanOptions& options,
                                std::vector<std::string>& problems, std::vector<std::string>& notices) {
  StudyGrid grid{options.tried, {}};
  for (const std::string& text : options.values) {
    auto axis = assignments(text);
    if (!axis) return tl::make_unexpected(axis.error());
    grid.axes.push_back(std::move(*axis));
  }
  if (grid.points() > kMostVariants) {
    std::vector<std::string> counts;
    for (const GridAxis& axis : grid.axes)
      if (axis.values.size() > 1) counts.push_back(std::to_string(axis.values.size()));
    return fail(
        fmt::format("plan: {} values of options and of --try make more than the {} combinations that are searched; name "
                    "fewer of them, or plan in turns",
                    fmt::join(counts, " x "), kMostVariants));
  }
  Variants all;
  Errors errors;
  for (std::size_t point = 0; point < grid.points(); ++point) {
    if (stops(options) && !all.variants_.empty()) break;  // the search tells that it is interrupted
    auto own = at_point(job, grid.at(point));
    if (!own) return tl::make_unexpected(own.error());
    auto made = configured(session, own->first, own->second, notices);
    if (!made) {
      problems.push_back(fmt::format("{}: {}", own->second, made.error().front().message));
      for (const Error& error : made.error())
        if (std::none_of(errors.begin(), errors.end(), [&](const Error& e) { return e.message == error.message; }))
          errors.push_back(error);
      continue;
    }
    all.variants_.push_back(std::make_unique<const Variant>(std::move(*made)));
    const Variant& kept = *all.variants_.back();
    all.searches_.push_back(std::make_unique<const Search>(kept.base, kept.job, kept.kernels, options.every_schedule));
  }
  // One of several machines may lack what others have.
  const bool others = options.hardware.size() > 1 && !all.variants_.empty();
  if (!errors.empty() && !others) return tl::make_unexpected(errors);
  return all;
}

Found Variants::search(const PlanOptions& options, std::size_t most) const {
  Found all;
  const Bytes capacity = usable_capacity(first().base.hardware().device);
  for (std::size_t i = 0; i < searches_.size(); ++i) {
    if (stops(options)) {
      all.interrupted = true;
      break;
    }
    Found one = searches_[i]->run(options.shard, options.shards, most, options.stop, options.progress);
    for (Candidate& candidate : one.nearest) candidate.variant = i;
    if (one.smallest) one.smallest->variant = i;
    one.refused_at.first = i;
    all.add(std::move(one));
    keep_fastest(all.nearest, most, capacity);
  }
  return all;
}

void Variants::mark_dominated(Found& found) {
  for (Candidate& candidate : found.nearest) candidate.dominated = !found.front.has(candidate.time, candidate.memory);
  found.counts.slow = found.counts.tried - found.counts.out_of_memory - found.counts.timed;
  found.counts.dominated = found.counts.timed - found.front.size();
}

void Variants::refine(Found& found, const PlanOptions& options) const {
  if (found.nearest.empty()) return;
  const Seconds limit = kNear * found.nearest.front().time;
  std::vector<std::vector<Candidate*>> near(searches_.size());
  for (std::size_t i = 0; i < std::min(found.nearest.size(), kMostRefined) && found.nearest[i].time <= limit; ++i) {
    near[found.nearest[i].variant].push_back(&found.nearest[i]);
    ++found.counts.refined;
  }
  for (std::size_t i = 0; i < searches_.size(); ++i)
    if (!near[i].empty()) searches_[i]->refine(near[i], options.stop, options.progress);
  std::sort(found.nearest.begin(), found.nearest.end(), faster);
}

}  // namespace tbdsim::plan
