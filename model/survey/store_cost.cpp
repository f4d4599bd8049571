#include "model/survey/store_cost.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/configuration/configure.hpp"

namespace tbdsim {
namespace {

/// A cost as the stack states it, and the value with which it is none.
struct Known {
  StoreCost::Part part;
  std::string without;
};

std::vector<Known> known_costs(const StoreSettings& store, const Configuration& configuration) {
  std::vector<Known> known;
  if (store.nccl_slowdown != 1.0)
    known.push_back(
        {{"slowdown", fmt::format("everything {} times as long", store.nccl_slowdown), {}}, "stack.nccl_store.slowdown=1"});
  if (store.nccl_decode_share != 1.0 && configuration.pipeline)
    known.push_back({{"decode_share", fmt::format("{} of the decode threads", store.nccl_decode_share), {}},
                     "stack.nccl_store.decode_share=1"});
  if (store.nccl_key_gpu > Seconds(0.0))
    known.push_back({{"host_per_key", "host time of every array on every GPU", {}}, "stack.store.nccl_key_gpu=0 us"});
  return known;
}

}  // namespace

Result<std::optional<StoreCost>> store_cost(Session& session, const PredictOptions& options, const Prediction& step) {
  if (step.job.exchange != Exchange::nccl) return std::optional<StoreCost>();
  const auto configuration = configure(session, options);
  if (!configuration) return tl::make_unexpected(configuration.error());
  PredictOptions none = options;
  none.detail = false;
  StoreCost cost;
  for (Known& known : known_costs(configuration->stack.store, *configuration)) {
    PredictOptions without = options;
    without.detail = false;
    without.set.push_back(known.without);
    none.set.push_back(known.without);
    const auto prediction = predict(session, without);
    if (!prediction) return tl::make_unexpected(prediction.error());
    known.part.time = step.step_time.value - prediction->step_time.value;
    if (known.part.time > Seconds(0.0)) cost.parts.push_back(std::move(known.part));
  }
  if (cost.parts.empty()) return std::optional<StoreCost>();
  const auto bare = predict(session, none);
  if (!bare) return tl::make_unexpected(bare.error());
  cost.together = step.step_time.value - bare->step_time.value;
  std::stable_sort(cost.parts.begin(), cost.parts.end(),
                   [](const StoreCost::Part& a, const StoreCost::Part& b) { return a.time > b.time; });
  return std::optional(std::move(cost));
}

}  // namespace tbdsim
