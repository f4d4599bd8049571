#pragma once
#include <memory>
#include <string>
#include <vector>

#include "model/plan/plan_options.hpp"
#include "model/plan/search.hpp"

namespace tbdsim::plan {

/// One job with one value of each option that is no axis of a layout but is searched as well, such as `--precision bf16,fp8`.
struct Variant {
  PredictOptions job;
  std::string text{};  ///< "fp8, stack.parallel.overlaps_gradients=false"; empty: there is only one
  Configuration base;  ///< all axes 1
  DrawnKernels kernels;
};

/// The job with no axis asked for.
[[nodiscard]] PredictOptions without_axes(PredictOptions job);

/// The variants of a job with a search for each.
class Variants {
 public:
  /// Errors: as `configure`; more than 256 combinations of values. Of several machines one that lacks a part of the variants is
  /// searched without these, which `problems` names. `notices` says what was taken that nobody asked for.
  [[nodiscard]] static Result<Variants> make(Session& session, const PredictOptions& job, const PlanOptions& options,
                                             std::vector<std::string>& problems, std::vector<std::string>& notices);

  /// Layouts of all variants, the `most` fastest that may fit.
  [[nodiscard]] Found search(const PlanOptions& options, std::size_t most) const;
  /// Marks and counts the layouts that others beat in time and memory, when all are found.
  static void mark_dominated(Found& found);
  /// Computes the recurrence of those within a tenth of the first; sorts again.
  void refine(Found& found, const PlanOptions& options) const;

  /// A layout as options of `predict`.
  [[nodiscard]] PredictOptions options_of(const Candidate& candidate) const {
    return searches_[candidate.variant]->options_of(candidate);
  }
  [[nodiscard]] const Variant& of(const Candidate& candidate) const { return *variants_[candidate.variant]; }
  [[nodiscard]] std::size_t size() const { return variants_.size(); }
  [[nodiscard]] const Variant& first() const { return *variants_.front(); }

 private:
  std::vector<std::unique_ptr<const Variant>> variants_;
  std::vector<std::unique_ptr<const Search>> searches_;
};

}  // namespace tbdsim::plan
