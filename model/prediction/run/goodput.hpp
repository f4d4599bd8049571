#pragma once
#include "model/hardware/operations.hpp"
#include "model/units/quantity.hpp"

namespace tbdsim {

/// What interruptions leave of a run's time.
///
///   goodput = 1 - (delta/tau + tau/(2 M) + R/M),   best tau = sqrt(2 delta M)
///
/// M: mean time between interruptions of the whole job; delta: time for which training waits at a checkpoint; tau: time between
/// two; R: restart and reading of the last one. On average half an interval is computed again. First order in tau/M: second and
/// further failures within an interval or a restart are neglected, which matters below a goodput of about a half.
/// Sources: Young, Commun. ACM 17(9), 1974; Daly, Future Gener. Comput. Syst. 22(3), 2006.
struct Goodput {
  Seconds between_interruptions;     ///< M
  Bytes checkpoint;                  ///< size
  Seconds write, read;               ///< of one checkpoint
  Seconds wait;                      ///< delta
  Seconds interval;                  ///< tau
  bool best_interval = true;         ///< else one that was asked for
  Seconds restart;                   ///< R
  double lost_to_checkpoints = 0.0;  ///< delta/tau
  double lost_to_rework = 0.0;       ///< tau/(2 M)
  double lost_to_restarts = 0.0;     ///< R/M
  double share = 1.0;                ///< goodput; at least 0, where the job never gets on
};

/// Mean time between interruptions of a job that any GPU or node interrupts. Expects at least one of each.
[[nodiscard]] Seconds time_between_interruptions(const Operations::Failures& failures, int gpus, int nodes);

/// Best time between checkpoints, sqrt(2 delta M).
[[nodiscard]] Seconds best_interval(Seconds wait, Seconds between_interruptions);

/// Goodput of a job on `nodes` nodes that write `checkpoint` bytes together.
[[nodiscard]] Goodput goodput(const Operations& operations, Bytes checkpoint, int gpus, int nodes);

/// Nodes that are under repair on average, rounded up: so many spares keep the job at its size.
[[nodiscard]] int spare_nodes(const Operations& operations, int gpus, int nodes);

}  // namespace tbdsim
