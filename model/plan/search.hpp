#pragma once
#include <atomic>
#include <span>
#include <vector>

#include "model/plan/fast_memory.hpp"
#include "model/plan/fast_step.hpp"
#include "model/plan/found.hpp"
#include "model/support/progress.hpp"

namespace tbdsim::plan {

/// Which values each axis takes, and which of them go together.
class Search {
 public:
  /// `base`: the job, all axes 1; `job`: axes that are kept, and samples of an update; `every_schedule`: also those that the
  /// framework lacks. Expects arguments that outlive it.
  Search(const Configuration& base, const PredictOptions& job, const DrawnKernels& kernels, bool every_schedule);

  /// Tries all layouts of a shard and keeps the `most` fastest that may fit. What cannot be among these by the least that its
  /// layers take is counted alone.
  [[nodiscard]] Found run(std::size_t shard, std::size_t shards, std::size_t most, const std::atomic<bool>* stop,
                          Progress* progress) const;
  /// Computes the recurrence of layouts that it has found.
  void refine(std::span<Candidate* const> candidates, const std::atomic<bool>* stop, Progress* progress) const;
  /// A layout as options of `predict`.
  [[nodiscard]] PredictOptions options_of(const Candidate& candidate) const;

 private:
  /// Layouts that share a rank's part of each layer and the samples of a micro-batch.
  struct Unit {
    Layout layout;
    int batch = 1;
  };
  class Worker;
  /// How far a search is.
  struct Course;

  [[nodiscard]] Layout as_divided(Layout layout) const;
  [[nodiscard]] bool divides_network(int tensor, int context);
  void bound_families(Course& course) const;
  void try_families(const std::vector<std::size_t>& families, Course& course, std::vector<Candidate>* nearest) const;
  void add_nearest(const std::vector<Candidate>& more, std::size_t most, std::vector<Candidate>& all) const;
  [[nodiscard]] std::vector<bool> seed(Course& course) const;

  const Configuration& base_;
  const PredictOptions& job_;
  const DrawnKernels& kernels_;
  bool every_schedule_;
  Bytes capacity_;
  std::vector<Layout> families_;  ///< tensor, context and expert axes; with each number of samples of a micro-batch a unit
  std::vector<int> batches_, pipelines_, zeros_;
  Errors refused_;  ///< why the first tensor or context axis was left out
  std::vector<Recompute> recomputes_;
};

}  // namespace tbdsim::plan
