#pragma once
#include <memory>
#include <string>
#include <vector>

#include "model/configuration/factor.hpp"
#include "model/configuration/option_changes.hpp"
#include "model/hardware/cluster.hpp"
#include "model/input/edits.hpp"

namespace tbdsim {

/// What a list of assignments KEY=VALUE means.
struct ResolvedValues {
  std::vector<Edit> changes;
  std::vector<OptionChange> options;  ///< of the job
  std::vector<std::string> notices;   ///< what became of which value; empty where a change of an option tells it
  Errors errors;                      ///< of assignments that mean nothing
};

/// Finds the value that each assignment means among the documents that a configuration reads.
///
/// A key is a prefix `hw. model. stack. network. operations. parallel.` and a path; the end of a path alone will do where only
/// one value ends so, with or without the prefix. `parallel.` names an option of the job: gpus, batch, exchange, ... A value is
/// written as in the file, strings without quotes; `2x` multiplies what stands there, `0.9x KEY` what stands at another key of
/// the same table. A key that no file states is added to the table that its path names, for the reader of that table to accept;
/// `KEY?=VALUE` passes over it. What stands beside a changed value and depends on it follows unless it is set as well: achieved
/// figures beside nominal ones (`bandwidth`: `achieved`, `sm_copy`, `staged`; `memory_capacity`: `memory_reported`) and peak
/// rates beside `boost_clock` in proportion; latency, achieved rate and transport of a network whose `rdma` becomes true as RDMA
/// has them.
///
/// Errors, with the place in the assignment: no `=`, a key that nothing has (with the nearest) or that several have, a
/// table, `2x` of what is no number, the machine's own network where another joins the nodes.
[[nodiscard]] ResolvedValues resolve_values(const std::vector<std::string>& assignments,
                                            const std::vector<DocumentRecord>& documents, const PredictOptions& options);

/// The catalogue with the values that `options.set` changes of its hardware and its network, for questions about these alone.
/// Other prefixes are errors. Notices are appended.
[[nodiscard]] Result<Catalogue> edited_hardware(const Catalogue& catalogue, const PredictOptions& options,
                                                std::vector<std::string>& notices);

}  // namespace tbdsim
