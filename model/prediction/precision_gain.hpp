#pragma once
#include <string>
#include <vector>

#include "model/configuration/session.hpp"
#include "model/prediction/prediction.hpp"

namespace tbdsim {

/// What mixed precision does for one layer: its kernels of a step, forward, backward and update, before and after.
struct LayerGain {
  std::string name, kind;
  Seconds before, after;
  bool tensor_core = false;  ///< its products run there in 16 bits
  std::string obstacle;      ///< why they do not; empty where they do
};

/// The same job in mixed precision, layer by layer.
struct PrecisionGain {
  std::string from, to;  ///< precisions
  Ranged<Seconds> before, after;
  std::vector<LayerGain> layers;  ///< that run kernels, in the order of the network
};

/// Predicts the job in its own precision, fp32 or tf32, and in mixed precision. A layer is eligible where its products run on
/// 16-bit tensor cores: its kind has products, the device and the stack's libraries have kernels for them, and none on vector
/// lanes is faster.
/// Errors: as `predict`; a job that is in 16 bits already.
[[nodiscard]] Result<PrecisionGain> precision_gain(Session& session, const PredictOptions& options);

}  // namespace tbdsim
