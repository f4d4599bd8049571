#include "model/prediction/length_buckets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "model/workload/zoo/length_distribution.hpp"

namespace tbdsim {
namespace {

constexpr std::array kStageTimes{
    &PhaseTimes::forward,          &PhaseTimes::backward,          &PhaseTimes::weight_update,
    &PhaseTimes::metric,           &PhaseTimes::exchange_total,    &PhaseTimes::exchange_exposed,
    &PhaseTimes::input_exposed,    &PhaseTimes::host_exposed,      &PhaseTimes::host_forward,
    &PhaseTimes::host_backward,    &PhaseTimes::host_update,       &PhaseTimes::bubble,
    &PhaseTimes::exchange_forward, &PhaseTimes::exchange_backward, &PhaseTimes::weight_update_total,
    &PhaseTimes::store_update,     &PhaseTimes::offload,           &PhaseTimes::exchange_in_backward};
/// Shares of the step's time.
constexpr std::array kOfStep{&Utilization::gpu_busy,   &Utilization::mfu,       &Utilization::cpu,
                             &Utilization::cpu_launch, &Utilization::cpu_input, &Utilization::cpu_environment,
                             &Utilization::cpu_server};
/// Shares of the time in which the GPU works.
constexpr std::array kOfBusy{&Utilization::fp32, &Utilization::tensor_core, &Utilization::fp32_useful,
                             &Utilization::tensor_core_useful};

struct Weighted {
  LengthBucket bucket;
  Prediction prediction;
};

void add_limits(const std::vector<Limit>& limits, double weight, std::vector<Limit>& sum) {
  for (const Limit& limit : limits) {
    const auto same = std::find_if(sum.begin(), sum.end(), [&](const Limit& l) { return l.resource == limit.resource; });
    Limit& into = same == sum.end() ? sum.emplace_back(Limit{limit.resource, 0.0, limit.text}) : *same;
    into.share += weight * limit.share;
  }
}

Prediction mean_of(const std::vector<Weighted>& all, const LengthDistribution& distribution) {
  // What has no mean (layers, kernels, names) is of the bucket that holds most.
  const auto most = std::max_element(all.begin(), all.end(),
                                     [](const Weighted& a, const Weighted& b) { return a.bucket.share < b.bucket.share; });
  Prediction p = most->prediction;
  p.samples.text = fmt::format("lengths {} to {}", all.front().bucket.length, all.back().bucket.length);
  p.phases = PhaseTimes{};
  p.utilization = Utilization{};
  p.limits.clear();
  p.step_time = {};
  p.work.flop_per_gpu = Flop(0.0);
  Seconds busy(0.0);
  for (const auto& [bucket, one] : all) {
    const double share = bucket.share;
    p.step_time.value += share * one.step_time.value;
    p.step_time.low += share * one.step_time.low;
    p.step_time.high += share * one.step_time.high;
    for (const auto stage : kStageTimes) p.phases.*stage += share * one.phases.*stage;
    busy += share * one.utilization.gpu_busy * one.step_time.value;
    p.work.flop_per_gpu += share * one.work.flop_per_gpu;
    if (one.memory.gpus.front().peak > p.memory.gpus.front().peak) p.memory = one.memory;
    p.buckets.push_back({bucket.length, share, one.step_time.value});
  }
  for (const auto& [bucket, one] : all) {
    const double of_step = bucket.share * (one.step_time.value / p.step_time.value);
    for (const auto part : kOfStep) p.utilization.*part += of_step * one.utilization.*part;
    const double of_busy = busy > Seconds(0.0) ? bucket.share * (one.utilization.gpu_busy * one.step_time.value / busy) : 0.0;
    for (const auto part : kOfBusy) p.utilization.*part += of_busy * one.utilization.*part;
    add_limits(one.limits, of_step, p.limits);
  }
  std::stable_sort(p.limits.begin(), p.limits.end(), [](const Limit& a, const Limit& b) { return a.share > b.share; });
  for (Limit& limit : p.limits) limit.text = fmt::format("{:.0f} % of the time, mean over the buckets", 100.0 * limit.share);
  if (!p.limits.empty()) p.limit = p.limits.front();
  const double samples = p.job.global_batch;
  const double faster = p.throughput.value;
  p.throughput = {samples / p.step_time.value.base(), samples / p.step_time.high.base(), samples / p.step_time.low.base()};
  p.samples.parts *= mean_length(distribution) / most->bucket.length;
  const double slower = faster / p.throughput.value;
  if (p.cost.million_samples) *p.cost.million_samples *= slower;
  if (p.cost.sample_energy) *p.cost.sample_energy *= slower;
  return p;
}

}  // namespace

Result<Prediction> predict_buckets(const PredictOptions& options,
                                   const std::function<Result<Prediction>(const PredictOptions&)>& predict) {
  PredictOptions one = options;
  one.buckets = false;
  if (options.seq_len)
    return fail(fmt::format("--seq-len {} with --buckets: one length, or those of the data set", *options.seq_len));
  auto first = predict(one);
  if (!first) return first;
  const LengthDistribution* const distribution = lengths_of(first->job.model);
  if (distribution == nullptr) {
    std::vector<std::string_view> known;
    for (const LengthDistribution& d : length_distributions()) known.push_back(d.model);
    return fail(fmt::format("--buckets: no lengths are known for {}; they are for {}", first->job.model, fmt::join(known, ", ")));
  }
  std::vector<Weighted> all;
  for (const LengthBucket& bucket : buckets(*distribution)) {
    one.seq_len = bucket.length;
    auto prediction = predict(one);
    if (!prediction) return prediction;
    all.push_back({bucket, std::move(*prediction)});
  }
  Prediction mean = mean_of(all, *distribution);
  const std::string source(distribution->source);
  const std::size_t colon = source.find(':');
  mean.provenance.push_back({"lengths of samples", source.substr(0, colon), source.substr(colon + 2)});
  return mean;
}

}  // namespace tbdsim
