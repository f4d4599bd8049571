#include "model/study/batch_knee.hpp"

#include <algorithm>

namespace tbdsim {

std::optional<BatchKnee> batch_knee(const Comparison& comparison) {
  std::vector<const Prediction*> fitting;
  for (const Candidate& c : comparison.candidates) {
    if (c.varied.size() != 1 || c.varied.front().first != "batch") return std::nullopt;
    if (c.problem.empty() && c.prediction.memory.fits) fitting.push_back(&c.prediction);
  }
  if (fitting.size() < 2) return std::nullopt;
  std::stable_sort(fitting.begin(), fitting.end(),
                   [](const Prediction* a, const Prediction* b) { return a->job.batch_per_gpu < b->job.batch_per_gpu; });
  const Prediction& best = **std::max_element(fitting.begin(), fitting.end(), [](const Prediction* a, const Prediction* b) {
    return a->throughput.value < b->throughput.value;
  });
  const Prediction& first = **std::find_if(fitting.begin(), fitting.end(), [&](const Prediction* p) {
    return p->throughput.value >= kKneeShare * best.throughput.value;
  });
  BatchKnee knee{first.job.batch_per_gpu, first.throughput.value / best.throughput.value, best.job.batch_per_gpu,
                 fitting.back()->job.batch_per_gpu, Bytes(0.0)};
  const auto peak = [](const Prediction& p) { return p.memory.gpus.front().peak; };
  if (knee.largest == fitting.front()->job.batch_per_gpu) return std::nullopt;
  knee.memory_per_sample =
      (peak(*fitting.back()) - peak(*fitting.front())) / static_cast<double>(knee.largest - fitting.front()->job.batch_per_gpu);
  return knee;
}

}  // namespace tbdsim
