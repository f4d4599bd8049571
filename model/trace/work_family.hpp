#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "model/trace/trace.hpp"

namespace tbdsim::trace {

/// What kernels do, as measured and predicted ones can both be told apart.
enum class WorkFamily {
  convolution,
  product,
  recurrent,
  attention,
  normalisation,
  softmax,
  embedding,
  pooling,
  update,
  element_wise,
  exchange,
  copy
};

/// One row of the table of families.
struct WorkFamilyInfo {
  WorkFamily kind;
  std::string_view name;  ///< in reports and JSON
};
[[nodiscard]] std::span<const WorkFamilyInfo> work_families();
[[nodiscard]] const WorkFamilyInfo& info(WorkFamily family);
[[nodiscard]] inline std::string_view name(WorkFamily family) { return info(family).name; }

/// By words that frameworks, libraries and this program use in the names of operators and kernels; element-wise where none is
/// found. `told`: whether one was.
[[nodiscard]] WorkFamily family_of_name(std::string_view name, bool* told = nullptr);

/// The families of a trace's events: copies and exchanges by what they are, kernels by the operator that issued them, else by
/// their own name. Looks at each name once. Must not outlive the trace.
class Families {
 public:
  explicit Families(const Trace& trace);
  [[nodiscard]] WorkFamily of(const Event& event) const;

 private:
  struct Told {
    WorkFamily family = WorkFamily::element_wise;
    bool told = false;
  };
  std::vector<Told> names_;
};

}  // namespace tbdsim::trace
