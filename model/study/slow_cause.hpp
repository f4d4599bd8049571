#pragma once
#include <functional>
#include <string>
#include <vector>

#include "model/configuration/configuration.hpp"
#include "model/configuration/session.hpp"

namespace tbdsim {

/// What a cause makes of a job.
struct SlowChange {
  std::vector<std::string> set;  ///< as `--set` takes it
  std::string stack{};           ///< as `--stack` takes it; empty: it stays
};

/// Something that makes a job slower than it should be: a change of its configuration for the worse.
struct SlowCause {
  std::string name, text;
  std::string test;  ///< what confirms or excludes it, in one line
  /// Amounts, from the mildest that would be noticed to the worst that is met; one: it is there or it is not.
  std::vector<double> amounts;
  std::function<SlowChange(double)> change;
  std::function<std::string(double)> amount_text;  ///< "2 workers a GPU"; empty: `text` says all
  bool between = true;                             ///< amounts between those stated are met as well
  double frequency = 1.0;                          ///< against the other causes
};

/// What may slow this job: the causes that are possible with its precision, exchange, input, machine and layout.
///
/// Amounts are assumed, as what administrators and schedulers set: boards capped down to 40 % of their power, clocks held down to
/// half, processors down to a quarter of their clock (power saving, shared cores), one loader at least, networks down to a two
/// hundredth of their rate (the interface for management, one port of many), batches down to an eighth. A PCIe link has half its
/// rate with 8 lanes or one generation less, a quarter with both, an eighth with 4 lanes of one generation less. Storage and
/// older releases of the framework are those of the catalogue. Frequencies are assumed too: loaders are the commonest cause, and
/// the network that joins nodes; what a job's own command line or script says in so many words (batch, recompute, DataParallel,
/// compiler, framework) is seldom otherwise than was thought. Expects the job that `configuration` is made from.
[[nodiscard]] std::vector<SlowCause> slow_causes(const Session& session, const PredictOptions& job,
                                                 const Configuration& configuration);

}  // namespace tbdsim
