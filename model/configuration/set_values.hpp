#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/configuration/predict_options.hpp"
#include "model/hardware/cluster.hpp"
#include "model/input/edits.hpp"

namespace tbdsim {

class Session;

/// `2x` as 2, of an assignment that multiplies what stands there; nothing for other values.
[[nodiscard]] std::optional<double> factor_of(const std::string& value);

/// What a list of assignments KEY=VALUE means.
struct ResolvedValues {
  std::vector<Edit> changes;
  std::vector<std::pair<std::string, std::string>> parallel;  ///< option ("batch") and its value
  std::vector<std::string> notices;                           ///< what became of which value
};

/// Finds the value that each assignment means among the documents that a configuration reads.
///
/// A key is a prefix `hw. model. stack. network. parallel.` and a path; the end of a path alone will do where only one
/// value ends so, with or without the prefix. `parallel.` names an option of the job: gpus, batch, exchange, ... A value
/// is written as in the file, strings without quotes; `2x` multiplies what stands there, `0.9x KEY` what stands at another key of
/// the same table. A key that no file states is added to the table that its path names, for the reader of that table to accept;
/// `KEY?=VALUE` passes over it. What stands beside a changed value and depends on it follows unless it is set as well: achieved
/// figures beside nominal ones (`bandwidth`: `achieved`, `sm_copy`, `staged`; `memory_capacity`: `memory_reported`) and peak
/// rates beside `boost_clock` in proportion; latency, achieved rate and transport of a network whose `rdma` becomes true as RDMA
/// has them.
///
/// Errors, with the place in the assignment: no `=`, a key that nothing has (with the nearest) or that several have, a
/// table, `2x` of what is no number.
[[nodiscard]] Result<ResolvedValues> resolve_values(const std::vector<std::string>& assignments,
                                                    const std::vector<DocumentRecord>& documents, const PredictOptions& options);

/// Inputs of a configuration with `--set` applied: a session whose documents are changed, and options of the job.
struct EditedInputs {
  std::shared_ptr<Session> session;
  std::vector<std::pair<std::string, std::string>> parallel;
  std::vector<std::string> notices;
};

/// Reads what `options` reads without its changes, then resolves them. Errors: as `configure` and as above.
[[nodiscard]] Result<EditedInputs> resolve_values(const Catalogue& catalogue, const PredictOptions& options);

/// Sets the options of the job that `edited` changes. Errors: a value that the option does not take.
[[nodiscard]] Result<void> apply_parallel(const EditedInputs& edited, PredictOptions& options);

/// The catalogue with the hardware values of `assignments` changed, for questions about one node. Other prefixes than
/// `hw.` are errors. Notices are appended.
[[nodiscard]] Result<Catalogue> edited_hardware(const Catalogue& catalogue, const std::string& hardware, int gpus,
                                                const std::vector<std::string>& assignments, std::vector<std::string>& notices);

}  // namespace tbdsim
