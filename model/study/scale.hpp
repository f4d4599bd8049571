#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/prediction/predict.hpp"
#include "model/support/progress.hpp"

namespace tbdsim {

/// How the work grows with the machine.
enum class Scaling {
  strong,              ///< the data set and the batch per GPU stay: larger steps, fewer of them
  fixed_global_batch,  ///< the data set and the batch of all GPUs stay: smaller steps (of a pipeline the same), as many
  weak                 ///< the data set grows with the GPUs, the batch per GPU stays: larger steps, as many of them
};
[[nodiscard]] std::string_view name(Scaling scaling);

struct ScaleOptions {
  PredictOptions job;            ///< without counts; with `fixed_global_batch`, `job.batch` is that of all GPUs
  std::vector<int> gpus, nodes;  ///< every pair of one of each; both empty: doublings up to the GPUs of the machine
  std::int64_t samples = 0;      ///< of one epoch; on one GPU with `weak`
  Scaling scaling = Scaling::strong;
  Progress* progress = nullptr;  ///< told of every study of a table, or of every size of the only one
};

/// How many times as fast as one GPU a stage gets through an epoch; absent where one GPU or this size has no such stage.
struct PhaseSpeedups {
  std::optional<double> forward, backward, weight_update, metric;
  std::optional<double> exchange, input, host;  ///< what is waited for
};

/// One size of the machine.
struct ScaleRow {
  int gpus = 1, nodes = 1, batch_per_gpu = 1;
  int copies = 1, micro_batches = 1;  ///< of the network; of `batch_per_gpu` samples on each copy in a step
  Ranged<Seconds> step_time;
  Ranged<Seconds> epoch_time;  ///< start-up of the run included
  Seconds start_up;
  Ranged<double> speedup;  ///< samples per second of a whole epoch against one GPU
  double efficiency = 1;   ///< speed-up over how many times as many GPUs
  PhaseTimes phases;       ///< of a step
  Limit limit;
  std::int64_t batches = 0;  ///< steps of an epoch
  PhaseTimes epoch_phases;   ///< of all its steps
  PhaseSpeedups phase_speedups;
  Seconds strong_epoch, weak_epoch;  ///< over the data set of one GPU, and over as many of them as there are GPUs
  double weak_saving = 0;            ///< of the time of that many strong epochs
  std::optional<double> overhead;    ///< time of the epoch against that under the study's first exchange, less 1
  Bytes first_gpu_peak, least_peak;  ///< memory of GPU 0, and of the GPU that holds least
  Bytes gradients, epoch_gradients;  ///< that each GPU hands over in a step, and in an epoch
};

/// One network, batch and exchange over the sizes.
struct ScaleStudy {
  Prediction one;             ///< on one GPU, or of a divided network on the GPUs of one copy: all else is held against it
  Ranged<Seconds> one_epoch;  ///< on it
  std::int64_t samples = 0;
  Scaling scaling = Scaling::strong;
  std::vector<ScaleRow> rows;  ///< in the order asked for
  std::vector<std::string> notices;
};

/// Predicts every size and one GPU, with the same options. A network that is divided over GPUs has the least number of them that
/// hold it in place of one GPU; its other axes stay, the number of its copies grows. Its micro-batches stay with `strong` and
/// `weak`; with `fixed_global_batch`, or a global batch in the job, each copy has fewer of them.
/// Sizes that cannot be predicted are left out and told among the notices. Errors: as `predict`, with the size at which they
/// arise, where no size can be predicted, or not the one that all is held against; no samples; a global batch that does not
/// divide, or one that is to stay while the data set grows.
[[nodiscard]] Result<ScaleStudy> scale(Session& session, const ScaleOptions& options);

/// What a table of studies varies; an empty list leaves the option as it is.
struct ScaleLists {
  std::vector<std::string> models, exchanges;
  std::vector<int> batches;
  std::vector<int> images;  ///< one for all networks, or one for each
};

/// A table of studies: every network, batch and exchange, the exchange running fastest.
struct ScaleTable {
  struct Problem {
    std::string study, message;
  };
  std::vector<ScaleStudy> studies;
  bool several_models = false, several_batches = false, several_exchanges = false;
  std::vector<Problem> problems;  ///< studies that are left out, and why
  std::vector<std::string> notices;
};

/// Errors: those of the first study where none can be made; lists of images and networks that do not match.
[[nodiscard]] Result<ScaleTable> scale_table(Session& session, const ScaleOptions& options, const ScaleLists& lists);

}  // namespace tbdsim
